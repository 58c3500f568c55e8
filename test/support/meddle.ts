// Single changes to a tree, made as its owner could make them: where a mode is in the way, it is lent and given back.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { toBytes } from './bytes.js';
import { withLentModes } from './lend.js';
import { reach, reachBoth } from './reach.js';
import { removeWithin } from './remove-tree.js';

/** Changes an open file in place: all names of the same inode see it. */
export function changeFile(root: string, path: string, act: (descriptor: number) => void): void {
  const change = (): void => withFile(root, path, constants.O_RDWR | constants.O_NOFOLLOW, act);
  withLentModes(root, path, change, true);
}

/** Replaces a byte by another and puts the mtime back, to the nanosecond. Only ctime tells. */
export function editUnnoticed(root: string, path: string, at: number, change: number): void {
  changeFile(root, path, (descriptor) => {
    const { mtimeNs } = fstatSync(descriptor, { bigint: true });
    const byte = Buffer.alloc(1);
    readSync(descriptor, byte, 0, 1, at);
    byte[0] = byte[0]! ^ change;
    writeSync(descriptor, byte, 0, 1, at);
    setMtime(descriptor, mtimeNs);
  });
}

/** Writes a new file under a new inode and puts it in the place of what is there, keeping the mode. */
export function replaceFile(root: string, path: string, temporary: string, bytes: Buffer): void {
  withLentModes(root, path, () => {
    const { mode } = reach(root, path, (hostPath) => lstatSync(hostPath));
    createFile(root, temporary, bytes, mode & 0o7777);
    reachBoth(root, temporary, path, (from, to) => renameSync(from, to));
  });
}

export function readBytes(root: string, path: string): Buffer {
  return withLentModes(root, path, () => readLent(root, path), true);
}

export function createFile(root: string, path: string, bytes: Buffer, mode = 0o644): void {
  withLentModes(root, path, () => {
    withFile(root, path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (descriptor) => {
      for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    });
    reach(root, path, (hostPath) => chmodSync(hostPath, mode));
  });
}

export function createDirectory(root: string, path: string): void {
  withLentModes(root, path, () => {
    reach(root, path, (hostPath) => mkdirSync(hostPath));
    reach(root, path, (hostPath) => chmodSync(hostPath, 0o755));
  });
}

export function createSymlink(root: string, path: string, target: string): void {
  withLentModes(root, path, () => reach(root, path, (hostPath) => symlinkSync(toBytes(target), hostPath)));
}

/** False where the kernel refuses, as it does for files that are not the caller's own. */
export function createHardLink(root: string, path: string, to: string): boolean {
  const link = (): boolean => reachBoth(root, to, path, (existing, made) => tryLink(existing, made));
  return withLentModes(root, path, () => withLentModes(root, to, link));
}

export function move(root: string, from: string, to: string): void {
  const isDirectory = withLentModes(root, from, () => reach(root, from, (path) => lstatSync(path).isDirectory()));
  const rename = (): void => reachBoth(root, from, to, (source, target) => renameSync(source, target));
  // A directory that changes parents must itself be writable. Its mode travels with it, so it is given back there.
  const mode = isDirectory ? modeOf(root, from) : 0;
  if (isDirectory) setMode(root, from, mode | 0o700);
  withLentModes(root, to, () => withLentModes(root, from, rename));
  if (isDirectory) setMode(root, to, mode);
}

export function remove(root: string, path: string): void {
  withLentModes(root, path, () => removeWithin(root, path));
}

export function unlink(root: string, path: string): void {
  withLentModes(root, path, () => reach(root, path, (hostPath) => unlinkSync(hostPath)));
}

export function setMode(root: string, path: string, mode: number): void {
  withLentModes(root, path, () => reach(root, path, (hostPath) => chmodSync(hostPath, mode)));
}

export function modeOf(root: string, path: string): number {
  return withLentModes(root, path, () => reach(root, path, (hostPath) => lstatSync(hostPath).mode & 0o7777));
}

function readLent(root: string, path: string): Buffer {
  let bytes = Buffer.alloc(0);
  withFile(root, path, constants.O_RDONLY | constants.O_NOFOLLOW, (descriptor) => {
    bytes = Buffer.alloc(fstatSync(descriptor).size);
    for (let done = 0; done < bytes.length;) done += readSync(descriptor, bytes, done, bytes.length - done, done);
  });
  return bytes;
}

function withFile(root: string, path: string, flags: number, act: (descriptor: number) => void): void {
  const descriptor = reach(root, path, (hostPath) => openSync(hostPath, flags, 0o600));
  try {
    act(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function tryLink(existing: Buffer, made: Buffer): boolean {
  try {
    linkSync(existing, made);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return false;
    throw error;
  }
}

// Node sets times as floating point numbers, which cannot hold nanoseconds of this century.
function setMtime(descriptor: number, mtimeNs: bigint): void {
  const date = `@${mtimeNs / 1_000_000_000n}.${(mtimeNs % 1_000_000_000n).toString().padStart(9, '0')}`;
  const run = spawnSync('touch', ['-c', '-m', '-d', date, '/proc/self/fd/3'], {
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`touch failed: ${run.stderr}`);
}
