import { displayPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import { SnapError, systemCode } from '../../errors.js';
import { removeFileIfThere, syncDirectory } from '../user-repo/entries-of-directory.js';
import type { GuardedDirectory } from '../user-repo/guarded-directory.js';
import { resolveRef } from '../user-repo/refs.js';
import { enterOrMake, makeFile, rename } from './guarded-writing.js';

/*
 * Branches as git keeps them in files, under git's own locks: whoever has `<ref>.lock` may change the ref.
 */

/** Creates a branch that does not exist. @throws SnapError REPOSITORY_UNSUITABLE when it does, or stands in another's way */
export function createBranch(commonDir: GuardedDirectory, branch: string, commit: ObjectId): void {
  refuseInTheWay(commonDir, branch);
  withParent(commonDir, branch, (directory, name) => {
    withLock(directory, name, `${commit}\n`, () => {
      if (resolveRef(commonDir, commonDir, `refs/heads/${branch}`).kind !== 'absent') throw exists(branch);
      rename(directory, `${name}.lock`, name);
    });
  });
}

/** Deletes a branch if it still is at the commit and stands in a file of its own; else it stays (false). */
export function deleteBranch(commonDir: GuardedDirectory, branch: string, commit: ObjectId): boolean {
  const ref = `refs/heads/${branch}`;
  if (isPacked(commonDir, ref)) return false;
  let isGone = false;
  withParent(commonDir, branch, (directory, name) => {
    withLock(directory, name, '', () => {
      const now = resolveRef(commonDir, commonDir, ref);
      isGone =
        now.kind === 'absent' || (now.kind === 'read' && now.value === commit && removeFileIfThere(directory, name));
      if (isGone) syncDirectory(directory);
    });
  });
  return isGone;
}

/** A branch `a` and a branch `a/b` cannot both be. */
function refuseInTheWay(commonDir: GuardedDirectory, branch: string): void {
  const parts = branch.split('/');
  for (let length = 1; length <= parts.length; length += 1) {
    const above = parts.slice(0, length).join('/');
    if (resolveRef(commonDir, commonDir, `refs/heads/${above}`).kind === 'read') throw exists(above);
  }
}

function isPacked(commonDir: GuardedDirectory, ref: string): boolean {
  const packed = commonDir.read('packed-refs', 256 * 1024 * 1024);
  if (packed.kind === 'absent') return false;
  return packed.kind === 'unreadable' || packed.value.includes(` ${ref}\n`, 0, 'latin1');
}

function withParent(
  commonDir: GuardedDirectory,
  branch: string,
  act: (directory: GuardedDirectory, name: string) => void,
): void {
  const names = ['refs', 'heads', ...branch.split('/')];
  const name = names.pop() ?? '';
  const opened: GuardedDirectory[] = [];
  try {
    let directory = commonDir;
    for (const each of names) opened.push((directory = enterOrMake(directory, each)));
    act(directory, name);
  } finally {
    for (const directory of opened) directory.close();
  }
}

function withLock(directory: GuardedDirectory, name: string, content: string, act: () => void): void {
  try {
    makeFile(directory, `${name}.lock`, content);
  } catch (error) {
    if (systemCode((error as Error).cause) !== 'EEXIST') throw error;
    throw new SnapError('BUSY', `Another git is changing the branch ${name}.`, { lock: name, holder: '' });
  }
  try {
    act();
  } finally {
    removeFileIfThere(directory, `${name}.lock`);
  }
}

function exists(branch: string): SnapError<'REPOSITORY_UNSUITABLE'> {
  const shown = displayPath(branch);
  const why = `there is a branch ${shown}`;
  return new SnapError('REPOSITORY_UNSUITABLE', `No branch can be made for the worktree: ${why}.`, {
    path: shown,
    why,
  });
}
