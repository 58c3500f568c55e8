import type { Policy } from '../../core/policy.js';
import type { SaveResult } from '../../core/results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { Context } from '../context.js';
import { save } from '../save.js';

/*
 * The last snapshot of a worktree that is about to go is all that is left of it. So it holds content whatever the
 * instance's snapshots store otherwise, as one before a restore does.
 */

export function closingPolicy(policy: Policy): Policy {
  return { ...policy, snapshot: policy.snapshot === 'metadata' ? 'project' : policy.snapshot };
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
