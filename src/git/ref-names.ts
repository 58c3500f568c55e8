import { type Dirent, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type InstanceName, type Seq, toSeq } from '../core/ids.js';
import { systemCode } from '../errors.js';

/*
 * Which refs there are, read from their names alone: no process, and no object, however many there are. What lies
 * there and is no ref to git has a name, too.
 */

/** The names of the refs below a prefix such as `refs/jackin-pin/`, each once. */
export function refNames(storeDirectory: string, prefix: string): string[] {
  // Loose refs first: one that is packed meanwhile is then found in the second place.
  return [...new Set([...looseRefs(storeDirectory, prefix), ...packedRefs(storeDirectory, prefix)])];
}

/** The numbers of an instance's snapshots, ascending, those of damaged ones too. */
export function snapshotNumbers(storeDirectory: string, instance: InstanceName): Seq[] {
  const prefix = `refs/jackin/${instance}/`;
  return refNames(storeDirectory, prefix)
    .map((name) => toSeq(name.slice(prefix.length)))
    .filter((seq) => seq !== undefined)
    .sort((a, b) => a - b);
}

/** What lies below a prefix as files. */
export function looseRefs(storeDirectory: string, prefix: string): string[] {
  const directory = prefix.replace(/\/+$/, '');
  return entriesOf(join(storeDirectory, directory)).flatMap((entry) => {
    const name = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return looseRefs(storeDirectory, name);
    return name.endsWith('.lock') ? [] : [name];
  });
}

function entriesOf(directory: string): Dirent[] {
  return readIfThere(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

/** What git's `packed-refs` has below a prefix: a line for each ref, its id before its name. */
function packedRefs(storeDirectory: string, prefix: string): string[] {
  const text = readIfThere(() => readFileSync(join(storeDirectory, 'packed-refs'), 'latin1')) ?? '';
  const names = [];
  const wanted = ` ${prefix}`;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at)) {
    const end = text.indexOf('\n', at);
    names.push(text.slice(at + 1, end < 0 ? text.length : end));
    at = end < 0 ? text.length : end;
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
