import { type Assessment, namedRisks } from '../../core/assessment.js';
import { displayPath } from '../../core/entry-path.js';
import type { InstanceName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { roleContainer } from '../../core/jackin/manifest.js';
import type { DiscardRequest } from '../../core/requests.js';
import type { InstanceSummary, SnapshotPointer } from '../../core/results.js';
import type { WorktreeRemoval } from '../../core/run-results.js';
import type { DiscardResult, KeepResult, ResumeResult } from '../../core/session-results.js';
import { SnapError, afterDone } from '../../errors.js';
import type { Context } from '../context.js';
import { save } from '../save.js';
import { refuseUnended } from '../session/activity.js';
import { changeRecord } from '../session/instances.js';
import { saveClosing, sayWhatGoes } from '../worktree/closing-snapshot.js';
import { removeWorktree, takeBackCutRemoval } from '../worktree/remove-worktree.js';
import { knowIfReadable, pointerTo } from '../snapshots.js';
import { assessRecord, recordFor } from './assess.js';
import { mountsSinceSaved } from './since-saved.js';

/**
 * Notes that the work of a session is to stay, clean or not, and says what of it no snapshot holds: none is made.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, INSTANCE_CLOSED
 */
export async function keep(
  context: Context,
  { instance, note }: { readonly instance?: string | undefined; readonly note?: string | undefined },
): Promise<KeepResult> {
  const record = await recordFor(context, instance);
  // First: where the look fails, nothing is noted.
  const mounts = await mountsSinceSaved(context, record);
  return { instance: await noteKeep(context, record.name, note ?? null), mounts };
}

/** The note alone. @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_CLOSED */
export async function noteKeep(context: Context, name: InstanceName, note: string | null): Promise<InstanceSummary> {
  const latest = context.store.exists() ? (await context.store.snapshots(name)).at(-1) : undefined;
  return changeRecord({ ...context, instance: name }, (record) => {
    refuseClosed(record);
    const decided_at = context.now().toISOString();
    return { ...record, exit: { decision: 'keep', decided_at, note, snapshot: latest?.seq ?? null } };
  });
}

/**
 * Gives the work of a session up: a snapshot of it, then the worktree that `run` made for it goes, and the instance is
 * closed. Nothing else is removed. All that is dirty or unpushed must be acknowledged by its name first.
 * @throws SnapError DECLINED, INSTANCE_ACTIVE, INSTANCE_CLOSED, RESTORE_PENDING, WORKTREE_HOLDS_MORE and the like, and all that `save`
 * throws: then the instance is as it was, unless it says that the worktree is removed
 */
export async function discard(context: Context, request: DiscardRequest): Promise<DiscardResult> {
  const record = await recordFor(context, request.instance);
  const inInstance: Context = { ...context, instance: record.name };
  refuseClosed(record);
  await refuseUnended(inInstance, record);
  if (context.registry.findWorktree(record.name)?.stage === 'ready') await takeBackCutRemoval(context, record.name);
  const assessment = await assessRecord(context, record);
  await acknowledged(inInstance, assessment, request);
  const saved = await saveBefore(inInstance, record, assessment);
  const worktree = await removeItsWorktree(inInstance, record);
  const instance = await closeIt(inInstance, saved).catch((error: unknown) => {
    throw worktree === null ? error : afterDone(error, `The worktree ${worktree.name} is removed.`);
  });
  return { instance, assessment, worktree, ...saved, messages: [...saved.messages, ...(worktree?.messages ?? [])] };
}

function closeIt(context: Context, saved: SavedBefore): ReturnType<typeof changeRecord> {
  return changeRecord(context, async (now) => {
    refuseClosed(now);
    await refuseUnended(context, now);
    const decided_at = context.now().toISOString();
    return {
      ...now,
      state: 'closed',
      exit: { decision: 'discard', decided_at, note: null, snapshot: saved.snapshot?.seq ?? null },
    };
  });
}

async function acknowledged(
  context: Context,
  assessment: Assessment,
  { acknowledge = [], confirm }: DiscardRequest,
): Promise<void> {
  const risks = namedRisks(assessment).filter(({ name }) => !acknowledge.includes(displayPath(name)));
  const worktree = context.registry.findWorktree(assessment.instance);
  const whatGoes = async (): Promise<readonly string[]> =>
    worktree === undefined ? [] : sayWhatGoes(context, worktree);
  if (await confirm(assessment, risks, whatGoes)) return;
  throw new SnapError('DECLINED', 'Nothing was discarded.', { what: 'discard' });
}

interface SavedBefore {
  readonly snapshot: SnapshotPointer | null;
  readonly messages: readonly string[];
}

/** Of folders that are gone there is nothing to save: that they are was acknowledged. */
async function saveBefore(context: Context, record: InstanceRecord, { mounts }: Assessment): Promise<SavedBefore> {
  const gone = record.mounts.filter(({ path }) => context.host.identity(path) === undefined);
  if (gone.length > 0) {
    const names = gone.map(({ path }) => displayPath(path)).join(', ');
    const rest = gone.length < mounts.length ? ' Its other folders stay as they are, and were not saved.' : '';
    return { snapshot: null, messages: [`No snapshot was made, since this is gone: ${names}.${rest}`] };
  }
  const worktree = context.registry.findWorktree(record.name);
  const message = 'Before it is discarded';
  const { snapshot, messages } =
    worktree === undefined || worktree.stage === 'removed'
      ? await save(context, { message, ifChanged: true })
      : await saveClosing(context, worktree, message);
  const { instance, seq, id, ref } = snapshot;
  return { snapshot: { instance, seq, id, ref }, messages };
}

/** Under its own guards: what neither the snapshot nor a commit has keeps it. */
async function removeItsWorktree(context: Context, { name }: InstanceRecord): Promise<WorktreeRemoval | null> {
  const worktree = context.registry.findWorktree(name);
  if (worktree === undefined || worktree.stage === 'removed') return null;
  return removeWorktree(context, { name, confirm: () => Promise.resolve(true) });
}

function refuseClosed({ name, state }: InstanceRecord): void {
  if (state === 'closed') throw new SnapError('INSTANCE_CLOSED', `Instance ${name} is closed.`, { instance: name });
}

/**
 * Opens a session again that was kept, and says whether its folders are as its snapshots have them. Nothing is restored.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, INSTANCE_CLOSED
 */
export async function resume(context: Context, selector: string | undefined): Promise<ResumeResult> {
  const before = await recordFor(context, selector);
  refuseClosed(before);
  const kept = before.exit ?? null;
  const mounts = await mountsSinceSaved(context, before);
  const instance = await changeRecord({ ...context, instance: before.name }, ({ exit, ...record }) => {
    refuseClosed(record);
    return exit?.decision === 'discard' ? { ...record, exit } : record;
  });
  const last = context.store.exists() ? (await context.store.snapshots(before.name)).at(-1) : undefined;
  const known = last === undefined ? undefined : knowIfReadable(last);
  const manifest = before.recovery?.jackin?.manifest;
  return {
    instance,
    kept,
    latest: known === undefined ? null : pointerTo(known),
    mounts,
    container: manifest === undefined ? null : (roleContainer(manifest) as InstanceName),
  };
}
