import type { EntryPath } from '../../core/entry-path.js';
import type { PresentFile } from '../../core/present-file.js';
import { treeOfIndex } from './index-tree.js';
import type { UserRepo } from './read-user-repo.js';
import { gitlink } from './tree-content.js';
import type { IndexEntry, TrackedIndex } from './tracked-index.js';

/**
 * Whether `git status` would show something: untracked files, staged changes, or files that differ from the index (by
 * stat, else by the id of their raw content, filters apart). Null when it cannot be known. Submodules are repositories
 * of their own and do not count.
 */
export function isDirty(
  repo: Pick<UserRepo, 'index' | 'headTree' | 'state' | 'fileMode'>,
  present: (path: EntryPath) => PresentFile | undefined,
  hasUntracked: boolean,
): boolean | null {
  if (hasUntracked) return true;
  if (repo.index === null) return null;
  const staged = hasStaged(repo.index, repo);
  if (staged === true) return true;
  let isKnown = staged !== null;
  for (const entry of repo.index.entries()) {
    const changed = isChanged(entry, present, repo.index, repo.fileMode);
    if (changed === true) return true;
    isKnown &&= changed !== null;
  }
  return isKnown ? false : null;
}

export function hasStaged(
  index: TrackedIndex,
  { state, headTree }: Pick<UserRepo, 'headTree' | 'state'>,
): boolean | null {
  // A branch without a commit: all that is in the index is new.
  if (state.head === null) return state.unknown.length > 0 ? null : index.size > 0;
  if (headTree === null) return null;
  if (index.cachedRootTree === headTree) return false;
  return index.cachedRootTree !== null || treeOfIndex(index) !== headTree;
}

const typeMask = 0o170000;
const symlink = 0o120000;

export function isChanged(
  entry: IndexEntry,
  present: (path: EntryPath) => PresentFile | undefined,
  index: TrackedIndex,
  fileMode: boolean,
): boolean | null {
  if (entry.stage !== 0 || entry.intentToAdd) return true;
  if (entry.assumeValid || entry.skipWorktree || (entry.mode & typeMask) === gitlink) return false;
  const file = present(entry.path as EntryPath);
  if (file === undefined || hasOtherMode(entry, file, fileMode)) return true;
  if (isSameByStat(entry, file, index.modifiedNs)) return false;
  return file.oid === undefined ? null : file.oid !== entry.oid;
}

function hasOtherMode(entry: IndexEntry, file: PresentFile, fileMode: boolean): boolean {
  if ((entry.mode & typeMask) === symlink) return file.kind !== 'symlink';
  if (file.kind !== 'file') return true;
  return fileMode && (file.mode & 0o100) !== (entry.mode & 0o100);
}

const second = 1_000_000_000n;

/** Not to be trusted when the file changed no earlier than the index was written: a later change may not show. */
function isSameByStat(entry: IndexEntry, file: PresentFile, indexNs: bigint): boolean {
  return (
    file.mtimeNs < indexNs &&
    entry.size === file.size % 2 ** 32 &&
    entry.ino === Number(BigInt.asUintN(32, file.ino)) &&
    isTime(file.mtimeNs, entry.mtimeSeconds, entry.mtimeNanoseconds) &&
    isTime(file.ctimeNs, entry.ctimeSeconds, entry.ctimeNanoseconds)
  );
}

function isTime(time: bigint, seconds: number, nanoseconds: number): boolean {
  return BigInt.asUintN(32, time / second) === BigInt(seconds) && time % second === BigInt(nanoseconds);
}
