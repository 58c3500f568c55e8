import type { Buffer } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Of a pipe nobody waits for its other end. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * A file of ours, whole. What else has its name would be waited for, or give bytes for ever.
 * @throws the system's error; EISDIR for a directory, ENXIO for a pipe, a device or a socket
 */
export function readRegularFile(path: string): Buffer;
export function readRegularFile(path: string, encoding: 'latin1' | 'utf8'): string;
export function readRegularFile(path: string, encoding?: 'latin1' | 'utf8'): Buffer | string {
  const fd = openRegularFile(path);
  try {
    return readFileSync(fd, encoding);
  } finally {
    closeSync(fd);
  }
}

/** The same to read in parts. */
export function openRegularFile(path: string): number {
  const fd = openSync(path, openFlags);
  try {
    const stat = fstatSync(fd);
    if (stat.isFile()) return fd;
    const code = stat.isDirectory() ? 'EISDIR' : 'ENXIO';
    throw Object.assign(new Error(`${code}: no regular file, open '${path}'`), { code, path });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
