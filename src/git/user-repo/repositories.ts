import { createHash } from 'node:crypto';

import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory } from '../../core/ports.js';
import type { RepositoryState } from '../../core/results.js';
import type { Changes } from './changes.js';
import type { PresentFile } from '../../core/present-file.js';
import { isDirty } from './dirty.js';
import { type UserRepo, readUserRepo } from './read-user-repo.js';
import type { TrackedIndex } from './tracked-index.js';

/** A user's repository as operations see it. */
export interface FoundRepository {
  readonly kind: 'clone' | 'worktree';
  readonly state: RepositoryState;
  readonly upstreamCommit: ObjectId | null;
  readonly excludeFile: string | null;
  readonly excludeUnreadable: boolean;
  /** The same for a repository of which the same is known, its index to the byte. */
  readonly fingerprint: string;
  /** Null when the index cannot be read: any path may be tracked. */
  readonly tracked: TrackedIndex | null;
  isDirty(present: (path: EntryPath) => PresentFile | undefined, hasUntracked: boolean): boolean | null;
  changes(
    directory: Pick<Directory, 'descriptorPath'>,
    present: (path: EntryPath) => PresentFile | undefined,
    untracked: readonly EntryPath[],
  ): Promise<Changes>;
}

/** Reads the repository of a held directory. Undefined when its `.git` is none. */
export async function readRepository(
  directory: Pick<Directory, 'descriptorPath'>,
  gitEntry: 'directory' | 'file',
): Promise<FoundRepository | undefined> {
  const repo = await readUserRepo(directory.descriptorPath, gitEntry);
  if (repo === null) return undefined;
  const { kind, state, upstreamCommit, excludeFile, excludeUnreadable, index } = repo;
  return {
    kind,
    state,
    upstreamCommit,
    excludeFile,
    excludeUnreadable,
    fingerprint: fingerprintOf(repo),
    tracked: index,
    isDirty: (present, hasUntracked) => isDirty(repo, present, hasUntracked),
    changes: async ({ descriptorPath }, present, untracked) =>
      (await import('./changes.js')).listChanges(descriptorPath, repo, present, untracked),
  };
}

/** What the upstream names is not in it: a fetch changes nothing in the files or their rules. */
function fingerprintOf({ index, ...known }: UserRepo): string {
  return createHash('sha1')
    .update(JSON.stringify([{ ...known, upstreamCommit: undefined }, index?.fingerprint ?? null]))
    .digest('hex');
}
