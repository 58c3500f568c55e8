import type { ObjectId } from '../../core/ids.js';
import { isReached } from './commit-walk.js';
import type { GuardedDirectory } from './guarded-directory.js';
import { isCommitting, headLog, logLines } from './own-work.js';
import type { RepositoryObjects } from './repository-objects.js';

/**
 * Commits that were made in a linked worktree on no branch, that HEAD then left by a checkout, and that no ref reaches:
 * only the log of its HEAD leads to them, and that goes with the worktree. What an amend, a reset or a rebase replaced
 * is not among them.
 */
export function leftCommits(
  gitDir: GuardedDirectory,
  objects: Pick<RepositoryObjects, 'read'>,
  tips: readonly ObjectId[],
): ObjectId[] {
  const log = headLog(gitDir);
  if (log.kind !== 'read') return [];
  const made = new Set<string>();
  const left = new Set<string>();
  for (const { from, to, message } of logLines(log.value.toString('latin1'))) {
    if (isCommitting(message)) made.add(to);
    if (made.has(from) && message.startsWith(`checkout: moving from ${from} to `)) left.add(from);
  }
  const isLost = (oid: ObjectId): boolean =>
    objects.read(oid, 'commit').kind === 'read' && !isReached(objects, oid, tips);
  return [...left].map((oid) => oid as ObjectId).filter(isLost);
}
