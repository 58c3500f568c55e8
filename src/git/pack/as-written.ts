import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import { openRegularFile, readRegularFile } from '../../fs/regular-file.js';
import { namesIn } from '../names-in.js';
import { crc32 } from './crc32.js';
import { blobType, longestHeader, parseHeader } from './entry-header.js';
import { packHeader } from './format.js';
import { PackIndex } from './index-file.js';

/*
 * Whether objects in packs are as they were written, without unpacking them: a pack's index has a CRC-32 of each
 * object's bytes in the pack. git itself goes by it when it copies objects from pack to pack. A delta is as written
 * when all that it rests on is.
 */

type Pause = () => Promise<void>;

/**
 * The blobs among these that are as written wherever packs have them. None at all when an index, or what git checks of
 * a pack before it reads from it, is not as it was: which objects there are is then in doubt.
 * @param pause is awaited now and then
 */
export async function findAsWritten(
  packDirectory: string,
  blobs: readonly ObjectId[],
  pause: Pause,
): Promise<ReadonlySet<ObjectId>> {
  const names = new Set(namesIn(packDirectory));
  if (!isCommonIndexIntact(packDirectory, names)) return new Set();
  const found = new Set<ObjectId>();
  const damaged = new Set<ObjectId>();
  const window = Buffer.allocUnsafeSlow(windowBytes);
  for (const name of names) {
    const path = join(packDirectory, name.slice(0, -4));
    if (!name.endsWith('.idx') || !names.has(`${name.slice(0, -4)}.pack`)) continue;
    const checked = await checkIn(path, blobs, window, pause);
    if (checked === undefined) return new Set();
    for (const [blob, isSound] of checked) (isSound ? found : damaged).add(blob);
  }
  for (const blob of damaged) found.delete(blob);
  return found;
}

/** Of the blobs that the pack has: whether they are as written. Undefined when there is no telling. */
async function checkIn(
  path: string,
  blobs: readonly ObjectId[],
  window: Buffer,
  pause: Pause,
): Promise<ReadonlyMap<ObjectId, boolean> | undefined> {
  const index = PackIndex.parse(readRegularFile(`${path}.idx`));
  if (index?.isIntact !== true) return undefined;
  const ranks = ranksIn(index, blobs);
  const fd = openRegularFile(`${path}.pack`);
  try {
    const end = fstatSync(fd).size - trailerBytes;
    if (!areEndsAsWritten(fd, end, index)) return undefined;
    return ranks.size === 0 ? new Map() : await new Pack(index, fd, end, window).check(ranks, pause);
  } finally {
    closeSync(fd);
  }
}

/** git checks these of a pack before it reads from it. */
function areEndsAsWritten(fd: number, end: number, index: PackIndex): boolean {
  const header = packHeader(index.size);
  return bytesAt(fd, 0, header.length).equals(header) && bytesAt(fd, end, trailerBytes).equals(index.packChecksum);
}

/** Of those that the index has. */
function ranksIn(index: PackIndex, blobs: readonly ObjectId[]): Map<ObjectId, number> {
  const ranks = new Map<ObjectId, number>();
  for (const blob of blobs) {
    const rank = index.rankOf(Buffer.from(blob, 'hex'));
    if (rank !== undefined) ranks.set(blob, rank);
  }
  return ranks;
}

const idBytes = 20;

/** git looks objects up in the index of many packs, where there is one. */
function isCommonIndexIntact(packDirectory: string, names: ReadonlySet<string>): boolean {
  if (names.has('multi-pack-index.d')) return false;
  if (!names.has('multi-pack-index')) return true;
  const bytes = readRegularFile(join(packDirectory, 'multi-pack-index'));
  const end = bytes.length - idBytes;
  return end > 0 && createHash('sha1').update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end));
}

/** Read at once: objects that are wanted lie side by side, or far from each other. */
const windowBytes = 128 * 1024;
const trailerBytes = 20;

const unknown = 0;
const asWritten = 1;
const changed = 2;

/** What a place rests on when it is no delta. */
const isBlob = -1;
const isOther = -2;

/** One pack. Its objects are known by their place in it, from the first to the last. */
class Pack {
  readonly #index: PackIndex;
  readonly #fd: number;
  readonly #end: number;
  /** Where each object begins. */
  readonly #starts: Float64Array;
  readonly #ranks: Uint32Array;
  readonly #places: Uint32Array;
  readonly #states: Uint8Array;
  /** The place of each delta's base. */
  readonly #bases: Int32Array;
  readonly #window: Buffer;
  #windowStart = 0;
  #windowEnd = 0;

  /** The window is lent to it. */
  constructor(index: PackIndex, fd: number, end: number, window: Buffer) {
    const offsets = Float64Array.from({ length: index.size }, (_, rank) => index.offsetAt(rank));
    this.#index = index;
    this.#fd = fd;
    this.#end = end;
    this.#window = window;
    this.#ranks = Uint32Array.from(offsets.keys()).sort((a, b) => (offsets[a] as number) - (offsets[b] as number));
    this.#starts = offsets.sort();
    this.#places = new Uint32Array(index.size);
    this.#ranks.forEach((rank, place) => (this.#places[rank] = place));
    this.#states = new Uint8Array(index.size);
    this.#bases = new Int32Array(index.size).fill(isOther);
  }

  /** Whether blobs, with their ranks in the index, are as written. */
  async check(ranks: ReadonlyMap<ObjectId, number>, pause: Pause): Promise<Map<ObjectId, boolean>> {
    const places = new Map([...ranks].map(([blob, rank]) => [blob, this.#places[rank] as number]));
    // First the objects themselves, then what they rest on, and so on: each time in the order in which they lie.
    for (let some = new Set(places.values()); some.size > 0;) some = await this.#look(some, pause);
    return new Map([...places].map(([blob, place]) => [blob, this.#isBlobAsWritten(place)]));
  }

  /** @returns what these rest on and nobody has looked at */
  async #look(places: ReadonlySet<number>, pause: Pause): Promise<Set<number>> {
    const bases = new Set<number>();
    for (const place of Uint32Array.from(places).sort()) {
      await pause();
      this.#states[place] = (await this.#isAsWritten(place, pause)) ? asWritten : changed;
      const base = this.#bases[place] as number;
      if (base >= 0 && this.#states[base] === unknown) bases.add(base);
    }
    return bases;
  }

  #isBlobAsWritten(start: number): boolean {
    let place = start;
    // Deltas that rest on each other come to no end.
    for (let steps = 0; steps <= this.#index.size && place >= 0; steps++) {
      if (this.#states[place] !== asWritten) return false;
      place = this.#bases[place] as number;
    }
    return place === isBlob;
  }

  async #isAsWritten(place: number, pause: Pause): Promise<boolean> {
    const start = this.#starts[place] as number;
    const end = this.#starts[place + 1] ?? this.#end;
    let sum = 0;
    for (let at = start; at < end;) {
      const bytes = this.#bytesFrom(at, Math.min(end - at, windowBytes));
      if (bytes.length === 0) return false;
      if (at === start) this.#bases[place] = this.#baseOf(start, bytes);
      sum = crc32(bytes, sum);
      at += bytes.length;
      if (at < end) await pause();
    }
    return end > start && sum === this.#index.checksumAt(this.#ranks[place] as number);
  }

  #baseOf(start: number, bytes: Buffer): number {
    const header = parseHeader(bytes.subarray(0, longestHeader));
    const { base } = header ?? {};
    if (base === undefined) return header?.type === blobType ? isBlob : isOther;
    if (typeof base === 'number') return this.#placeFrom(start - base);
    const rank = this.#index.rankOf(base);
    return rank === undefined ? isOther : (this.#places[rank] as number);
  }

  /** The place of what begins just there. */
  #placeFrom(start: number): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] as number) < start) low = middle + 1;
      else high = middle;
    }
    return this.#starts[low] === start ? low : isOther;
  }

  /** Valid until the next call. Fewer than `length` only where the pack ends. */
  #bytesFrom(start: number, length: number): Buffer {
    if (start < this.#windowStart || start + length > this.#windowEnd) {
      this.#windowStart = start;
      this.#windowEnd = start + readFully(this.#fd, this.#window, start);
    }
    const from = start - this.#windowStart;
    return this.#window.subarray(from, Math.min(from + length, this.#windowEnd - this.#windowStart));
  }
}

function bytesAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return position < 0 ? bytes : bytes.subarray(0, readFully(fd, bytes, position));
}

function readFully(fd: number, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}
