import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, statfsSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import { isNoSpace, writeFully } from '../fs/durable.js';

const probeBytes = 256 * 1024;
/** More files than git makes at a time. What it made before it failed it has removed: trying one would tell nothing. */
const probeFiles = 32;

/**
 * True when nothing more can be written to the directory. Asked after a git process failed, whose message may be in
 * any language: so the answer comes from trying (quotas show in no other way), not from what git said.
 */
export function isDiskFull(directory: string): boolean {
  const path = join(directory, `probe.${randomBytes(8).toString('hex')}.new`);
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory);
    if (bavail * bsize < probeBytes) return true;
    // Where there is no such limit, both are 0.
    if (files > 0 && ffree < probeFiles) return true;
    return !canWrite(path);
  } catch (error) {
    if (isNoSpace(error)) return true;
    // The directory is unreadable, read-only or gone: whatever is wrong, it is not space.
    return false;
  }
}

/** Bytes that may still be written below the directory. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function canWrite(path: string): boolean {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFully(fd, Buffer.alloc(probeBytes, 1));
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
    unlinkSync(path);
  }
}
