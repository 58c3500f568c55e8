import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';
import type { ObjectType } from '../../core/ports.js';
import {
  type GuardedDirectory,
  type GuardedFile,
  type Reading,
  absent,
  read,
  unreadable,
} from './guarded-directory.js';
import { inflated } from './inflated.js';
import { type Bytes, type Unpacked, type UnpackedBases, offsetOf, unpack } from './pack-lookup.js';

/** The largest object that is read: all of it is in memory at once. */
export const largestObject: number = 1024 * 1024 * 1024;

const indexInMemory = 512 * 1024 * 1024;

/**
 * Many objects of a user's repository, read in process from its own packs and loose objects. Alternates are not
 * followed: they may lead anywhere. Each object is checked against its id. Holds files open until it is closed.
 */
export class RepositoryObjects {
  readonly #commonDir: GuardedDirectory;
  readonly #largest: number;
  readonly #searchIndexes: boolean;
  #packs: Pack[] | undefined;

  constructor(
    commonDir: GuardedDirectory,
    { largest = largestObject, searchIndexes = false }: RepositoryObjectsOptions = {},
  ) {
    this.#commonDir = commonDir;
    this.#largest = largest;
    this.#searchIndexes = searchIndexes;
  }

  /** Absent when the repository itself does not have it. */
  read(oid: ObjectId, type: ObjectType): Reading<Buffer> {
    const found = this.#find(oid);
    if (found.kind !== 'read') return found;
    const { content, type: actual } = found.value;
    if (actual !== type) return unreadable(`object ${oid} is no ${type}`);
    const computed = createHash('sha1')
      .update(`${type} ${String(content.length)}\0`)
      .update(content)
      .digest('hex');
    return computed === oid ? read(content) : unreadable(`object ${oid} is damaged`);
  }

  /** Whether the repository itself says that it has the object. */
  has(oid: ObjectId): boolean {
    this.#packs ??= this.#openPacks();
    if (this.#packs.some(({ index }) => offsetOf(index, oid) !== undefined)) return true;
    return this.#commonDir.exists(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
  }

  close(): void {
    for (const { closeIndex, pack } of this.#packs ?? []) {
      closeIndex();
      pack.close();
    }
    this.#packs = undefined;
  }

  #find(oid: ObjectId): Reading<Unpacked> {
    let problem: Reading<Unpacked> = absent;
    for (const { index, pack, bases } of (this.#packs ??= this.#openPacks())) {
      const offset = offsetOf(index, oid);
      if (offset === undefined) continue;
      const limits = { size: this.#largest, budget: 2 * this.#largest };
      const object = unpack(pack, index, offset, limits, bases);
      if (object !== undefined) return read(object);
      problem = unreadable(`object ${oid} is damaged or too large`);
    }
    const loose = this.#findLoose(oid);
    return loose.kind === 'absent' ? problem : loose;
  }

  #findLoose(oid: ObjectId): Reading<Unpacked> {
    const file = this.#commonDir.read(`objects/${oid.slice(0, 2)}/${oid.slice(2)}`, this.#largest);
    if (file.kind !== 'read') return file;
    const whole = inflated(file.value, this.#largest + 64);
    const header = whole && /^(blob|tree|commit|tag) \d+\0/.exec(whole.toString('latin1', 0, 32));
    if (!whole || !header) return unreadable(`object ${oid} is damaged or too large`);
    return read({ type: header[1] as ObjectType, content: whole.subarray(header[0].length) });
  }

  #openPacks(): Pack[] {
    const names = this.#commonDir.list('objects/pack');
    if (names.kind !== 'read') return [];
    return names.value.filter((name) => name.endsWith('.idx')).flatMap((name) => this.#openPack(name.slice(0, -4)));
  }

  #openPack(name: string): Pack[] {
    const pack = this.#commonDir.openFile(`objects/pack/${name}.pack`);
    if (pack.kind !== 'read') return [];
    const index = this.#openIndex(`objects/pack/${name}.idx`);
    if (index !== undefined) return [{ ...index, pack: pack.value, bases: new RecentBases() }];
    pack.value.close();
    return [];
  }

  #openIndex(path: string): Pick<Pack, 'index' | 'closeIndex'> | undefined {
    if (this.#searchIndexes) {
      const index = this.#commonDir.openFile(path);
      return index.kind === 'read' ? { index: index.value, closeIndex: () => index.value.close() } : undefined;
    }
    const index = this.#commonDir.read(path, indexInMemory);
    return index.kind === 'read' ? { index: inMemory(index.value), closeIndex: () => undefined } : undefined;
  }
}

export interface RepositoryObjectsOptions {
  /** The largest object that is read; default: 1 GiB. */
  readonly largest?: number;
  /** For a few objects: the packs' indexes are searched in their files, and not read whole. */
  readonly searchIndexes?: boolean;
}

interface Pack {
  readonly index: Bytes;
  readonly closeIndex: () => void;
  readonly pack: GuardedFile;
  readonly bases: UnpackedBases;
}

function inMemory(content: Buffer): Bytes {
  return { size: content.length, read: (position, length) => content.subarray(position, position + length) };
}

const keptBytes = 48 * 1024 * 1024;

/** The bases that were used last, as far as they fit. */
class RecentBases implements UnpackedBases {
  readonly #kept = new Map<number, Unpacked>();
  #bytes = 0;

  get(offset: number): Unpacked | undefined {
    const found = this.#kept.get(offset);
    if (found === undefined) return undefined;
    this.#kept.delete(offset);
    this.#kept.set(offset, found);
    return found;
  }

  put(offset: number, object: Unpacked): void {
    if (object.content.length > keptBytes / 8 || this.#kept.has(offset)) return;
    this.#kept.set(offset, object);
    this.#bytes += object.content.length;
    for (const [oldest, { content }] of this.#kept) {
      if (this.#bytes <= keptBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= content.length;
    }
  }
}
