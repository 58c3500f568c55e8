import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { SnapError, systemCode } from '../errors.js';

/*
 * Writing that survives a power cut: content is on the disk before its name is, and the name before the call returns.
 * A full file system (or quota) is SnapError NO_SPACE; other system errors pass as they are. A failed fsync is a
 * failed write: it is never tried again, since the kernel forgets what it could not write.
 */

/**
 * Replaces the file at `path`, or makes it, in one step. A crash leaves the old file or the new one, and perhaps an
 * unfinished file beside it (see `isUnfinished`).
 */
export function writeDurably(path: string, content: Uint8Array | string, mode = 0o600): void {
  replaceFile(path, content, { mode, durable: true });
  syncDirectory(dirname(path));
}

/**
 * The same for a cache whose reader recognizes what a power cut may leave: the old file, the new one, or one that is
 * empty or torn.
 */
export function writeCache(path: string, content: Uint8Array | string): void {
  replaceFile(path, content, { mode: 0o600, durable: false });
}

function replaceFile(path: string, content: Uint8Array | string, options: Parameters<typeof writeNewFile>[2]): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  orNoSpace(path, () => {
    let left = triesWhenSwept;
    while (!replacedFile(path, bytes, options, left === 0)) left -= 1;
  });
}

/** How often a file is written anew when somebody else's sweep took it for a leftover before it got its name. */
const triesWhenSwept = 9;

function replacedFile(
  path: string,
  bytes: Uint8Array,
  options: Parameters<typeof writeNewFile>[2],
  isLastTry: boolean,
): boolean {
  const unfinished = `${path}.${randomBytes(8).toString('hex')}.new`;
  try {
    writeNewFile(unfinished, bytes, options);
    renameSync(unfinished, path);
    return true;
  } catch (error) {
    const wasSwept = systemCode(error) === 'ENOENT' && isDirectory(dirname(path));
    if (wasSwept && !isLastTry) return false;
    removeIfThere(unfinished);
    throw error;
  }
}

/** True for a name that only an interrupted `writeDurably` or `writeCache` leaves behind. */
export function isUnfinished(name: string): boolean {
  return /\.[0-9a-f]{16}\.new$/.test(name);
}

/** Removes what interrupted calls of `writeDurably` left in a directory, be it there or not. */
export function removeUnfinished(directory: string): void {
  for (const name of unfinishedIn(directory)) removeIfThere(join(directory, name));
}

export function unfinishedIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter(isUnfinished);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

/** Makes the names in a directory as durable as their files. */
export function syncDirectory(path: string): void {
  orNoSpace(path, () => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** Makes the directory and those above it that are missing, each with exactly this mode, whatever the umask. */
export function makeDirectoryDurably(path: string, mode = 0o700): void {
  orNoSpace(path, () => {
    if (isDirectory(path)) return;
    const parent = dirname(path);
    if (parent !== path) makeDirectoryDurably(parent, mode);
    try {
      mkdirSync(path, mode);
      chmodSync(path, mode);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST' || !isDirectory(path)) throw error;
    }
    syncDirectory(parent);
  });
}

/** A new directory with an unguessable name, for this process alone. Not durable: what lies in it is unfinished. */
export function makeScratchDirectory(parent: string): string {
  const path = join(parent, randomBytes(16).toString('hex'));
  makeDirectoryDurably(parent);
  orNoSpace(parent, () => {
    mkdirSync(path, 0o700);
  });
  return path;
}

/** Runs a write; a full disk or quota becomes NO_SPACE. */
export function orNoSpace<Result>(path: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    throw isNoSpace(error) ? noSpace(path, error) : error;
  }
}

export function isNoSpace(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export function noSpace(path: string, cause?: unknown): SnapError<'NO_SPACE'> {
  return new SnapError('NO_SPACE', `No space is left for ${JSON.stringify(path)}.`, { path }, { cause });
}

/** A file that must not be there yet; with `durable`, its content is on the disk, its name not before the directory is. */
export function writeNewFile(
  path: string,
  bytes: Uint8Array,
  options: { readonly mode: number; readonly durable: boolean },
): void {
  orNoSpace(path, () => {
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      writeFully(fd, bytes);
      fchmodSync(fd, options.mode);
      if (options.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** Writes all of `bytes`, however many calls that takes. */
export function writeFully(fd: number, bytes: Uint8Array, position: number | null = null): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, position === null ? null : position + written);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
