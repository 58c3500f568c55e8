import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import { SnapError, systemCode } from '../../errors.js';
import { makeDirectoryDurably, writeCache } from '../../fs/durable.js';
import { readRegularFile } from '../../fs/regular-file.js';

/*
 * The objects that a check of the content found damaged. A hint for those who have no time to read everything: where it is
 * lost, the next check finds them again.
 */

export function notedDamage(dataDir: string): readonly ObjectId[] {
  try {
    return (readRegularFile(pathIn(dataDir), 'latin1').match(/^[0-9a-f]{40}$/gm) ?? []) as ObjectId[];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

export function noteDamage(dataDir: string, objects: Iterable<ObjectId>): void {
  const ids = [...new Set(objects)];
  if (ids.length === 0 && notedDamage(dataDir).length === 0) return;
  try {
    makeDirectoryDurably(join(dataDir, 'cache'));
    writeCache(pathIn(dataDir), ids.map((id) => `${id}\n`).join(''));
  } catch (error) {
    // A hint: without it the next check finds them again.
    if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
  }
}

function pathIn(dataDir: string): string {
  return join(dataDir, 'cache', 'damaged-objects');
}
