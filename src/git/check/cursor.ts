import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import { SnapError, systemCode } from '../../errors.js';
import { makeDirectoryDurably, writeCache } from '../../fs/durable.js';
import { readRegularFile } from '../../fs/regular-file.js';
import type { GitRunner } from '../run-git.js';

/*
 * Where the last check of a part of the content ended. A hint: any place is a right one to begin at.
 */

/** The object that was checked last; undefined when that is not known. */
export function readCursor(git: GitRunner): ObjectId | undefined {
  try {
    const [, id] = /^([0-9a-f]{40})\n$/.exec(readRegularFile(cursorPath(git), 'latin1')) ?? [];
    return id as ObjectId | undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function writeCursor(git: GitRunner, last: ObjectId): void {
  try {
    makeDirectoryDurably(join(git.settings.dataDir, 'cache'));
    writeCache(cursorPath(git), `${last}\n`);
  } catch (error) {
    // A cache: without it the next check begins elsewhere.
    if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
  }
}

function cursorPath(git: GitRunner): string {
  return join(git.settings.dataDir, 'cache', 'content-checked');
}
