import { type Dirent, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { type InstanceName, type ObjectId, type Seq, toSeq, zeroObjectId } from '../core/ids.js';
import { systemCode } from '../errors.js';
import { packedNames, packedPlaces, packedValue } from './packed-refs.js';
import { refuseOtherKind } from './ref-kinds.js';

/*
 * Which refs there are, and what they name, read without a process and without an object, however many there are. What
 * lies there and is no ref to git has a name, too.
 */

/** The names of the refs below a prefix such as `refs/jackin-pin/`, each once. */
export function refNames(storeDirectory: string, prefix: string): string[] {
  // Loose refs first: one that is packed meanwhile is then found in the second place.
  return [...new Set([...looseRefs(storeDirectory, prefix), ...packedNames(storeDirectory, prefix)])];
}

/** The numbers of an instance's snapshots, ascending, those of damaged ones too. Without a string for each name. */
export function snapshotNumbers(storeDirectory: string, instance: InstanceName): Seq[] {
  const prefix = `refs/jackin/${instance}/`;
  // Loose refs first, as above.
  const numbers = looseRefs(storeDirectory, prefix).flatMap((name) => toSeq(name.slice(prefix.length)) ?? []);
  const { text, places } = packedPlaces(storeDirectory, prefix);
  for (const [start, end] of places) {
    const seq = seqIn(text, start + prefix.length, end);
    if (seq !== undefined) numbers.push(seq);
  }
  const ascending = Float64Array.from(numbers).sort();
  return Array.from(
    ascending.filter((seq, at) => seq !== ascending[at - 1]),
    (seq) => seq as Seq,
  );
}

/** What `toSeq` says of a part of a text. */
function seqIn(text: string, start: number, end: number): Seq | undefined {
  let seq = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    seq = seq * 10 + digit;
  }
  const isPlain = end > start && end - start <= 15 && text.charCodeAt(start) !== 0x30;
  return isPlain ? (seq as Seq) : undefined;
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

function readIfThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
