import { activeOwner } from '../../core/activity.js';
import { displayPath, parentOf } from '../../core/entry-path.js';
import type { InstanceName } from '../../core/ids.js';
import type { WorktreeRemovalRequest } from '../../core/requests.js';
import type { SaveResult } from '../../core/results.js';
import type { WorktreeRemoval } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { save } from '../save.js';
import { removeFolder } from './remove-folder.js';
import { unsavedIn } from './unsaved.js';

/**
 * Removes a worktree: a snapshot of it first, then its files, what its repository has of it, and its branch where that
 * has no commit of its own. Its snapshots stay.
 * @throws SnapError WORKTREE_NOT_FOUND, WORKTREE_HOLDS_MORE, WORKTREE_LOCKED, INSTANCE_ACTIVE, DECLINED, and all that
 * `save` throws: then nothing was removed
 */
export async function removeWorktree(context: Context, request: WorktreeRemovalRequest): Promise<WorktreeRemoval> {
  const record = recordOf(context, request.name);
  refuseActive(context, record.name);
  const look = (await context.worktrees()).look(record);
  refuseLocked(record, look);
  if (!(await request.confirm({ name: record.name, path: record.path, branch: record.branch })))
    throw new SnapError('DECLINED', 'Nothing was removed.', { what: 'remove' });
  const saved = await saveBefore(context, record, look);
  if (saved !== null && request.force !== true) {
    const reasons = await unsavedIn(context, record, look, saved);
    if (reasons.length > 0) throw holdsMore(record, reasons);
  }
  return removeNow(context, record, saved);
}

/** Where a worktree is not removed since something in it would be lost. */
export function holdsMore({ name }: WorktreeRecord, reasons: readonly string[]): SnapError<'WORKTREE_HOLDS_MORE'> {
  const message = `The worktree ${name} was not removed, since it would be lost: ${reasons.join('; ')}.`;
  return new SnapError('WORKTREE_HOLDS_MORE', message, { name, reasons });
}

function recordOf(context: Context, name: InstanceName): WorktreeRecord {
  const record = context.registry.findWorktree(name);
  if (record !== undefined && record.stage !== 'removed') return record;
  const gone = record === undefined ? 'There is no worktree' : 'Removed already is the worktree';
  throw new SnapError('WORKTREE_NOT_FOUND', `${gone} ${name}.`, { name });
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
  return save(inWorktree(context, record), { message: 'Before the worktree is removed', ifChanged: true });
}

/** The context in which the worktree is the current folder. */
export function inWorktree(context: Context, { name, path }: WorktreeRecord): Context {
  return { ...context, instance: name, host: { ...context.host, cwd: path } };
}

/** What it holds is in a snapshot, or was looked at. */
export async function removeNow(
  context: Context,
  record: WorktreeRecord,
  saved: Pick<SaveResult, 'snapshot'> | null,
): Promise<WorktreeRemoval> {
  const worktrees = await context.worktrees();
  const lock = await context.locks.instance(record.name);
  try {
    refuseActive(context, record.name);
    context.registry.writeWorktree({ ...record, stage: 'removing' });
    // The name's own folder goes with it.
    await removeFolder(context, parentOf(record.path));
    const { branchStays } = worktrees.removeLink(record);
    context.registry.writeWorktree({ ...record, stage: 'removed' });
    const { name, path, branch } = record;
    return { name, path, branch, branchStays, snapshot: saved === null ? null : pointerOf(saved) };
  } finally {
    lock.release();
  }
}

function pointerOf({
  snapshot: { instance, seq, id, ref },
}: Pick<SaveResult, 'snapshot'>): WorktreeRemoval['snapshot'] {
  return { instance, seq, id, ref };
}
