import type { Buffer } from 'node:buffer';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PackIndex } from './index-file.js';
import { ObjectTable } from './object-table.js';
import { namesIn } from '../names-in.js';

/**
 * The objects that a store has, as its pack indexes and loose objects say when they are first asked for. Valid for as
 * long as a lock keeps out whoever removes objects. A pack without a sound index counts as not there: its objects are
 * then written again, which is never wrong.
 */
export class KnownObjects {
  readonly #directory: string;
  #packed: PackedIds | undefined;
  #loose: Map<number, Set<string>> | undefined;

  constructor(objectsDirectory: string) {
    this.#directory = objectsDirectory;
  }

  has(id: Buffer): boolean {
    this.#packed ??= collectIds(this.#readIndexes());
    return this.#packed.small.has(id) || this.#packed.large.some((index) => index.has(id)) || this.#hasLoose(id);
  }

  #readIndexes(): PackIndex[] {
    const directory = join(this.#directory, 'pack');
    const names = new Set(namesIn(directory));
    const indexes = [];
    for (const name of names) {
      if (!name.endsWith('.idx') || !names.has(`${name.slice(0, -4)}.pack`)) continue;
      const index = PackIndex.parse(readFileSync(join(directory, name)));
      if (index !== undefined) indexes.push(index);
    }
    return indexes;
  }

  #hasLoose(id: Buffer): boolean {
    this.#loose ??= this.#listLooseDirectories();
    const first = id[0] as number;
    const names = this.#loose.get(first);
    if (names === undefined) return false;
    const directory = join(this.#directory, hexByte(first));
    if (names.size === 0) for (const name of namesIn(directory)) names.add(name);
    const name = id.toString('hex', 1);
    // A power cut may leave empty files where loose objects were: those are none.
    return names.has(name) && (lstatSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0) > 0;
  }

  #listLooseDirectories(): Map<number, Set<string>> {
    const directories = namesIn(this.#directory).filter((name) => /^[0-9a-f]{2}$/.test(name));
    return new Map(directories.map((name) => [parseInt(name, 16), new Set<string>()]));
  }
}

interface PackedIds {
  readonly large: readonly PackIndex[];
  /** All ids of the small packs: each save adds one, and asking a thousand of them one by one would take long. */
  readonly small: ObjectTable;
}

const smallPack = 10_000;

function collectIds(indexes: readonly PackIndex[]): PackedIds {
  const small = new ObjectTable();
  for (const index of indexes.filter(({ size }) => size <= smallPack)) {
    for (let rank = 0; rank < index.size; rank++) {
      const id = index.idAt(rank);
      if (!small.has(id)) small.add(id);
    }
  }
  // Most objects are found in the largest pack.
  return { small, large: indexes.filter(({ size }) => size > smallPack).sort((a, b) => b.size - a.size) };
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
