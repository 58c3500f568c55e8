import { join } from 'node:path';

import { SnapError, systemCode } from '../../errors.js';
import { makeDirectoryDurably, writeCache } from '../../fs/durable.js';
import { readRegularFile } from '../../fs/regular-file.js';

/** From how many bytes of objects on it is worth to look for garbage again; undefined when nobody has noted it. */
export function nextLook(dataDir: string): number | undefined {
  try {
    const text = readRegularFile(pathOf(dataDir), 'latin1');
    return /^\d{1,16}\n$/.test(text) ? Number(text) : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function noteNextLook(dataDir: string, bytes: number): void {
  try {
    makeDirectoryDurably(join(dataDir, 'cache'));
    writeCache(pathOf(dataDir), `${String(Math.round(bytes))}\n`);
  } catch (error) {
    // A cache: without it somebody looks sooner.
    if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
  }
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'cache', 'next-look');
}
