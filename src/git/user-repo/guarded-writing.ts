import { constants, renameSync, rmdirSync, unlinkSync } from 'node:fs';

import { SnapError, systemCode } from '../../errors.js';
import {
  makeDirectoryIfAbsent,
  pathOfEntry,
  removeFileIfThere,
  syncDirectory,
  writeFile,
} from './entries-of-directory.js';
import type { GuardedDirectory } from './guarded-directory.js';

/*
 * Writing in a user's repository: through held directories, so that no link leads elsewhere, durably, and under the lock
 * files that git uses. Names are bytes.
 */

/** Enters a directory, which is made where it is missing. */
export function enterOrMake(parent: GuardedDirectory, name: string): GuardedDirectory {
  makeDirectoryIfAbsent(parent, name);
  const entered = parent.enter(name);
  if (entered.kind === 'read') return entered.value;
  throw inTheWay(name, entered.kind === 'absent' ? 'it is no directory' : entered.why);
}

/** Does something in the directory of a path, whose parents are made where they are missing. */
export function inDirectoryOf(
  directory: GuardedDirectory,
  path: string,
  act: (parent: GuardedDirectory, name: string) => void,
): void {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const opened: GuardedDirectory[] = [];
  try {
    let parent = directory;
    for (const each of names) opened.push((parent = enterOrMake(parent, each)));
    act(parent, name);
  } finally {
    for (const each of opened) each.close();
  }
}

/**
 * Replaces a file under git's lock for it. `check` says, under the lock, whether it may be; then `content` is made
 * durable and takes the file's place.
 * @throws SnapError BUSY when somebody else has the lock
 */
export function replaceLocked(
  directory: GuardedDirectory,
  path: string,
  content: Uint8Array | string,
  check: () => void = () => undefined,
): void {
  inDirectoryOf(directory, path, (parent, name) => {
    lock(parent, `${name}.lock`, content);
    let isPlaced = false;
    try {
      check();
      renameSync(pathOfEntry(parent, `${name}.lock`), pathOfEntry(parent, name));
      isPlaced = true;
      syncDirectory(parent);
    } finally {
      if (!isPlaced) unlinkSync(pathOfEntry(parent, `${name}.lock`));
    }
  });
}

/** Removes a file under git's lock for it. */
export function removeLocked(directory: GuardedDirectory, path: string, check: () => void): void {
  inDirectoryOf(directory, path, (parent, name) => {
    lock(parent, `${name}.lock`, '');
    try {
      check();
      removeFileIfThere(parent, name);
      syncDirectory(parent);
    } finally {
      unlinkSync(pathOfEntry(parent, `${name}.lock`));
    }
  });
}

function lock(parent: GuardedDirectory, name: string, content: Uint8Array | string): void {
  try {
    writeFile(parent, name, content, constants.O_EXCL);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new SnapError('BUSY', `Another git has the lock ${JSON.stringify(name)}.`, { lock: name, holder: '' });
  }
}

/** Writes a file that was not there, durably. */
export function writeNew(parent: GuardedDirectory, name: string, content: Uint8Array | string): void {
  writeFile(parent, name, content, constants.O_EXCL);
  syncDirectory(parent);
}

const depthLimit = 64;

/** Takes away a directory in which there is nothing but directories, as refs that are gone leave it. */
export function removeEmptyDirectories(directory: GuardedDirectory, path: string, depth: number = depthLimit): void {
  const at = path.lastIndexOf('/');
  const parent = directory.enter(at < 0 ? '.' : path.slice(0, at));
  if (parent.kind !== 'read') return;
  const name = path.slice(at + 1);
  try {
    const names = parent.value.list(name);
    if (names.kind !== 'read' || depth === 0) return;
    for (const each of names.value) removeEmptyDirectories(parent.value, `${name}/${each}`, depth - 1);
    rmdirSync(pathOfEntry(parent.value, name));
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    parent.value.close();
  }
}

/** Adds to the end of a file that is there; nothing where there is none. */
export function appendIfThere(directory: GuardedDirectory, path: string, content: string): void {
  const file = directory.openFile(path);
  if (file.kind !== 'read') return;
  file.value.close();
  inDirectoryOf(directory, path, (parent, name) => {
    writeFile(parent, name, content, constants.O_APPEND);
  });
}

function inTheWay(name: string, why: string): SnapError<'GIT_STATE_REFUSED'> {
  return new SnapError('GIT_STATE_REFUSED', `${JSON.stringify(name)} in the repository cannot be entered: ${why}.`, {
    path: name,
    why,
  });
}
