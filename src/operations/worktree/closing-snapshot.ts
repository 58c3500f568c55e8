import type { Policy } from '../../core/policy.js';
import type { ObservedOnlyEntry, SaveResult } from '../../core/results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { Context } from '../context.js';
import { leftOutOf } from '../plan/look-at-mounts.js';
import { save } from '../save.js';
import { namesOf } from './unsaved.js';

/*
 * The last snapshot of a worktree that is about to go is all that is left of it. So it holds content whatever the
 * instance's snapshots store otherwise, as one before a restore does, and what they leave out by patterns of the
 * instance's own, which no commit need have. What is over a limit is named, and keeps the worktree.
 */

function closingPolicy(policy: Policy): Policy {
  const snapshot = policy.snapshot === 'metadata' ? 'project' : policy.snapshot;
  return { ...policy, snapshot, exclude: [], on_limit: 'skip' };
}

/** None is made where the last one holds just that. @throws all that `save` throws */
export async function saveClosing(
  context: Context,
  record: WorktreeRecord,
  message = 'Before the worktree is removed',
): Promise<SaveResult> {
  return save(inWorktree(context, record), { message, ifChanged: true }, closingPolicy);
}

/** The context in which the worktree is the current folder. */
export function inWorktree(context: Context, { name, path }: WorktreeRecord): Context {
  return { ...context, instance: name, host: { ...context.host, cwd: path } };
}

/**
 * What the closing snapshot would leave out as ignored, so that it goes with the worktree, in words. Files are not read,
 * and nothing is written.
 */
export async function sayWhatGoes(context: Context, record: WorktreeRecord): Promise<readonly string[]> {
  const instance = context.registry.find(record.name);
  if (instance === undefined || record.stage !== 'ready' || context.host.identity(record.path) === undefined) return [];
  const mounts = instance.mounts.filter(({ path }) => path === record.path);
  const leftOut = await leftOutOf(context, { ...instance, mounts }, closingPolicy(instance.policy));
  return ignoredNote(leftOut, 'and to go with the worktree');
}

/** Says what went with a worktree although no snapshot has it, since it is ignored. */
export function goneWith({ observedOnly }: SaveResult): readonly string[] {
  return ignoredNote(observedOnly, 'and gone with the worktree');
}

function ignoredNote(leftOut: readonly Pick<ObservedOnlyEntry, 'path' | 'reason'>[], what: string): string[] {
  const ignored = leftOut.filter(({ reason }) => reason === 'ignored' || reason === 'excluded');
  return ignored.length === 0 ? [] : [`Ignored, in no snapshot, ${what}: ${namesOf(ignored.map(({ path }) => path))}.`];
}
