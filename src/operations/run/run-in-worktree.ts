import type { HostPath } from '../../core/entry-path.js';
import type { RunRequest } from '../../core/requests.js';
import type { SaveResult } from '../../core/results.js';
import type { RunResult, RunWorktree } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { Context } from '../context.js';
import { makeWorktree } from '../worktree/make-worktree.js';
import { inWorktree, removeNow } from '../worktree/remove-worktree.js';
import { unsavedIn } from '../worktree/unsaved.js';
import { type EndedRun, run } from './run.js';

/** Runs a command in a folder; the exit code that a shell would report. */
export type StartCommandIn = (command: RunRequest['command'], folder: HostPath) => Promise<number>;

/**
 * Like `run`, in a new worktree of the repository around the current folder. Afterwards the worktree is kept or removed,
 * as the command ended or as `keep` says; never removed without a whole snapshot of it, nor while something in it would
 * be lost.
 * @throws SnapError NOT_A_REPOSITORY, REPOSITORY_UNSUITABLE, WORKTREE_EXISTS, and all that `run` throws: then no worktree
 * is left
 */
export async function runInWorktree(
  context: Context,
  undisturbed: Context,
  request: RunRequest,
  start: StartCommandIn,
): Promise<RunResult> {
  const { record, start: folder } = await makeWorktree(context);
  const ran = { done: false };
  try {
    const ended = await run(inWorktree(context, record), inWorktree(undisturbed, record), request, async (command) => {
      const exitCode = await start(command, folder);
      ran.done = true;
      return exitCode;
    });
    return await afterRun(undisturbed, record, request, ended);
  } catch (error) {
    // Where nothing ran, it holds what its commit holds.
    if (!ran.done) await removeNow(undisturbed, record, null);
    throw error;
  }
}

async function afterRun(
  context: Context,
  made: WorktreeRecord,
  request: RunRequest,
  { result, saved }: EndedRun,
): Promise<RunResult> {
  const record: WorktreeRecord = { ...made, exitCode: result.exitCode };
  const { name, path, branch, baseCommit } = record;
  const outcome = { name, path, branch, baseCommit };
  try {
    context.registry.writeWorktree(record);
    const wanted = await isToBeKept(request, record);
    const reasons = wanted ? [] : await whyNotRemoved(context, record, saved);
    if (wanted || reasons.length > 0)
      return { ...result, worktree: { ...outcome, kept: true, branchStays: true, unsaved: reasons } };
    const { branchStays } = await removeNow(context, record, null);
    return { ...result, worktree: { ...outcome, kept: false, branchStays, unsaved: [] } };
  } catch (error) {
    // What the command returned comes first.
    const said = error instanceof Error ? error.message : String(error);
    const worktree: RunWorktree = { ...outcome, kept: true, branchStays: true, unsaved: [said] };
    return { ...result, worktree };
  }
}

async function isToBeKept(request: RunRequest, { name, path, exitCode }: WorktreeRecord): Promise<boolean> {
  switch (request.keep) {
    case 'keep':
      return true;
    case 'discard':
      return false;
    case 'ask':
      return (await request.askKeep?.({ name, path, exitCode: exitCode ?? 0 })) ?? true;
    case undefined:
      return exitCode === 0;
  }
}

async function whyNotRemoved(context: Context, record: WorktreeRecord, saved: SaveResult | null): Promise<string[]> {
  if (saved === null) return ['the snapshot after the command could not be made'];
  if (!saved.complete) return ['the snapshot after the command is partial'];
  const look = (await context.worktrees()).look(record);
  if (!look.present) return [];
  if (look.locked) return ['it is locked'];
  return unsavedIn(context, record, look, saved);
}
