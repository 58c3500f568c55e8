import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';
import type { Reading } from './guarded-directory.js';
import { read, unreadable } from './guarded-directory.js';
import { TrackedIndex } from './tracked-index.js';

/*
 * The index, versions 2 to 4, as bytes. Names are not decoded. Hostile input ends in words, never in a crash, a hang or
 * an allocation that the file's own size does not justify.
 */

const headerLength = 12;
const checksumLength = 20;
/** Up to and with the flags; the shortest name is one byte, and in version 4 a name may be all of the one before it. */
const fixedLength = 62;
const extendedFlag = 0x4000;

/** @param modifiedNs when the index itself was last written: what changed since then may look unchanged. */
export function parseIndex(content: Buffer, modifiedNs: bigint): Reading<TrackedIndex> {
  const problem = headerProblem(content);
  if (problem !== undefined) return unreadable(problem);
  const version = content.readUInt32BE(4);
  const entries = readEntries(content, version, content.readUInt32BE(8));
  if (entries === undefined) return unreadable('the index is damaged');
  const extensions = readExtensions(content, entries.end);
  if (typeof extensions === 'string') return unreadable(extensions);
  if (entries.odd) return unreadable('the index is damaged');
  return read(new TrackedIndex(content, entries.names, entries.offsets, extensions.cachedRootTree, modifiedNs));
}

function headerProblem(content: Buffer): string | undefined {
  if (content.length < headerLength + checksumLength || content.toString('latin1', 0, 4) !== 'DIRC')
    return 'the index is damaged';
  const version = content.readUInt32BE(4);
  if (version < 2 || version > 4) return `index version ${version}`;
  // index.skipHash leaves zeros.
  const stored = content.subarray(-checksumLength);
  if (stored.every((byte) => byte === 0)) return undefined;
  const computed = createHash('sha1').update(content.subarray(0, -checksumLength)).digest();
  return computed.equals(stored) ? undefined : 'the index is damaged: its checksum is wrong';
}

interface Entries {
  readonly names: readonly string[];
  readonly offsets: Uint32Array;
  readonly end: number;
  /** They are no list of paths in order, which only a split or sparse index may be. */
  readonly odd: boolean;
}

function readEntries(content: Buffer, version: number, count: number): Entries | undefined {
  const end = content.length - checksumLength;
  // A count that the file cannot hold is not believed.
  if (count > (end - headerLength) / fixedLength) return undefined;
  const names: string[] = [];
  // Version 4 shares the beginnings of names: a small file could stand for endless ones.
  let budget = Math.min(longestNames, 16 * content.length);
  const offsets = new Uint32Array(count);
  let at = headerLength;
  let before: StagedName = { name: '', stage: -1 };
  let odd = false;
  for (let index = 0; index < count; index += 1) {
    const entry = version === 4 ? compressedName(content, at, end, before.name) : paddedName(content, at, end);
    budget -= entry?.name.length ?? 0;
    if (entry === undefined || budget < 0) return undefined;
    const staged = { name: entry.name, stage: (content.readUInt16BE(at + 60) >> 12) & 3 };
    odd ||= !isPath(staged.name) || !isAfter(staged, before);
    names.push(staged.name);
    offsets[index] = at;
    before = staged;
    at = entry.end;
  }
  return { names, offsets, end: at, odd };
}

interface StagedName {
  readonly name: string;
  readonly stage: number;
}

function isAfter(entry: StagedName, before: StagedName): boolean {
  return entry.name > before.name || (entry.name === before.name && entry.stage > before.stage);
}

interface EntryName {
  readonly name: string;
  readonly end: number;
}

function nameStart(content: Buffer, at: number, end: number): number | undefined {
  if (at + fixedLength > end) return undefined;
  return at + fixedLength + ((content.readUInt16BE(at + 60) & extendedFlag) === 0 ? 0 : 2);
}

/** Versions 2 and 3: the name, and zeros up to a multiple of eight. */
function paddedName(content: Buffer, at: number, end: number): EntryName | undefined {
  const start = nameStart(content, at, end);
  if (start === undefined) return undefined;
  const zero = content.indexOf(0, start);
  if (zero < 0 || zero >= end) return undefined;
  const next = at + Math.ceil((zero + 1 - at) / 8) * 8;
  return next > end ? undefined : { name: content.toString('latin1', start, zero), end: next };
}

/** Version 4: how many bytes of the name before to drop, and what to add. */
function compressedName(content: Buffer, at: number, end: number, before: string): EntryName | undefined {
  const start = nameStart(content, at, end);
  const dropped = start === undefined ? undefined : variableLength(content, start, end);
  if (dropped === undefined || dropped.value > before.length) return undefined;
  const zero = content.indexOf(0, dropped.end);
  if (zero < 0 || zero >= end) return undefined;
  const name = before.slice(0, before.length - dropped.value) + content.toString('latin1', dropped.end, zero);
  return { name, end: zero + 1 };
}

/** git's offset encoding: seven bits a byte, most significant first, one added for each further byte. */
function variableLength(content: Buffer, start: number, end: number): { value: number; end: number } | undefined {
  let value = -1;
  for (let at = start; at < end && at < start + 5; at += 1) {
    const byte = content.readUInt8(at);
    value = (value + 1) * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, end: at + 1 };
  }
  return undefined;
}

const longestPath = 1 << 16;
const longestNames = 1 << 29;

function isPath(name: string): boolean {
  return name !== '' && name.length <= longestPath && !name.startsWith('/') && !name.endsWith('/');
}

interface Extensions {
  readonly cachedRootTree: ObjectId | null;
}

/** The extensions of interest; the words for one that changes what the entries mean. */
function readExtensions(content: Buffer, start: number): Extensions | string {
  const end = content.length - checksumLength;
  let cachedRootTree: ObjectId | null = null;
  let at = start;
  while (at + 8 <= end) {
    const signature = content.toString('latin1', at, at + 4);
    const length = content.readUInt32BE(at + 4);
    at += 8;
    if (at + length > end) return 'the index is damaged';
    if (signature === 'link') return 'a split index';
    if (signature === 'sdir') return 'a sparse index';
    // git itself goes on only where the name begins with a capital letter.
    if (!/^[A-Z]/.test(signature)) return `an index extension ${JSON.stringify(signature)}`;
    if (signature === 'TREE') cachedRootTree = rootOfCacheTree(content.subarray(at, at + length));
    at += length;
  }
  return at === end ? { cachedRootTree } : 'the index is damaged';
}

/** The root comes first, without a name. A count of -1 says that something changed below it. */
function rootOfCacheTree(extension: Buffer): ObjectId | null {
  const line = /^\0(\d+) \d+\n/.exec(extension.toString('latin1', 0, 64))?.[0];
  if (line === undefined || extension.length < line.length + 20) return null;
  return extension.toString('hex', line.length, line.length + 20) as ObjectId;
}
