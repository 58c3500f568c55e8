import { type Dirent, readdirSync } from 'node:fs';

import { systemCode } from '../errors.js';

/** The names in a directory; none where it is missing. */
export function namesIn(directory: string): string[] {
  return entriesIn(directory).map(({ name }) => name);
}

/** What is in a directory; nothing where it is missing, or is none. */
export function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}
