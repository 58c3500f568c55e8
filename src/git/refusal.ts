import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';

import { systemCode } from '../errors.js';

/** Where git makes something in the store. */
const written = ['.', 'objects', 'objects/pack', 'refs', 'refs/jackin', 'refs/replace'];
const refusals: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * A directory of the store that may not be written, if there is one. Asked after a git process failed, whose message
 * may be in any language.
 */
export function refusedDirectory(storeDirectory: string, besides: readonly string[] = []): string | undefined {
  return [...written, ...besides].map((part) => resolve(storeDirectory, part)).find(isRefused);
}

function isRefused(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return false;
  } catch (error) {
    return refusals.has(systemCode(error));
  }
}
