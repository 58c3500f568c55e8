import { readdirSync } from 'node:fs';

import { systemCode } from '../errors.js';

/** The names in a directory; none where it is missing. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
