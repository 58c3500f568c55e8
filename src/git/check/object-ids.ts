import { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';

const idBytes = 20;

/** Ids in ascending order, small enough for millions. */
export class ObjectIds {
  #ids = Buffer.alloc(idBytes * 1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The id comes after all that were added before. */
  add(id: ObjectId): void {
    const at = this.#size * idBytes;
    if (at === this.#ids.length) this.#ids = Buffer.concat([this.#ids, Buffer.alloc(at)]);
    this.#ids.write(id, at, 'hex');
    this.#size += 1;
  }

  at(position: number): ObjectId {
    return this.#ids.toString('hex', position * idBytes, (position + 1) * idBytes) as ObjectId;
  }

  has(id: ObjectId): boolean {
    const count = this.countUpTo(id);
    return count > 0 && this.at(count - 1) === id;
  }

  /** How many ids are not greater than this one, which need not be among them. */
  countUpTo(id: string): number {
    let [low, high] = [0, this.#size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
