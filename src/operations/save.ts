import { type EntryPath, displayPath } from '../core/entry-path.js';
import type { InstanceName, MountName } from '../core/ids.js';
import type { InstanceRecord } from '../core/instance-record.js';
import { type Policy, storesContent, withOverrides } from '../core/policy.js';
import type { ObjectWriter } from '../core/ports.js';
import type { SaveRequest } from '../core/requests.js';
import type { ObservedOnlyEntry, SaveResult, Snapshot } from '../core/results.js';
import { tidyMessage } from '../core/snapshot-record.js';
import { SnapError, isSnapError } from '../errors.js';
import { type CapturedMount, captureMounts, summarize } from './capture/capture-mounts.js';
import { captureNotes } from './capture/capture-notes.js';
import { incompletePaths } from './capture/incomplete.js';
import {
  type GitStatesByMount,
  isProtectionWhole,
  protectForSave,
  protectionNotes,
  withProtection,
} from './capture/protect-commits.js';
import { type SnapshotDraft, type WrittenContent, publish, writeContent } from './capture/publish.js';
import { holdsTheSame } from './capture/same-content.js';
import type { StateCapture } from './capture/state/capture-state.js';
import { captureStateFor, draftedState, storedState } from './capture/state/for-save.js';
import { totalStats } from './capture/total-stats.js';
import { withoutContent } from './capture/without-content.js';
import type { Context } from './context.js';
import { limitsOf } from './path-arguments.js';
import { pruneAfterSave } from './keep/after-save.js';
import { lockForSnapshot, sweepIfAlone } from './locking.js';
import { noteLostStore, sayingLost } from './lost-store.js';
import { reconcileHeld } from './session/reconcile.js';
import { clearFinished, pendingTemporaryPrefix, readPendingOr } from './restore/pending.js';
import { instanceForSave, refuseOtherSnapshots } from './session/instance-for-save.js';
import { damageNotes } from './check/damage-notes.js';
import { levelNotes, newInstanceNotes, newSession, refuseAutomatic } from './session/new-session.js';
import { stateNotes, stateSummary } from './capture/state/state-summary.js';
import { type Earlier, describe, earlierSnapshots, knowIfReadable } from './snapshots.js';

/**
 * Snapshots the instance's mounts: all of it is published, durably, or nothing is and no number is used.
 * @param settings the policy to go by, where it is not the instance's own; nothing of it is noted in the instance
 * @throws SnapError MOUNT_UNSAFE, MOUNT_GONE, MOUNTS_DIFFER, INSTANCE_CLOSED, INCOMPLETE_REFUSED, BUSY, NO_SPACE …
 */
export async function save(
  context: Context,
  request: SaveRequest,
  settings: (policy: Policy) => Policy = (policy) => policy,
): Promise<SaveResult> {
  const session = await newSession(context, request);
  const { record } = instanceForSave(context, request, session);
  refuseAutomatic(record, request);
  const lost = noteLostStore(context);
  await context.store.prepare();
  await sweepIfAlone(context);
  const ahead = context.store.startAhead();
  try {
    const chosen = { name: record.name, session, settings };
    return await sayingLost(lost, () => saveUnderLock({ ...context, store: ahead.store }, request, chosen));
  } finally {
    await ahead.end();
  }
}

interface Chosen {
  readonly name: InstanceName;
  readonly session: InstanceRecord | undefined;
  readonly settings: (policy: Policy) => Policy;
}

async function saveUnderLock(
  context: Context,
  request: SaveRequest,
  { name, session, settings }: Chosen,
): Promise<SaveResult> {
  const locks = await lockForSnapshot(context, name);
  try {
    reconcileHeld(context, name);
    // Under the lock the instance may be another one than before it.
    const { record, isNew } = instanceForSave(context, request, session);
    const saved = isNew ? record : { ...record, policy: settings(record.policy) };
    return await saveLocked(context, request, saved, isNew);
  } finally {
    locks.release();
  }
}

async function saveLocked(
  context: Context,
  request: SaveRequest,
  record: InstanceRecord,
  isNew: boolean,
): Promise<SaveResult> {
  clearLeftovers(context, record.name);
  const earlier = await earlierSnapshots(context, record.name);
  refuseOtherSnapshots(request, { record, isNew }, earlier.last ?? undefined);
  const writer = context.store.newWriter();
  try {
    const made = await capturePublished(context, request, { record, isNew, earlier, writer });
    const saved = await afterwards(context, record, { made, earlier, bytesAdded: writer.bytesAdded });
    const notes = [...(isNew ? await newInstanceNotes(context, record) : []), ...levelNotes(record)];
    return { ...saved, messages: [...saved.messages, ...notes, ...damageNotes(context)] };
  } finally {
    await writer.abandon();
  }
}

/** What killed processes left of the instance's own. A journal that is damaged stays, and stops no save. */
function clearLeftovers(context: Context, instance: InstanceName): void {
  context.registry.clearUnfinished(instance);
  if (readPendingOr(context, instance, 'damaged') === undefined) clearFinished(context, instance);
}

interface SaveWork {
  readonly record: InstanceRecord;
  readonly isNew: boolean;
  readonly earlier: Earlier;
  readonly writer: ObjectWriter;
}

interface Made {
  readonly snapshot: Snapshot;
  readonly created: boolean;
  readonly newInstance: boolean;
  readonly captured: readonly CapturedMount[];
  readonly gitStates: GitStatesByMount;
  /** Absent where the instance is to have none stored. */
  readonly state: StateCapture | undefined;
}

/** All of the save that may fail: when it does, no snapshot is visible and a new instance is forgotten again. */
async function capturePublished(context: Context, request: SaveRequest, work: SaveWork): Promise<Made> {
  const { record, isNew, earlier, writer } = work;
  const isLastComplete = await mayGraft(context, work);
  const captured = await captureForSave(context, request, record, { writer, graft: isLastComplete });
  const incomplete = incompletePaths(captured);
  refuseIncomplete(request, incomplete);
  refuseTooLarge(record, captured);
  const last = isLastComplete ? earlier.last : null;
  const gitStates = await protectForSave(context, request, { record, mounts: captured, writer, last });
  const state = await captureStateFor(context, work, limitsIn(request, record) !== null);
  const stored = storedState(state);
  const content = writeContent(writer, stored === undefined ? captured : [...captured, stored], gitStates);
  const unchanged = mayBeSame(request, record) ? await unchangedSince(context, earlier, content) : undefined;
  if (unchanged !== undefined)
    return { snapshot: unchanged, created: false, newInstance: false, captured, gitStates, state };
  if (isNew) context.registry.write(record);
  try {
    const isWhole = incomplete.length === 0 && isProtectionWhole(gitStates);
    const draft = draftOf(request, record, { captured, state }, isWhole);
    return {
      snapshot: await publish(context, writer, draft, content, earlier.last),
      created: true,
      newInstance: isNew,
      captured,
      gitStates,
      state,
    };
  } catch (error) {
    if (isNew && earlier.last === null) context.registry.remove(record.name);
    throw error;
  }
}

function mayBeSame({ ifChanged }: SaveRequest, record: InstanceRecord): boolean {
  return ifChanged === true && storesContent(record.policy);
}

/** The snapshot stands: what comes now cannot fail it. */
async function afterwards(
  context: Context,
  record: InstanceRecord,
  { made, earlier, bytesAdded }: { readonly made: Made; readonly earlier: Earlier; readonly bytesAdded: number },
): Promise<SaveResult> {
  const { created, captured, gitStates, state } = made;
  const notes = [
    ...captureNotes(captured),
    ...protectionNotes(gitStates),
    ...(state === undefined ? [] : stateNotes(state)),
  ];
  if (!created) return result(made, 0, notes);
  for (const mount of captured) mount.rememberStats();
  const messages = await pruneAfterSave(context, record, [...earlier.numbers, made.snapshot.seq]);
  return result(made, bytesAdded, [...messages, ...notes]);
}

/** Only what the last snapshot is known to hold may be taken over without being read. */
async function mayGraft(context: Context, { earlier: { last } }: SaveWork): Promise<boolean> {
  return last !== null && (await context.store.brokenSnapshots([last.commit])).size === 0;
}

async function captureForSave(
  context: Context,
  request: SaveRequest,
  record: InstanceRecord,
  { writer, graft }: { readonly writer: ObjectWriter; readonly graft: boolean },
): Promise<CapturedMount[]> {
  const limits = limitsIn(request, record);
  const withContent = storesContent(record.policy);
  const captured = await captureMounts(context, {
    record,
    mounts: record.mounts,
    policy: withOverrides(record.policy, request.overrides ?? {}),
    writer: withContent ? writer : context.hasher,
    full: request.full ?? false,
    graft: graft && withContent && limits === null && record.policy.max_total_size === null,
    scope: (mount: MountName): readonly EntryPath[] | null => limits?.get(mount) ?? (limits === null ? null : []),
    forced: () => null,
    temporaryPrefix: pendingTemporaryPrefix(context, record.name),
    countAhead: true,
  });
  return withContent ? captured : captured.map(withoutContent);
}

function draftOf(
  request: SaveRequest,
  record: InstanceRecord,
  { captured, state }: Pick<Made, 'captured' | 'state'>,
  complete: boolean,
): SnapshotDraft {
  const trigger = request.trigger ?? 'manual';
  return {
    record,
    mounts: captured,
    ...draftedState(state),
    policy: withOverrides(record.policy, request.overrides ?? {}),
    trigger,
    message: (seq) => tidyMessage(request.message, `${trigger} snapshot ${String(seq)} of ${record.name}`),
    scope: scopeOf(request, record),
    complete,
    recovery: null,
    recoveryOf: null,
    labels: labelsOf(request),
    meta: request.meta ?? {},
  };
}

/** The paths that a snapshot is limited to; null for all. */
function scopeOf(request: SaveRequest, record: InstanceRecord): SnapshotDraft['scope'] {
  if (!storesContent(record.policy)) return [];
  const limits = limitsIn(request, record);
  return limits === null ? null : [...limits].flatMap(([mount, paths]) => paths.map((path) => ({ mount, path })));
}

function labelsOf({ sourceTool, phase, decision, resource }: SaveRequest): SnapshotDraft['labels'] {
  return {
    sourceTool: sourceTool ?? null,
    phase: phase ?? null,
    decision: decision ?? null,
    resource: resource ?? null,
  };
}

/** What the save is limited to, by mount; null for everything. */
function limitsIn(request: SaveRequest, record: InstanceRecord): Map<MountName, EntryPath[]> | null {
  const { paths } = request;
  if (paths === undefined || paths.length === 0) return null;
  const names = record.mounts.map(({ name }) => name);
  return limitsOf(names, paths);
}

function refuseIncomplete(request: SaveRequest, incomplete: readonly EntryPath[]): void {
  if (request.strict !== true || incomplete.length === 0) return;
  const names = incomplete
    .slice(0, 5)
    .map((path) => displayPath(path))
    .join(', ');
  throw new SnapError(
    'INCOMPLETE_REFUSED',
    `Nothing was saved, since not everything could be read (${String(incomplete.length)} in all): ${names}.`,
    { paths: incomplete },
  );
}

/** Under `on_limit=fail` a limit ends the save. */
function refuseTooLarge({ policy }: InstanceRecord, captured: readonly CapturedMount[]): void {
  if (policy.on_limit === 'skip') return;
  const first = observedOnly(captured).find(({ reason }) => reason === 'too_large');
  if (first === undefined) return;
  const { path } = first;
  throw new SnapError('LIMIT_EXCEEDED', `Nothing was saved: ${displayPath(path)} is over the size limit.`, { path });
}

/** The last snapshot, if it holds just the same. One that this version cannot read counts as changed. */
async function unchangedSince(
  context: Context,
  { last, numbers }: Earlier,
  content: WrittenContent,
): Promise<Snapshot | undefined> {
  const known = last === null ? undefined : knowIfReadable(last);
  if (known === undefined) return undefined;
  const reader = context.store.reader();
  try {
    return (await holdsTheSame(reader, known, content)) ? describe(known, numbers) : undefined;
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED') || isSnapError(error, 'FORMAT_UNKNOWN')) return undefined;
    throw error;
  } finally {
    await reader.close();
  }
}

function result(
  { snapshot, created, newInstance, captured, gitStates, state }: Made,
  bytesAdded: number,
  messages: readonly string[],
): SaveResult {
  return {
    snapshot,
    created,
    newInstance,
    stats: totalStats(captured, bytesAdded),
    mounts: captured.map((mount) => withProtection(summarize(mount), gitStates.get(mount.mount.name)?.summary)),
    observedOnly: observedOnly(captured),
    ...(state === undefined ? {} : { state: stateSummary(state) }),
    complete: incompletePaths(captured).length === 0 && isProtectionWhole(gitStates),
    messages,
  };
}

export function observedOnly(captured: readonly CapturedMount[]): ObservedOnlyEntry[] {
  return captured.flatMap(({ mount, captured: { leftOut } }) =>
    leftOut.map(({ path, reason }) => ({ mount: mount.name, path, reason })),
  );
}
