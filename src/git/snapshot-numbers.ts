import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type InstanceName, type Seq, toSeq } from '../core/ids.js';
import { systemCode } from '../errors.js';

/**
 * The numbers of an instance's snapshots, ascending, those of damaged ones too. Read from the names of refs alone: no
 * process, and no commit, however many there are.
 */
export function snapshotNumbers(storeDirectory: string, instance: InstanceName): Seq[] {
  const prefix = `refs/jackin/${instance}/`;
  // Loose refs first: one that is packed meanwhile is then found in the second place.
  const names = [...looseNames(join(storeDirectory, prefix)), ...packedNames(storeDirectory, prefix)];
  const numbers = new Set(names.map(toSeq).filter((seq) => seq !== undefined));
  return [...numbers].sort((a, b) => a - b);
}

function looseNames(directory: string): string[] {
  const entries = readIfThere(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

/** What follows the prefix in git's `packed-refs`: a line for each ref, its id before its name. */
function packedNames(storeDirectory: string, prefix: string): string[] {
  const text = readIfThere(() => readFileSync(join(storeDirectory, 'packed-refs'), 'latin1')) ?? '';
  const names = [];
  const wanted = ` ${prefix}`;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at)) {
    const start = at + wanted.length;
    const end = text.indexOf('\n', start);
    at = end < 0 ? text.length : end;
    names.push(text.slice(start, at));
  }
  return names;
}

function readIfThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
