import { constants, mkdirSync, renameSync, rmdirSync } from 'node:fs';

import { SnapError, systemCode } from '../../errors.js';
import {
  makeDirectoryIfAbsent,
  pathOfEntry,
  removeFileIfThere,
  syncDirectory,
  unlessAbsent,
  writeFile,
} from '../user-repo/entries-of-directory.js';
import type { GuardedDirectory } from '../user-repo/guarded-directory.js';

/*
 * Writing in a user's repository: through held directories, so that no link leads elsewhere, and durably. Names are bytes.
 */

/** Enters a directory, which is made where it is missing. */
export function enterOrMake(parent: GuardedDirectory, name: string): GuardedDirectory {
  try {
    makeDirectoryIfAbsent(parent, name);
  } catch (error) {
    throw refused(error, name);
  }
  return enter(parent, name);
}

/** A directory that was not there before. */
export function makeNew(parent: GuardedDirectory, name: string): GuardedDirectory {
  try {
    mkdirSync(pathOfEntry(parent, name));
  } catch (error) {
    throw refused(error, name);
  }
  syncDirectory(parent);
  return enter(parent, name);
}

export function enter(parent: GuardedDirectory, name: string): GuardedDirectory {
  const entered = parent.enter(name);
  if (entered.kind === 'read') return entered.value;
  throw cannotWrite(name, entered.kind === 'absent' ? 'there is no such directory' : entered.why);
}

/** A file that was not there before; durable, but for its name. */
export function makeFile(directory: GuardedDirectory, name: string, content: Uint8Array | string): void {
  try {
    writeFile(directory, name, content, constants.O_EXCL);
  } catch (error) {
    throw refused(error, name);
  }
}

export function rename(directory: GuardedDirectory, from: string, to: string): void {
  renameSync(pathOfEntry(directory, from), pathOfEntry(directory, to));
  syncDirectory(directory);
}

/** Removes a directory of the repository and all that is in it. */
export function removeAll(parent: GuardedDirectory, ...[name = '', ...names]: readonly string[]): void {
  if (names.length > 0) {
    const below = enter(parent, name);
    try {
      removeAll(below, ...names);
    } finally {
      below.close();
    }
    return;
  }
  const entered = parent.enter(name);
  if (entered.kind === 'absent') return;
  if (entered.kind === 'unreadable') throw cannotWrite(name, entered.why);
  const directory = entered.value;
  try {
    const names = directory.list('.');
    if (names.kind !== 'read') throw cannotWrite(name, 'it cannot be read');
    for (const each of names.value) {
      if (isDirectory(directory, each)) removeAll(directory, each);
      else removeFileIfThere(directory, each);
    }
  } finally {
    directory.close();
  }
  unlessAbsent(() => rmdirSync(pathOfEntry(parent, name)));
  syncDirectory(parent);
}

function isDirectory(parent: GuardedDirectory, name: string): boolean {
  const entered = parent.enter(name);
  if (entered.kind === 'read') entered.value.close();
  return entered.kind === 'read';
}

function refused(error: unknown, name: string): Error {
  const code = systemCode(error);
  if (code === undefined || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO') return error as Error;
  return cannotWrite(name, code === 'EEXIST' ? 'it is there already' : code, error);
}

function cannotWrite(name: string, why: string, cause?: unknown): SnapError<'REPOSITORY_UNSUITABLE'> {
  const message = `In the repository's own directory, ${JSON.stringify(name)} cannot be written: ${why}.`;
  return new SnapError('REPOSITORY_UNSUITABLE', message, { path: name, why }, { cause });
}
