import { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';
import type { ObjectType } from '../../core/ports.js';
import { applyDelta } from './delta.js';
import type { GuardedDirectory, GuardedFile, Reading } from './guarded-directory.js';
import { absent, read, unreadable } from './guarded-directory.js';
import { inflated, largestCommit } from './inflated.js';

/*
 * Single objects out of a repository's packs, of whatever size those are: the index is searched, not loaded. Packs may
 * be hostile, so every length is checked against the file, and all that is unpacked against a budget.
 */

/** What objects are read from: a file, or all of one in memory. */
export type Bytes = Pick<GuardedFile, 'size' | 'read'>;

/** A commit's content. */
export function findInPacks(commonDir: GuardedDirectory, oid: ObjectId): Reading<Buffer> {
  const names = commonDir.list('objects/pack');
  if (names.kind !== 'read') return names;
  let problem: Reading<Buffer> = absent;
  for (const name of names.value.filter((each) => each.endsWith('.idx'))) {
    const found = findInPack(commonDir, `objects/pack/${name.slice(0, -4)}`, oid);
    if (found.kind === 'read') return found;
    if (found.kind === 'unreadable') problem = found;
  }
  return problem;
}

function findInPack(commonDir: GuardedDirectory, path: string, oid: ObjectId): Reading<Buffer> {
  return commonDir.withFile(`${path}.idx`, (index) => {
    const offset = offsetOf(index, oid);
    if (offset === undefined) return absent;
    return commonDir.withFile(`${path}.pack`, (pack) => {
      const commit = unpack(pack, index, offset, commitLimits);
      return commit?.type === 'commit' ? read(commit.content) : unreadable('a pack is damaged');
    });
  });
}

const fanoutStart = 8;
const namesStart = fanoutStart + 256 * 4;
const magic = 'ff744f6300000002';

/** Where the pack has the object; undefined when it has not, or when the index is none of version 2. */
export function offsetOf(index: Bytes, oid: ObjectId): number | undefined {
  if (index.size < namesStart || index.read(0, 8).toString('hex') !== magic) return undefined;
  const fanout = index.read(fanoutStart, 256 * 4);
  if (fanout.length < 256 * 4) return undefined;
  const count = fanout.readUInt32BE(255 * 4);
  if (index.size < namesStart + count * 28) return undefined;
  const wanted = Buffer.from(oid, 'hex');
  const first = wanted.readUInt8(0);
  let low = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4);
  let high = Math.min(fanout.readUInt32BE(first * 4), count);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const order = index.read(namesStart + middle * 20, 20).compare(wanted);
    if (order === 0) return offsetAt(index, count, middle);
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

/** Offsets follow the names and checksums; those beyond 2 GiB stand in a table of their own. */
function offsetAt(index: Bytes, count: number, position: number): number | undefined {
  const start = namesStart + count * 24;
  const bytes = index.read(start + position * 4, 4);
  if (bytes.length < 4) return undefined;
  const value = bytes.readUInt32BE(0);
  if (value < 0x80000000) return value;
  const large = index.read(start + count * 4 + (value - 0x80000000) * 8, 8);
  const offset = large.length < 8 ? -1 : Number(large.readBigUInt64BE(0));
  return offset > 0 && offset <= Number.MAX_SAFE_INTEGER ? offset : undefined;
}

/** As packs number them. */
const types: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const offsetDelta = 6;
const nameDelta = 7;

export interface UnpackingLimits {
  /** The largest object. */
  readonly size: number;
  /** Everything that one look-up may unpack, deltas and what they make together. */
  readonly budget: number;
}

const commitLimits: UnpackingLimits = { size: largestCommit, budget: 64 * 1024 * 1024 };

export interface Unpacked {
  readonly type: ObjectType;
  readonly content: Buffer;
}

/** Keeps what deltas are based on, by its place in the pack, since many are based on the same. */
export interface UnpackedBases {
  get(offset: number): Unpacked | undefined;
  put(offset: number, object: Unpacked): void;
}

/** The object at a place in the pack; undefined when it is damaged or over a limit. */
export function unpack(
  pack: Bytes,
  index: Bytes,
  start: number,
  limits: UnpackingLimits,
  bases?: UnpackedBases,
): Unpacked | undefined {
  const deltas: Delta[] = [];
  let budget = limits.budget;
  let offset: number | undefined = start;
  while (offset !== undefined) {
    const known: Unpacked | undefined = bases?.get(offset);
    if (known !== undefined) return rebuilt(known, deltas, { ...limits, budget }, bases);
    const entry = readEntry(pack, offset, limits.size);
    const content = entry && contentOf(pack, entry, Math.min(budget, limits.size));
    if (!content) return undefined;
    budget -= content.length;
    const type: ObjectType | undefined = types[entry.type];
    if (type !== undefined) {
      if (deltas.length > 0) bases?.put(offset, { type, content });
      return rebuilt({ type, content }, deltas, { ...limits, budget }, bases);
    }
    deltas.push({ offset, content });
    offset = entry.baseName === undefined ? entry.baseOffset : offsetOf(index, entry.baseName);
    // Each step costs something, so that bases that name each other end, too.
    budget -= 4096;
  }
  return undefined;
}

interface Delta {
  readonly offset: number;
  readonly content: Buffer;
}

function rebuilt(
  base: Unpacked,
  deltas: readonly Delta[],
  limits: UnpackingLimits,
  bases: UnpackedBases | undefined,
): Unpacked | undefined {
  let left = limits.budget;
  let content = base.content;
  for (const delta of deltas.toReversed()) {
    const next = applyDelta(content, delta.content, Math.min(left, limits.size));
    if (next === undefined) return undefined;
    content = next;
    left -= content.length;
    bases?.put(delta.offset, { type: base.type, content });
  }
  return { type: base.type, content };
}

interface PackEntry {
  readonly type: number;
  readonly size: number;
  readonly dataStart: number;
  readonly baseOffset?: number;
  readonly baseName?: ObjectId;
}

function readEntry(pack: Bytes, offset: number, largest: number): PackEntry | undefined {
  // Type and size take at most ten bytes, what names the base at most twenty.
  const header = pack.read(offset, 32);
  if (header.length < 2) return undefined;
  let at = 0;
  let byte = header.readUInt8(at++);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; (byte & 0x80) !== 0; factor *= 128) {
    if (at >= 10 || at >= header.length) return undefined;
    byte = header.readUInt8(at++);
    size += (byte & 0x7f) * factor;
  }
  if (size > largest) return undefined;
  if (type in types) return { type, size, dataStart: offset + at };
  return type === offsetDelta || type === nameDelta
    ? deltaEntry(header, at, { type, size, dataStart: offset })
    : undefined;
}

function deltaEntry(header: Buffer, start: number, entry: PackEntry): PackEntry | undefined {
  if (entry.type === nameDelta) {
    if (header.length < start + 20) return undefined;
    const baseName = header.toString('hex', start, start + 20) as ObjectId;
    return { ...entry, dataStart: entry.dataStart + start + 20, baseName };
  }
  let distance = -1;
  for (let at = start; at < header.length; at += 1) {
    const byte = header.readUInt8(at);
    distance = (distance + 1) * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    const baseOffset = entry.dataStart - distance;
    if (distance <= 0 || baseOffset <= 0) return undefined;
    return { ...entry, dataStart: entry.dataStart + at + 1, baseOffset };
  }
  return undefined;
}

function contentOf(pack: Bytes, entry: PackEntry, limit: number): Buffer | undefined {
  if (entry.size > limit) return undefined;
  // Deflated data that does not shrink grows by less than this.
  const compressed = pack.read(entry.dataStart, entry.size + (entry.size >> 8) + 128);
  const content = inflated(compressed, entry.size);
  return content?.length === entry.size ? content : undefined;
}
