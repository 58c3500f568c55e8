import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectTable } from './object-table.js';

/*
 * Pack indexes, version 2: magic, fanout (for each first byte, how many ids are not greater), sorted ids, checksums,
 * offsets of 31 bits, offsets of 64 bits for what lies beyond 2 GiB, the pack's checksum, its own.
 */

const magic = Buffer.from('\xfftOc\0\0\0\x02', 'latin1');
const fanoutBytes = 256 * 4;
const idBytes = 20;
const idsStart = magic.length + fanoutBytes;
const trailerBytes = 2 * idBytes;
const firstLargeOffset = 0x80000000;

/** The index of a pack whose objects and checksum are these. */
export function encodeIndex(objects: ObjectTable, packChecksum: Buffer): Buffer {
  const positions = objects.sortedPositions();
  const fanout = Buffer.alloc(fanoutBytes);
  const ids = Buffer.allocUnsafe(positions.length * idBytes);
  const checksums = Buffer.allocUnsafe(positions.length * 4);
  const offsets = Buffer.allocUnsafe(positions.length * 4);
  const large: number[] = [];
  positions.forEach((position, rank) => {
    const id = objects.idAt(position);
    id.copy(ids, rank * idBytes);
    countAt(fanout, id[0] as number);
    checksums.writeUInt32BE(objects.checksumAt(position), rank * 4);
    const offset = objects.offsetAt(position);
    offsets.writeUInt32BE(offset < firstLargeOffset ? offset : firstLargeOffset + large.push(offset) - 1, rank * 4);
  });
  accumulate(fanout);
  const body = [magic, fanout, ids, checksums, offsets, encodeLarge(large), packChecksum];
  const checksum = createHash('sha1');
  for (const part of body) checksum.update(part);
  return Buffer.concat([...body, checksum.digest()]);
}

function countAt(fanout: Buffer, firstByte: number): void {
  fanout.writeUInt32BE(fanout.readUInt32BE(firstByte * 4) + 1, firstByte * 4);
}

function accumulate(fanout: Buffer): void {
  for (let at = 4; at < fanoutBytes; at += 4)
    fanout.writeUInt32BE(fanout.readUInt32BE(at - 4) + fanout.readUInt32BE(at), at);
}

function encodeLarge(offsets: readonly number[]): Buffer {
  const encoded = Buffer.allocUnsafe(offsets.length * 8);
  offsets.forEach((offset, rank) => {
    encoded.writeBigUInt64BE(BigInt(offset), rank * 8);
  });
  return encoded;
}

/** What the index of one pack says of the objects in it: ours, or one that git made. */
export class PackIndex {
  readonly #bytes: Buffer;
  readonly #count: number;

  private constructor(bytes: Buffer, count: number) {
    this.#bytes = bytes;
    this.#count = count;
  }

  /** Undefined when the bytes are no complete index of version 2. */
  static parse(bytes: Buffer): PackIndex | undefined {
    if (bytes.length < idsStart + trailerBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
    for (let at = magic.length + 4; at < idsStart; at += 4) {
      if (bytes.readUInt32BE(at) < bytes.readUInt32BE(at - 4)) return undefined;
    }
    const count = bytes.readUInt32BE(idsStart - 4);
    const smallest = idsStart + count * (idBytes + 8) + trailerBytes;
    return bytes.length < smallest ? undefined : new PackIndex(bytes, count);
  }

  get size(): number {
    return this.#count;
  }

  /** A view on the id at a rank, in ascending order. */
  idAt(rank: number): Buffer {
    return this.#bytes.subarray(idsStart + rank * idBytes, idsStart + (rank + 1) * idBytes);
  }

  /** True when no byte of the index has changed since it was written. */
  get isIntact(): boolean {
    const end = this.#bytes.length - idBytes;
    return createHash('sha1').update(this.#bytes.subarray(0, end)).digest().equals(this.#bytes.subarray(end));
  }

  /** The last bytes of the pack that the index is of. */
  get packChecksum(): Buffer {
    return this.#bytes.subarray(this.#bytes.length - trailerBytes, this.#bytes.length - idBytes);
  }

  /** CRC-32 of the object's bytes in the pack, header included, as it was when the pack was written. */
  checksumAt(rank: number): number {
    return this.#bytes.readUInt32BE(idsStart + this.#count * idBytes + rank * 4);
  }

  /** Where the object begins in the pack; beyond every pack where the index does not say. */
  offsetAt(rank: number): number {
    const small = this.#bytes.readUInt32BE(idsStart + this.#count * (idBytes + 4) + rank * 4);
    if (small < firstLargeOffset) return small;
    const at = idsStart + this.#count * (idBytes + 8) + (small - firstLargeOffset) * 8;
    const offset = at + 8 + trailerBytes > this.#bytes.length ? Infinity : Number(this.#bytes.readBigUInt64BE(at));
    return offset > Number.MAX_SAFE_INTEGER ? Infinity : offset;
  }

  has(id: Buffer): boolean {
    return this.rankOf(id) !== undefined;
  }

  /** The object's place among all, by ascending id; undefined when the pack has it not. */
  rankOf(id: Buffer): number | undefined {
    const first = id[0] as number;
    let low = first === 0 ? 0 : this.#bytes.readUInt32BE(magic.length + (first - 1) * 4);
    let high = this.#bytes.readUInt32BE(magic.length + first * 4);
    const wanted = id.readUInt32BE(1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, id, wanted);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  /** The first byte is the same for all in the fanout's range; the four after it nearly always decide. */
  #compare(rank: number, id: Buffer, wanted: number): number {
    const at = idsStart + rank * idBytes;
    const found = this.#bytes.readUInt32BE(at + 1);
    return found === wanted ? this.#bytes.compare(id, 0, idBytes, at, at + idBytes) : found - wanted;
  }
}
