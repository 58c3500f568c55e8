import { Buffer } from 'node:buffer';

const idBytes = 20;

/**
 * The objects of a pack that is being written: ids with their place in it, found by id. Small enough for millions. An
 * object is there, for `has`, before it has a place.
 */
export class ObjectTable {
  #ids = Buffer.alloc(idBytes * 256);
  #offsets = new Float64Array(256);
  #checksums = new Uint32Array(256);
  /** Open addressing over positions + 1; at most half full. */
  #slots = new Int32Array(512);
  #size = 0;
  #placed = 0;

  get size(): number {
    return this.#size;
  }

  has(id: Buffer): boolean {
    return this.#slots[this.#slotOf(id)] !== 0;
  }

  /** True when each object has its place. */
  get isComplete(): boolean {
    return this.#placed === this.#size;
  }

  /** The id must not be there yet. @returns its position; positions count in order of adding. */
  add(id: Buffer): number {
    if (this.#size === this.#offsets.length) this.#grow();
    const position = this.#size++;
    this.#ids.set(id, position * idBytes);
    this.#slots[this.#slotOf(id)] = position + 1;
    return position;
  }

  /** Once for each position: where the object begins in the pack, and the checksum of its bytes there. */
  place(position: number, offset: number, checksum: number): void {
    this.#placed += 1;
    this.#offsets[position] = offset;
    this.#checksums[position] = checksum;
  }

  /** A view on the id at a position. */
  idAt(position: number): Buffer {
    return this.#ids.subarray(position * idBytes, (position + 1) * idBytes);
  }

  offsetAt(position: number): number {
    return this.#offsets[position] as number;
  }

  checksumAt(position: number): number {
    return this.#checksums[position] as number;
  }

  /** All positions, by ascending id. */
  sortedPositions(): Uint32Array {
    // Sorting numbers is fast, comparing buffers is not: sort by the first 32 bits, then mend the rare ties.
    const keys = new BigUint64Array(this.#size);
    for (let position = 0; position < this.#size; position++) {
      keys[position] = (BigInt(this.#ids.readUInt32BE(position * idBytes)) << 32n) | BigInt(position);
    }
    keys.sort();
    const positions = Uint32Array.from(keys, (key) => Number(key & 0xffffffffn));
    this.#mendTies(positions);
    return positions;
  }

  #mendTies(positions: Uint32Array): void {
    for (let end = 1; end < positions.length; end++) {
      const position = positions[end] as number;
      let place = end;
      for (; place > 0; place--) {
        const before = positions[place - 1] as number;
        if (this.idAt(before).compare(this.idAt(position)) <= 0) break;
        positions[place] = before;
      }
      positions[place] = position;
    }
  }

  #slotOf(id: Buffer): number {
    const mask = this.#slots.length - 1;
    for (let slot = id.readUInt32LE(4) & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot] as number;
      if (taken === 0 || this.#ids.compare(id, 0, idBytes, (taken - 1) * idBytes, taken * idBytes) === 0) return slot;
    }
  }

  #grow(): void {
    const room = this.#offsets.length * 2;
    const ids = Buffer.alloc(room * idBytes);
    this.#ids.copy(ids);
    this.#ids = ids;
    this.#offsets = grown(new Float64Array(room), this.#offsets);
    this.#checksums = grown(new Uint32Array(room), this.#checksums);
    this.#slots = new Int32Array(room * 2);
    for (let position = 0; position < this.#size; position++)
      this.#slots[this.#slotOf(this.idAt(position))] = position + 1;
  }
}

function grown<Column extends Float64Array | Uint32Array>(wider: Column, column: Column): Column {
  wider.set(column);
  return wider;
}
