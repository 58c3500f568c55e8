import { activeOwner } from '../../core/activity.js';
import { type EntryPath, type HostPath, displayPath, parentOf, rootPath } from '../../core/entry-path.js';
import type { InstanceName } from '../../core/ids.js';
import type { WorktreeRemovalRequest } from '../../core/requests.js';
import type { SaveResult } from '../../core/results.js';
import type { WorktreeRemoval } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { SnapError, systemCode, isTold } from '../../errors.js';
import type { Context } from '../context.js';
import { type MayGo, removeFolder } from '../remove-folder.js';
import { goneWith, sayWhatGoes, saveClosing } from './closing-snapshot.js';
import { type SeenBefore, removalProof, seeBefore, visit } from './removal-proof.js';
import { asidePath, putBack, setAside, timeBeside } from './set-aside.js';
import { namesOf, unsavedIn } from './unsaved.js';

/**
 * Removes a worktree: a snapshot of it first, then its files, what its repository has of it, and its branch where that
 * has no commit of its own. Its snapshots stay.
 * @throws SnapError WORKTREE_NOT_FOUND, WORKTREE_HOLDS_MORE, WORKTREE_LOCKED, INSTANCE_ACTIVE, DECLINED, and all that
 * `save` throws: then nothing was removed, unless the message says so
 */
export async function removeWorktree(context: Context, request: WorktreeRemovalRequest): Promise<WorktreeRemoval> {
  recordOf(context, request.name);
  refuseActive(context, request.name);
  await takeBackCutRemoval(context, request.name);
  const record = recordOf(context, request.name);
  const look = (await context.worktrees()).look(record);
  refuseLocked(record, look);
  const { name, path, branch } = record;
  const whatGoes = (): Promise<readonly string[]> => sayWhatGoes(context, record);
  if (!(await request.confirm({ name, path, branch, whatGoes })))
    throw new SnapError('DECLINED', 'Nothing was removed.', { what: 'remove' });
  const seen = await seenNow(context, record, look);
  const saved = await saveBefore(context, record, look);
  if (saved !== null && request.force !== true) {
    const reasons = await unsavedIn(context, record, look, saved);
    if (reasons.length > 0) throw holdsMore(record, reasons);
  }
  const removal = await removeNow(context, record, saved, request.force === true ? 'all' : { look, seen });
  return saved === null ? removal : { ...removal, messages: goneWith(saved) };
}

/** Of a removal that was killed before anything went: its files get their name back. One that is going on is waited for. */
export async function takeBackCutRemoval(context: Context, name: InstanceName): Promise<void> {
  const lock = await context.locks.instance(name);
  try {
    const record = context.registry.findWorktree(name);
    if (record?.stage === 'ready') putBack(context, record);
  } finally {
    lock.release();
  }
}

/** Where a worktree is not removed since something in it would be lost. */
export function holdsMore({ name }: WorktreeRecord, reasons: readonly string[]): SnapError<'WORKTREE_HOLDS_MORE'> {
  const message = `The worktree ${name} was not removed, since it would be lost: ${reasons.join('; ')}.`;
  return new SnapError('WORKTREE_HOLDS_MORE', message, { name, reasons });
}

function recordOf(context: Context, name: InstanceName): WorktreeRecord {
  const record = context.registry.findWorktree(name);
  if (record !== undefined && record.stage !== 'removed') return record;
  const message = record === undefined ? `There is no worktree ${name}.` : `The worktree ${name} is removed already.`;
  throw new SnapError('WORKTREE_NOT_FOUND', message, { name });
}

function refuseActive(context: Context, instance: InstanceName): void {
  const owner = activeOwner(context.registry.readActivity(instance), context.processes);
  if (owner === null) return;
  throw new SnapError('INSTANCE_ACTIVE', `Instance ${instance} is active (${owner}).`, { instance, owner });
}

function refuseLocked({ name, path }: WorktreeRecord, { locked }: WorktreeLook): void {
  const shown = displayPath(path);
  if (locked) throw new SnapError('WORKTREE_LOCKED', `The worktree ${shown} is locked.`, { name, path: shown });
}

/** Null where there is nothing to save: nobody worked in it yet, or its files are gone, all or in part. */
async function saveBefore(context: Context, record: WorktreeRecord, look: WorktreeLook): Promise<SaveResult | null> {
  if (record.stage !== 'ready' || !look.present) return null;
  return saveClosing(context, record);
}

/** To be asked for before the snapshot: what is as it was then is in it. Null where there are no files to look at. */
export async function seenNow(
  context: Context,
  record: WorktreeRecord,
  look: WorktreeLook,
): Promise<SeenBefore | null> {
  if (record.stage !== 'ready' || !look.present) return null;
  const moment = timeBeside(context, record);
  if (moment === undefined) return null;
  const root = openIfThere(context, record.path);
  if (root === undefined) return null;
  try {
    return await seeBefore(context, root, moment);
  } finally {
    root.close();
  }
}

/** Undefined where it went meanwhile: somebody else removes it. */
function openIfThere(context: Context, path: HostPath): ReturnType<Context['host']['openMount']> | undefined {
  try {
    return context.host.openMount(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** What of its files may go: all of them, or what its newest snapshot and its commit have. */
export type RemovableFiles = 'all' | { readonly look: WorktreeLook; readonly seen: SeenBefore | null };

/**
 * What it holds was looked at, and is in a snapshot. What is not as it was then, since something still writes to it,
 * keeps it; what comes while it is removed stays, and is named.
 * @throws SnapError WORKTREE_HOLDS_MORE
 */
export async function removeNow(
  context: Context,
  record: WorktreeRecord,
  saved: Pick<SaveResult, 'snapshot'> | null,
  files: RemovableFiles,
): Promise<WorktreeRemoval> {
  const worktrees = await context.worktrees();
  const lock = await context.locks.instance(record.name);
  try {
    refuseActive(context, record.name);
    const mayGo = files === 'all' ? undefined : await removalProof(context, record, files.look, files.seen);
    setAside(context, record);
    if (mayGo !== undefined && record.stage === 'ready') await refuseChanged(context, record, mayGo);
    context.registry.writeWorktree({ ...record, stage: 'removing' });
    await removeFiles(context, record, mayGo);
    const { name, path, branch } = record;
    const removal = { name, path, branch, snapshot: saved === null ? null : pointerOf(saved) };
    return { ...removal, ...removeTraces(context, worktrees, record) };
  } finally {
    lock.release();
  }
}

/** The files are gone by then: what fails is said beside that, and goes with the same command again. */
function removeTraces(
  { registry }: Context,
  worktrees: Awaited<ReturnType<Context['worktrees']>>,
  record: WorktreeRecord,
): Pick<WorktreeRemoval, 'branchStays' | 'messages'> {
  let branchStays = true;
  try {
    ({ branchStays } = worktrees.removeLink(record));
    registry.writeWorktree({ ...record, stage: 'removed' });
    return { branchStays, messages: [] };
  } catch (error) {
    if (!isTold(error)) throw error;
    const message = `Its files are removed, and not all else: ${error.message} "run remove ${record.name}" goes on with it.`;
    return { branchStays, messages: [message] };
  }
}

/** Nothing has gone yet: all of it goes back to its place. */
async function refuseChanged(context: Context, record: WorktreeRecord, mayGo: MayGo): Promise<void> {
  try {
    const changed = await changedIn(context, record, mayGo);
    if (changed.length > 0)
      throw holdsMore(record, [
        `changed since the snapshot, so that something still writes to it: ${namesOf(changed)}`,
      ]);
  } catch (error) {
    if (putBack(context, record)) throw error;
    const [aside, path] = [displayPath(asidePath(record)), displayPath(record.path)];
    throw holdsMore(record, [`its files are in ${aside}, since something new was made at ${path}`]);
  }
}

async function changedIn(context: Context, record: WorktreeRecord, mayGo: MayGo): Promise<readonly EntryPath[]> {
  const path = asidePath(record);
  if (context.host.identity(path) === undefined) return [];
  const root = context.host.openMount(path);
  const changed: EntryPath[] = [];
  try {
    await visit(context, root, rootPath, (at, stat, directory, name) => {
      if (stat.kind !== 'directory' && !mayGo(at, stat, directory, name)) changed.push(at);
    });
    return changed;
  } finally {
    root.close();
  }
}

/** The name's own folder goes with them. */
async function removeFiles(context: Context, record: WorktreeRecord, mayGo: MayGo | undefined): Promise<void> {
  const stays: string[] = [];
  try {
    const remove = async (path: HostPath, isRemovable: MayGo): Promise<void> => {
      const left = await removeFolder(context, path, isRemovable);
      const named = left.filter((each) => each !== rootPath);
      if (left.length > 0) stays.push(`${named.length > 0 ? `${namesOf(named)} in ` : ''}${displayPath(path)}`);
    };
    if (mayGo !== undefined) for (const path of [asidePath(record), record.path]) await remove(path, mayGo);
    if (stays.length === 0) await remove(parentOf(record.path), () => mayGo === undefined);
  } catch (error) {
    throw failedInPart(record, error);
  }
  if (stays.length === 0) return;
  const reasons = [`it was removed in part, and this came or changed meanwhile: ${stays.join('; ')}`];
  const message = `The worktree ${record.name} was removed in part. What came or changed meanwhile stays: ${stays.join('; ')}.`;
  throw new SnapError('WORKTREE_HOLDS_MORE', message, { name: record.name, reasons });
}

/** Some of it may be gone: that has to be said. */
function failedInPart({ name, path }: WorktreeRecord, error: unknown): unknown {
  const problem = systemCode(error);
  if (problem === undefined) return error;
  const said = error instanceof Error ? error.message : String(error);
  const message = `The worktree ${name} was removed in part: ${said}. What is left is in ${displayPath(parentOf(path))}.`;
  return new SnapError('SYSTEM_FAILED', message, { problem }, { cause: error });
}

function pointerOf({
  snapshot: { instance, seq, id, ref },
}: Pick<SaveResult, 'snapshot'>): WorktreeRemoval['snapshot'] {
  return { instance, seq, id, ref };
}
