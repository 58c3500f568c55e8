import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { fromBytes, joinPath } from './bytes.js';
import { reach } from './reach.js';

/**
 * Removes a tree, whatever its modes, names and path lengths, and follows no link. A root that is missing is fine.
 * What an ordinary user cannot remove (a directory of someone else) fails with the system's error.
 */
export function removeTree(root: string): void {
  removeWithin(root, '');
}

/** Removes one path of a tree and all below it. */
export function removeWithin(root: string, path: string): void {
  if (existsAsDirectory(root, path)) emptyDirectory(root, path);
  removeOne(root, path);
}

function emptyDirectory(root: string, path: string): void {
  makeWritable(root, path);
  const listed = reach(root, path, (hostPath) => readdirSync(hostPath, { encoding: 'buffer', withFileTypes: true }));
  for (const entry of listed) {
    const child = joinPath(path, fromBytes(entry.name));
    if (entry.isDirectory()) emptyDirectory(root, child);
    removeOne(root, child);
  }
}

function makeWritable(root: string, path: string): void {
  reach(root, path, (hostPath) => {
    const mode = lstatSync(hostPath).mode & 0o7777;
    if ((mode & 0o700) !== 0o700) chmodSync(hostPath, mode | 0o700);
  });
}

function removeOne(root: string, path: string): void {
  reach(root, path, (hostPath) => {
    try {
      if (lstatSync(hostPath).isDirectory()) rmdirSync(hostPath);
      else unlinkSync(hostPath);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  });
}

function existsAsDirectory(root: string, path: string): boolean {
  return reach(root, path, (hostPath) => lstatSync(hostPath, { throwIfNoEntry: false })?.isDirectory() === true);
}
