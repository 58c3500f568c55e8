import { Buffer } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { constants, deflateSync } from 'node:zlib';

import type { ObjectId } from '../../core/ids.js';
import type { TreeEntry } from '../../core/ports.js';
import { SnapError } from '../../errors.js';

/*
 * How git objects look: their ids, their place in a pack, and the encoding of trees. Pure functions of bytes, so that
 * any thread may run them.
 */

/** Tags are none of the store's, but of repositories that are restored. */
export type StoredType = 'commit' | 'tree' | 'blob' | 'tag';

const typeNumbers = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/** "PACK", version 2, then the number of objects. */
export function packHeader(objects: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(objects, 8);
  return header;
}

const hashedAtOnce = 64 * 1024;
const hashed = Buffer.allocUnsafeSlow(hashedAtOnce + 32);

/** The object's id: SHA-1 over its type, size and content. */
export function hashObject(type: StoredType, content: Uint8Array): ObjectId {
  const header = objectHeader(type, content.length);
  if (content.length > hashedAtOnce) {
    return createHash('sha1').update(header).update(content).digest('hex') as ObjectId;
  }
  // One call for header and content takes a fraction of the time of a hash that is made, fed twice and asked.
  const start = hashed.write(header, 'latin1');
  hashed.set(content, start);
  return hash('sha1', hashed.subarray(0, start + content.length), 'hex') as ObjectId;
}

/** What comes before the content when an id is computed. */
export function objectHeader(type: string, size: number): string {
  return `${type} ${String(size)}\0`;
}

/** A whole object as it stands in a pack: never a delta. */
export function encodeObject(type: StoredType, content: Uint8Array): Buffer {
  return Buffer.concat([entryHeader(type, content.length), deflate(content)]);
}

/** Type and size of the object, before its deflated content. */
export function entryHeader(type: StoredType, size: number): Buffer {
  const bytes = [];
  let current = (typeNumbers[type] << 4) | (size & 0x0f);
  // Sizes go beyond 32 bits: no bit operators on them.
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(current | 0x80);
    current = rest % 128;
  }
  bytes.push(current);
  return Buffer.from(bytes);
}

const sampleBytes = 16 * 1024;
const sampledFrom = 4 * sampleBytes;

/** The compression level for content of which this is the beginning: none where it would not pay. */
export function levelFor(content: Uint8Array): 0 | 1 {
  if (content.length < sampledFrom) return 1;
  const sample = content.subarray(0, sampleBytes);
  return deflateSync(sample, { level: 1 }).length < sample.length * 0.98 ? 1 : 0;
}

function deflate(content: Uint8Array): Buffer {
  const memory = memoryFor(content.length);
  if (levelFor(content) === 1) {
    const deflated = deflateSync(content, { ...memory, level: constants.Z_BEST_SPEED });
    if (deflated.length < content.length) return deflated;
  }
  return deflateSync(content, { ...memory, level: constants.Z_NO_COMPRESSION });
}

/**
 * No more window and tables than the content can use, and output in one piece: for small objects, getting memory ready
 * takes as long as deflating does. A reader takes the window's size from the stream.
 */
function memoryFor(size: number): { windowBits: number; memLevel: number; chunkSize: number } {
  // zlib refers back as far as the window, less the longest match and some.
  const windowBits = Math.min(Math.max(32 - Math.clz32(size + 261), constants.Z_MIN_WINDOWBITS + 1), 15);
  return { windowBits, memLevel: 7, chunkSize: size + (size >> 7) + 64 };
}

/**
 * A tree's content: entries in git's order, in which a directory's name counts as if it ended with a slash.
 * @throws SnapError INTERNAL for a name or mode that no tree of ours has, and for a name that comes twice.
 */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const names = new Set<string>();
  let length = 0;
  const keyed = entries.map((entry) => {
    checkEntry(entry, names);
    const mode = entry.mode.toString(8);
    length += mode.length + entry.name.length + 22;
    return { entry, mode, key: entry.mode === directoryMode ? `${entry.name}/` : entry.name };
  });
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  const content = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { entry, mode } of keyed) {
    at += content.write(`${mode} ${entry.name}\0`, at, 'latin1');
    at += content.write(entry.oid, at, 'hex');
  }
  return content;
}

/** The entries of a tree's content, in its order. @throws SnapError STORE_DAMAGED when it is no tree. */
export function decodeTree(content: Buffer): TreeEntry[] {
  const entries = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const nul = content.indexOf(0, space);
    if (space < 0 || nul < 0 || nul + 20 > content.length - 1) throw noTree();
    const mode = parseInt(content.toString('latin1', at, space), 8);
    const oid = content.toString('hex', nul + 1, nul + 21) as ObjectId;
    entries.push({ mode, name: content.toString('latin1', space + 1, nul), oid });
    at = nul + 21;
  }
  return entries;
}

function noTree(): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', 'The store holds a tree that has no form.', { problem: 'a tree has no form' });
}

export const directoryMode = 0o40000;
const modes: ReadonlySet<number> = new Set([directoryMode, 0o100644, 0o100755, 0o120000]);

function checkEntry(entry: TreeEntry, names: Set<string>): void {
  const problem = problemOf(entry, names);
  if (problem !== undefined) {
    throw new SnapError('INTERNAL', `${JSON.stringify(entry.name)} cannot stand in a tree: ${problem}.`, {
      what: `tree entry: ${problem}`,
    });
  }
  names.add(entry.name);
}

function problemOf({ name, mode, oid }: TreeEntry, names: ReadonlySet<string>): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'the name means no entry';
  if (!/^[\x01-\x2e\x30-\xff]+$/.test(name)) return 'the name has a slash, a NUL or a character that is no byte';
  if (!modes.has(mode)) return `mode ${mode.toString(8)} is not used`;
  if (!/^[0-9a-f]{40}$/.test(oid)) return 'the id is none';
  return names.has(name) ? 'the name comes twice' : undefined;
}
