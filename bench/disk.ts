import { spawnSync } from 'node:child_process';
import { closeSync, lstatSync, mkdirSync, openSync, readSync, readdirSync, readlinkSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes that the file system spends on a folder and all below it. */
export function diskUsage(path: string): number {
  const stats = lstatSync(path);
  const own = stats.blocks * 512;
  if (!stats.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + diskUsage(join(path, name)), own);
}

/** Removes folders with all that is in them; what is not there is fine. */
export function remove(...paths: readonly string[]): void {
  const { status } = spawnSync('rm', ['-rf', '--', ...paths], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`cannot remove ${paths.join(', ')}.`);
}

export function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) remove(join(path, name));
}

/** Moves all that is in one folder to another, which is made. The first stays, empty. */
export function moveContent(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name));
}

/**
 * Fails unless both folders hold the same: names, kinds, permissions, contents, targets of links. Walks both in its own
 * way, side by side, and knows nothing of how either was made.
 */
export function expectSameTree(expected: string, found: string): void {
  const wanted = lstatSync(expected);
  const is = lstatSync(found, { throwIfNoEntry: false });
  if (is === undefined) throw new Error(`${found} is missing.`);
  if (wanted.isDirectory() && is.isDirectory()) expectSameChildren(expected, found);
  else expectSame(`${found}: kind and permissions`, wanted.mode, is.mode);
  if (wanted.isSymbolicLink()) expectSame(`${found}: target`, readlinkSync(expected), readlinkSync(found));
  if (!wanted.isFile()) return;
  expectSame(`${found}: size`, wanted.size, is.size);
  expectSameContent(expected, found);
}

function expectSameChildren(expected: string, found: string): void {
  const names = readdirSync(expected).sort();
  expectSame(`${found}: names`, names.join('/'), readdirSync(found).sort().join('/'));
  for (const name of names) {
    expectSame(`${join(found, name)}: mode`, lstatSync(join(expected, name)).mode, lstatSync(join(found, name)).mode);
    expectSameTree(join(expected, name), join(found, name));
  }
}

function expectSameContent(expected: string, found: string): void {
  const files = [openSync(expected, 'r'), openSync(found, 'r')] as const;
  try {
    for (;;) {
      const length = readSync(files[0], buffers[0], 0, chunk, null);
      readSync(files[1], buffers[1], 0, chunk, null);
      if (length === 0) return;
      const same = buffers[0].subarray(0, length).equals(buffers[1].subarray(0, length));
      expectSame(`${found}: content`, true, same);
    }
  } finally {
    files.forEach(closeSync);
  }
}

const chunk = 1 << 20;
const buffers = [Buffer.alloc(chunk), Buffer.alloc(chunk)] as const;

/** Fails unless both are equal: what a command did is wrong, and its time means nothing. */
export function expectSame<T>(what: string, wanted: T, found: T): void {
  if (wanted !== found) throw new Error(`${what}: expected ${String(wanted)}, found ${String(found)}.`);
}
