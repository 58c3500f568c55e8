import type { Buffer } from 'node:buffer';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { readRegularFile } from '../../fs/regular-file.js';
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
    this.#packed ??= new PackedIds(this.#readIndexes());
    return this.#packed.has(id) || this.#hasLoose(id);
  }

  #readIndexes(): PackIndex[] {
    const directory = join(this.#directory, 'pack');
    const names = new Set(namesIn(directory));
    const indexes = [];
    for (const name of names) {
      if (!name.endsWith('.idx') || !names.has(`${name.slice(0, -4)}.pack`)) continue;
      const index = PackIndex.parse(readRegularFile(join(directory, name)));
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

const smallPack = 10_000;

/**
 * The ids of all packs. Each save adds a small one. A few questions are put to these one by one; before that has taken
 * longer than collecting their ids would have, they are collected.
 */
class PackedIds {
  readonly #large: readonly PackIndex[];
  readonly #small: readonly PackIndex[];
  #collected: ObjectTable | undefined;
  /** How many small packs may still be asked. */
  #patience: number;

  constructor(indexes: readonly PackIndex[]) {
    // Most objects are found in the largest pack.
    this.#large = indexes.filter(({ size }) => size > smallPack).sort((a, b) => b.size - a.size);
    this.#small = indexes.filter(({ size }) => size <= smallPack);
    this.#patience = this.#small.reduce((sum, { size }) => sum + size, 0);
  }

  has(id: Buffer): boolean {
    return this.#hasSmall(id) || this.#large.some((index) => index.has(id));
  }

  #hasSmall(id: Buffer): boolean {
    this.#patience -= this.#small.length;
    if (this.#patience >= 0) return this.#small.some((index) => index.has(id));
    this.#collected ??= collectIds(this.#small);
    return this.#collected.has(id);
  }
}

function collectIds(indexes: readonly PackIndex[]): ObjectTable {
  const collected = new ObjectTable();
  for (const index of indexes) {
    for (let rank = 0; rank < index.size; rank++) {
      const id = index.idAt(rank);
      if (!collected.has(id)) collected.add(id);
    }
  }
  return collected;
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
