import { type Dirent, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type InstanceName, type ObjectId, type Seq, toSeq, zeroObjectId } from '../core/ids.js';
import { systemCode } from '../errors.js';
import { refuseOtherKind } from './ref-kinds.js';

/*
 * Which refs there are, and what they name, read without a process and without an object, however many there are. What
 * lies there and is no ref to git has a name, too.
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

/** A ref's value, where it is written as git usually writes it; undefined where git has to be asked. */
export function plainRef(storeDirectory: string, name: string): ObjectId | undefined {
  // Loose first, as above.
  const loose = readIfThere(() => looseText(join(storeDirectory, name)));
  const oid = loose === undefined ? packedValue(storeDirectory, name) : /^([0-9a-f]{40})\n$/.exec(loose)?.[1];
  return oid === undefined || oid === zeroObjectId ? undefined : (oid as ObjectId);
}

/** A link is no plain ref, wherever it leads. */
function looseText(path: string): string {
  return lstatSync(path).isFile() ? readFileSync(path, 'latin1') : '';
}

function packedValue(storeDirectory: string, name: string): string | undefined {
  const text = packedText(storeDirectory);
  const at = text.indexOf(` ${name}\n`);
  return at < 0 ? undefined : /^\n?([0-9a-f]{40})$/.exec(text.slice(Math.max(0, at - 41), at))?.[1];
}

/**
 * What lies below a prefix as files. Done before git is let to it.
 * @throws SnapError STORE_DAMAGED where something lies there that is neither file nor directory.
 */
export function looseRefs(storeDirectory: string, prefix: string): string[] {
  const directory = prefix.replace(/\/+$/, '');
  return entriesOf(join(storeDirectory, directory)).flatMap((entry) => {
    const name = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return looseRefs(storeDirectory, name);
    refuseOtherKind(storeDirectory, name, entry);
    return name.endsWith('.lock') ? [] : [name];
  });
}

function entriesOf(directory: string): Dirent[] {
  return readIfThere(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

/** What git's `packed-refs` has below a prefix: a line for each ref, its id before its name. */
function packedRefs(storeDirectory: string, prefix: string): string[] {
  const text = packedText(storeDirectory);
  const names = [];
  const wanted = ` ${prefix}`;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at)) {
    const end = text.indexOf('\n', at);
    names.push(text.slice(at + 1, end < 0 ? text.length : end));
    at = end < 0 ? text.length : end;
  }
  return names;
}

function packedText(storeDirectory: string): string {
  return readIfThere(() => readFileSync(join(storeDirectory, 'packed-refs'), 'latin1')) ?? '';
}

function readIfThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
