import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';

/** One entry of the index. Times, `size`, `ino` and `dev` are as git keeps them: 32 bits each. */
export interface IndexEntry {
  readonly path: string;
  readonly mode: number;
  readonly oid: ObjectId;
  readonly stage: number;
  readonly size: number;
  readonly mtimeSeconds: number;
  readonly mtimeNanoseconds: number;
  readonly ctimeSeconds: number;
  readonly ctimeNanoseconds: number;
  readonly ino: number;
  readonly dev: number;
  readonly assumeValid: boolean;
  readonly skipWorktree: boolean;
  readonly intentToAdd: boolean;
}

/** What a repository tracks. Paths are bytes, relative to its folder, in byte order. */
export class TrackedIndex {
  static readonly empty: TrackedIndex = new TrackedIndex(Buffer.alloc(0), [], new Uint32Array(0), null, 0n);

  /** The tree that the entries make, when git noted it and nothing was staged since. */
  readonly cachedRootTree: ObjectId | null;
  readonly modifiedNs: bigint;
  readonly #content: Buffer;
  readonly #names: readonly string[];
  readonly #offsets: Uint32Array;

  constructor(
    content: Buffer,
    names: readonly string[],
    offsets: Uint32Array,
    cachedRootTree: ObjectId | null,
    modifiedNs: bigint,
  ) {
    this.#content = content;
    this.#names = names;
    this.#offsets = offsets;
    this.cachedRootTree = cachedRootTree;
    this.modifiedNs = modifiedNs;
  }

  /** The same for the same bytes, written at the same time. */
  get fingerprint(): string {
    return `${createHash('sha1').update(this.#content).digest('hex')} ${String(this.modifiedNs)}`;
  }

  get size(): number {
    return this.#names.length;
  }

  has(path: string): boolean {
    return this.#names[this.#firstFrom(path)] === path;
  }

  hasBelow(directory: string): boolean {
    if (directory === '') return this.#names.length > 0;
    return this.#names[this.#firstFrom(`${directory}/`)]?.startsWith(`${directory}/`) ?? false;
  }

  /** Entries are decoded as they are asked for. */
  *entries(): Generator<IndexEntry> {
    for (let at = 0; at < this.#names.length; at += 1) yield this.#entry(at);
  }

  #entry(at: number): IndexEntry {
    const content = this.#content;
    const offset = this.#offsets[at] ?? 0;
    const flags = content.readUInt16BE(offset + 60);
    const extended = (flags & 0x4000) === 0 ? 0 : content.readUInt16BE(offset + 62);
    return {
      path: this.#names[at] ?? '',
      ctimeSeconds: content.readUInt32BE(offset),
      ctimeNanoseconds: content.readUInt32BE(offset + 4),
      mtimeSeconds: content.readUInt32BE(offset + 8),
      mtimeNanoseconds: content.readUInt32BE(offset + 12),
      dev: content.readUInt32BE(offset + 16),
      ino: content.readUInt32BE(offset + 20),
      mode: content.readUInt32BE(offset + 24),
      size: content.readUInt32BE(offset + 36),
      oid: content.toString('hex', offset + 40, offset + 60) as ObjectId,
      assumeValid: (flags & 0x8000) !== 0,
      stage: (flags >> 12) & 3,
      skipWorktree: (extended & 0x4000) !== 0,
      intentToAdd: (extended & 0x2000) !== 0,
    };
  }

  /** The position of the first name that is not before `wanted`. */
  #firstFrom(wanted: string): number {
    let low = 0;
    let high = this.#names.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] ?? '') < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
