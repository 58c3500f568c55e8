import { Buffer } from 'node:buffer';

import { crc32 } from './crc32.js';
import { type StoredType, encodeObject } from './format.js';

/*
 * Objects that are deflated together, in memory that threads share: four columns of numbers, the contents one after
 * another, then room for what they become. Whoever claims a batch first encodes it; nobody touches its output before.
 */

const states = { filling: 0, ready: 1, claimed: 2, encoded: 3 } as const;
const stateAt = 0;
const countAt = 1;
const capacityAt = 2;
const columnsStart = 3;
const mostObjects = 2048;
const columns = { type: 0, size: 1, length: 2, checksum: 3 } as const;
const contentStart = (columnsStart + Object.keys(columns).length * mostObjects) * 4;
const types: readonly StoredType[] = ['commit', 'tree', 'blob', 'tag'];

/** Objects as they stand in a pack, one after another. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly lengths: ArrayLike<number>;
  readonly checksums: ArrayLike<number>;
}

export class Batch {
  /** What another thread needs to make the same batch of. */
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Uint32Array;
  /** The same memory: waiting needs signed numbers. */
  readonly #state: Int32Array;
  readonly #content: Buffer;
  readonly #output: Buffer;
  #filled = 0;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#numbers = new Uint32Array(memory, 0, contentStart / 4);
    this.#state = new Int32Array(memory, stateAt * 4, 1);
    const capacity = this.#numbers[capacityAt] as number;
    this.#content = Buffer.from(memory, contentStart, capacity);
    this.#output = Buffer.from(memory, contentStart + capacity);
  }

  static withRoomFor(bytes: number): Batch {
    const memory = new SharedArrayBuffer(contentStart + bytes + outputRoom(bytes));
    new Uint32Array(memory, 0, columnsStart)[capacityAt] = bytes;
    return new Batch(memory);
  }

  get capacity(): number {
    return this.#content.length;
  }

  /** Bytes of content. Known where they were added. */
  get filled(): number {
    return this.#filled;
  }

  get size(): number {
    return this.#numbers[countAt] as number;
  }

  /** False when there is no room for it. The content is copied. */
  add(type: StoredType, content: Uint8Array): boolean {
    const at = this.size;
    if (at === mostObjects || content.length > this.#content.length - this.#filled) return false;
    this.#content.set(content, this.#filled);
    this.#filled += content.length;
    this.#numbers[cell('type', at)] = types.indexOf(type);
    this.#numbers[cell('size', at)] = content.length;
    this.#numbers[countAt] = at + 1;
    return true;
  }

  /** Nothing is added any more. Before, nobody can claim it: a thread may still be told of an earlier use of its memory. */
  close(): void {
    Atomics.store(this.#state, 0, states.ready);
  }

  /** True for one caller only, in whatever thread: that one is to encode it. */
  claim(): boolean {
    return Atomics.compareExchange(this.#state, 0, states.ready, states.claimed) === states.ready;
  }

  encode(): void {
    let from = 0;
    let to = 0;
    for (let at = 0; at < this.size; at++) {
      const size = this.#numbers[cell('size', at)] as number;
      const type = types[this.#numbers[cell('type', at)] as number] as StoredType;
      const encoded = encodeObject(type, this.#content.subarray(from, from + size));
      this.#output.set(encoded, to);
      this.#numbers[cell('length', at)] = encoded.length;
      this.#numbers[cell('checksum', at)] = crc32(encoded);
      from += size;
      to += encoded.length;
    }
    Atomics.store(this.#state, 0, states.encoded);
    Atomics.notify(this.#state, 0);
  }

  get isEncoded(): boolean {
    return Atomics.load(this.#state, 0) === states.encoded;
  }

  /** Blocks this thread until whoever claimed it is done, but not for long. */
  waitBriefly(): void {
    Atomics.wait(this.#state, 0, states.claimed, 20);
  }

  encoded(): Encoded {
    const column = (name: keyof typeof columns): Uint32Array =>
      this.#numbers.subarray(cell(name, 0), cell(name, this.size));
    const lengths = column('length');
    const total = lengths.reduce((sum, length) => sum + length, 0);
    return { bytes: this.#output.subarray(0, total), lengths, checksums: column('checksum') };
  }

  /** To be filled anew. */
  clear(): void {
    this.#filled = 0;
    this.#numbers[countAt] = 0;
    Atomics.store(this.#state, 0, states.filling);
  }
}

/** What does not get smaller is stored as it is, with a header for each object and each block: far less than this. */
function outputRoom(bytes: number): number {
  return bytes + Math.ceil(bytes / 128) + mostObjects * 64;
}

function cell(column: keyof typeof columns, at: number): number {
  return columnsStart + columns[column] * mostObjects + at;
}
