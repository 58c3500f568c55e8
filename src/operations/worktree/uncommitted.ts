import type { HostPath } from '../../core/entry-path.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import { isSnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { Fingerprints } from './fingerprints.js';

/**
 * What has to be said of the checkout that a worktree was made from: what is changed or staged in it is not in the worktree.
 * Files that git does not know are not looked for.
 */
export async function uncommittedNotes(
  context: Context,
  { repository, baseCommit }: WorktreeRecord,
): Promise<string[]> {
  if (!(await isChanged(context, repository))) return [];
  return [
    `Changes that are not committed are not in the worktree: its files are those of commit ${baseCommit.slice(0, 12)}.`,
  ];
}

/** Where it cannot be known, nothing is said: the worktree is what its commit is. */
async function isChanged(context: Context, folder: HostPath): Promise<boolean> {
  try {
    const root = context.host.openMount(folder);
    try {
      const kind = root.stat('.git')?.kind;
      if (kind !== 'directory' && kind !== 'file') return false;
      const fingerprints = new Fingerprints(context, root);
      const found = await context.repositories.read(root, kind);
      return found?.isDirty((path) => fingerprints.present(path), false) === true;
    } finally {
      root.close();
    }
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    if (isSnapError(error, 'INTERRUPTED')) throw error;
    return false;
  }
}
