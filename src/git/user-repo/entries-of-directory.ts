import { Buffer } from 'node:buffer';
import { closeSync, constants, fsyncSync, mkdirSync, openSync, unlinkSync } from 'node:fs';

import { systemCode } from '../../errors.js';
import { orNoSpace, writeFully } from '../../fs/durable.js';
import type { GuardedDirectory } from './guarded-directory.js';

/*
 * The names in a directory of a user's repository that is held by its descriptor: whatever is swapped meanwhile, they are
 * names in that very directory. Names are bytes.
 */

/** For calls that take a path; no more than a name may follow it. */
export function pathOfEntry(directory: GuardedDirectory, name: string): Buffer {
  return Buffer.from(`${directory.descriptorPath}/${name}`, 'latin1');
}

/** Makes durable which names there are, and what they stand for. */
export function syncDirectory(directory: GuardedDirectory): void {
  const descriptor = openSync(directory.descriptorPath, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes a directory, durably, where nothing has the name. */
export function makeDirectoryIfAbsent(parent: GuardedDirectory, name: string): void {
  try {
    mkdirSync(pathOfEntry(parent, name));
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    return;
  }
  syncDirectory(parent);
}

/**
 * Writes to a file, which is made where it is missing; durable, but for its name.
 * @throws a system error (EEXIST with O_EXCL), SnapError NO_SPACE
 */
export function writeFile(parent: GuardedDirectory, name: string, content: Uint8Array | string, flags: number): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
  const how = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK | flags;
  orNoSpace(name, () => {
    const descriptor = openSync(pathOfEntry(parent, name), how, 0o666);
    try {
      writeFully(descriptor, bytes);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Removes a file. False when nothing was there. */
export function removeFileIfThere(directory: GuardedDirectory, name: string): boolean {
  return unlessAbsent(() => unlinkSync(pathOfEntry(directory, name)));
}

/** Takes something away; false when it was not there. */
export function unlessAbsent(takeAway: () => void): boolean {
  try {
    takeAway();
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}
