import { Buffer } from 'node:buffer';
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import type { ObjectWriter, TreeEntry } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import { makeScratchDirectory, orNoSpace, syncDirectory, writeNewFile } from '../../fs/durable.js';
import { crc32 } from './crc32.js';
import { type StoredType, encodeObject, encodeTree, hashObject } from './format.js';
import { encodeIndex } from './index-file.js';
import type { KnownObjects } from './known-objects.js';
import { type ContentReader, appendLargeBlob, hashLargeBlob } from './large-blob.js';
import { ObjectTable } from './object-table.js';
import { PackFile } from './pack-file.js';

export interface PackDestination {
  /** Where unfinished files go: a directory of this writer's own is made in it. */
  readonly scratchParent: string;
  /** An `objects/pack` directory. */
  readonly packDirectory: string;
  /** False for a pack that nothing will depend on. */
  readonly durable: boolean;
}

/**
 * Writes the new objects of one save into one pack. Until `publish` nothing is visible: what a crash leaves is a
 * directory below the scratch parent. The pack becomes visible with its index, which is renamed last.
 *
 * One write at a time: while `writeLargeBlob` runs, no other may be started.
 */
export class PackWriter implements ObjectWriter {
  readonly #known: KnownObjects;
  readonly #destination: PackDestination;
  readonly #objects = new ObjectTable();
  #scratch: string | undefined;
  #pack: PackFile | undefined;
  #state: 'open' | 'writing' | 'closed' = 'open';

  constructor(known: KnownObjects, destination: PackDestination) {
    this.#known = known;
    this.#destination = destination;
  }

  get bytesAdded(): number {
    return this.#pack?.position ?? 0;
  }

  has(oid: ObjectId): boolean {
    return this.#has(Buffer.from(oid, 'hex'));
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
      if (this.#pack !== undefined) await this.#publish(this.#pack);
    } finally {
      this.#removeScratch();
    }
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async abandon(): Promise<void> {
    this.#state = 'closed';
    this.#removeScratch();
  }

  #write(type: StoredType, content: Uint8Array): ObjectId {
    this.#expectOpen();
    const id = hashObject(type, content);
    if (!this.#has(id)) {
      const pack = this.#openPack();
      const encoded = encodeObject(type, content);
      this.#objects.add(id, pack.position, crc32(encoded));
      pack.append(encoded);
    }
    return hexOf(id);
  }

  async #appendLarge(id: Buffer, size: number, content: ContentReader): Promise<boolean> {
    const pack = this.#openPack();
    const start = pack.position;
    const checksum = await appendLargeBlob(pack, id, size, content);
    if (checksum === undefined) return false;
    this.#objects.add(id, start, checksum);
    return true;
  }

  #has(id: Buffer): boolean {
    return this.#objects.has(id) || this.#known.has(id);
  }

  async #publish(pack: PackFile): Promise<void> {
    const { packDirectory, durable } = this.#destination;
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

  #removeScratch(): void {
    this.#pack?.close();
    if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true });
    this.#scratch = undefined;
  }

  #expectOpen(): void {
    if (this.#state !== 'open') {
      throw new SnapError('INTERNAL', `An object writer that is ${this.#state} cannot write.`, {
        what: 'object writer',
      });
    }
  }
}

function hexOf(id: Buffer): ObjectId {
  return id.toString('hex') as ObjectId;
}
