import { Buffer } from 'node:buffer';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import type { ObjectWriter, TreeEntry } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import { makeScratchDirectory, orNoSpace, syncDirectory, writeNewFile } from '../../fs/durable.js';
import type { Encoded } from './batch.js';
import { type ThreadSettings, usualThreads } from './deflate-threads.js';
import { type StoredType, encodeTree, hashObject } from './format.js';
import { encodeIndex } from './index-file.js';
import type { KnownObjects } from './known-objects.js';
import { type ContentReader, appendLargeBlob, hashLargeBlob } from './large-blob.js';
import { ObjectDeflater } from './object-deflater.js';
import { ObjectTable } from './object-table.js';
import { PackFile } from './pack-file.js';

export interface PackDestination {
  /** Where unfinished files go: a directory of this writer's own is made in it. */
  readonly scratchParent: string;
  /** An `objects/pack` directory. */
  readonly packDirectory: string;
  /** False for a pack that nothing will depend on. */
  readonly durable: boolean;
  /** The threads that help when there is much to deflate. */
  readonly threads?: ThreadSettings;
}

/**
 * Writes the new objects of one save into one pack, in the order in which they come. Until `publish` nothing is visible: what a crash leaves is a
 * directory below the scratch parent. The pack becomes visible with its index, which is renamed last.
 *
 * One write at a time: while `writeLargeBlob` runs, no other may be started.
 */
export class PackWriter implements ObjectWriter {
  readonly #known: Pick<KnownObjects, 'has'>;
  readonly #destination: PackDestination;
  readonly #objects = new ObjectTable();
  readonly #deflater: ObjectDeflater;
  readonly #id = Buffer.alloc(20);
  #scratch: string | undefined;
  #pack: PackFile | undefined;
  #state: 'open' | 'writing' | 'closed' = 'open';

  constructor(known: Pick<KnownObjects, 'has'>, destination: PackDestination) {
    this.#known = known;
    this.#destination = destination;
    this.#deflater = new ObjectDeflater(destination.threads ?? usualThreads(), (objects, encoded) => {
      this.#append(this.#openPack(), objects, encoded);
    });
  }

  get bytesAdded(): number {
    return this.#pack?.position ?? 0;
  }

  has(oid: ObjectId): boolean {
    return this.#has(this.#bytesOf(oid));
  }

  writeBlob(content: Uint8Array): ObjectId {
    return this.#write('blob', content);
  }

  writeTree(entries: readonly TreeEntry[]): ObjectId {
    return this.#write('tree', encodeTree(entries));
  }

  writeCommit(content: Uint8Array): ObjectId {
    return this.#write('commit', content);
  }

  /** An object of any type as it is: trees of users hold what ours do not. */
  writeObject(type: StoredType, content: Uint8Array): ObjectId {
    return this.#write(type, content);
  }

  async writeLargeBlob(size: number, read: () => ContentReader): Promise<ObjectId | undefined> {
    this.#expectOpen();
    this.#state = 'writing';
    try {
      const id = await hashLargeBlob(size, read());
      if (id === undefined) return undefined;
      return this.#has(id) || (await this.#appendLarge(id, size, read())) ? hexOf(id) : undefined;
    } finally {
      this.#state = 'open';
    }
  }

  /**
   * Makes the pack durable, then visible, then its names durable. When any of this fails the save has failed: what
   * was made is removed again, and no fsync is asked twice.
   * @throws SnapError NO_SPACE.
   */
  async publish(): Promise<void> {
    this.#expectOpen();
    this.#state = 'closed';
    try {
      if (this.#objects.size > 0) await this.#publish();
    } finally {
      await this.#end();
    }
  }

  async abandon(): Promise<void> {
    this.#state = 'closed';
    await this.#end();
  }

  #write(type: StoredType, content: Uint8Array): ObjectId {
    this.#expectOpen();
    const oid = hashObject(type, content);
    const id = this.#bytesOf(oid);
    if (!this.#has(id)) {
      this.#openPack();
      this.#deflater.put(this.#objects.add(id), type, content);
    }
    return oid;
  }

  #append(pack: PackFile, objects: readonly number[], { bytes, lengths, checksums }: Encoded): void {
    let offset = pack.position;
    pack.append(bytes);
    objects.forEach((object, at) => {
      this.#objects.place(object, offset, checksums[at] as number);
      offset += lengths[at] as number;
    });
  }

  async #appendLarge(id: Buffer, size: number, content: ContentReader): Promise<boolean> {
    await this.#deflater.settle();
    const pack = this.#openPack();
    const start = pack.position;
    const checksum = await appendLargeBlob(pack, id, size, content);
    if (checksum === undefined) return false;
    this.#objects.place(this.#objects.add(id), start, checksum);
    return true;
  }

  /** Valid until the next call. */
  #bytesOf(oid: ObjectId): Buffer {
    this.#id.write(oid, 'hex');
    return this.#id;
  }

  #has(id: Buffer): boolean {
    return this.#objects.has(id) || this.#known.has(id);
  }

  async #publish(): Promise<void> {
    await this.#deflater.settle();
    if (!this.#objects.isComplete) throw broken('has not placed all objects');
    const { packDirectory, durable } = this.#destination;
    const pack = this.#openPack();
    const scratch = this.#openScratch();
    const checksum = await pack.finish(this.#objects.size, durable);
    writeNewFile(join(scratch, 'index'), encodeIndex(this.#objects, checksum), { mode: 0o444, durable });
    chmodSync(join(scratch, 'pack'), 0o444);
    const name = join(packDirectory, `pack-${checksum.toString('hex')}`);
    // The name is the content: the same pack may have come from elsewhere, and is then not ours to take back.
    if (!existsSync(`${name}.idx`)) this.#makeVisible(scratch, name, durable);
    else if (durable) syncDirectory(packDirectory);
  }

  #makeVisible(scratch: string, name: string, durable: boolean): void {
    const { packDirectory } = this.#destination;
    const placed: string[] = [];
    const place = (from: string, to: string): void => {
      renameSync(join(scratch, from), to);
      placed.unshift(to);
    };
    try {
      orNoSpace(packDirectory, () => {
        place('pack', `${name}.pack`);
        place('index', `${name}.idx`);
      });
      if (durable) syncDirectory(packDirectory);
    } catch (error) {
      for (const path of placed) rmSync(path, { force: true });
      throw error;
    }
  }

  #openPack(): PackFile {
    this.#pack ??= new PackFile(join(this.#openScratch(), 'pack'));
    return this.#pack;
  }

  #openScratch(): string {
    this.#scratch ??= makeScratchDirectory(this.#destination.scratchParent);
    return this.#scratch;
  }

  async #end(): Promise<void> {
    this.#pack?.close();
    if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true });
    this.#scratch = undefined;
    await this.#deflater.stop();
  }

  #expectOpen(): void {
    if (this.#state !== 'open') throw broken(`is ${this.#state} and cannot write`);
  }
}

function broken(how: string): SnapError<'INTERNAL'> {
  return new SnapError('INTERNAL', `An object writer ${how}.`, { what: 'object writer' });
}

function hexOf(id: Buffer): ObjectId {
  return id.toString('hex') as ObjectId;
}
