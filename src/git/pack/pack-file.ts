import { Buffer } from 'node:buffer';
import { type Hash, createHash } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';

import { orNoSpace, writeFully } from '../../fs/durable.js';
import { packHeader } from './format.js';
import { otherWork } from './other-work.js';

const blockBytes = 1024 * 1024;
const blocksInMemory = 32;
const readAtOnce = 4 * 1024 * 1024;

/**
 * The bytes of one pack under construction. They stay in memory while they are few, and go to the file at `path` from
 * then on; the file exists only after the first such write or `finish`.
 */
export class PackFile {
  readonly #path: string;
  /** What is not in the file yet: full blocks, then one that is being filled. */
  #blocks: Buffer[] = [];
  #block: Buffer = Buffer.allocUnsafeSlow(blockBytes);
  #filled = 0;
  #flushed = 0;
  #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.append(packHeader(0));
  }

  /** Where the next byte goes. */
  get position(): number {
    return this.#flushed + this.#blocks.length * blockBytes + this.#filled;
  }

  /** The bytes are copied. @throws SnapError NO_SPACE. */
  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      if (this.#filled === blockBytes) this.#nextBlock();
      const piece = bytes.subarray(from, from + blockBytes - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      from += piece.length;
    }
  }

  /** Takes back everything from `position` on. */
  rewindTo(position: number): void {
    if (position < this.#flushed) {
      ftruncateSync(this.#open(), position);
      this.#flushed = position;
    }
    const kept = position - this.#flushed;
    const full = Math.min(Math.floor(kept / blockBytes), this.#blocks.length);
    this.#block = this.#blocks[full] ?? this.#block;
    this.#blocks.length = full;
    this.#filled = kept - full * blockBytes;
  }

  /** Completes the file; durable when it returns. @returns its checksum. */
  async finish(objects: number, durable: boolean): Promise<Buffer> {
    const checksum = this.#flushed === 0 ? this.#sumInMemory(objects) : await this.#sumOnDisk(objects);
    this.append(checksum);
    this.#flush();
    orNoSpace(this.#path, () => {
      if (durable) fsyncSync(this.#open());
      this.close();
    });
    return checksum;
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    this.#blocks = [];
    this.#filled = 0;
    if (fd !== undefined) closeSync(fd);
  }

  #sumInMemory(objects: number): Buffer {
    const [first = this.#block] = this.#blocks;
    first.set(packHeader(objects));
    const sum = createHash('sha1');
    for (const block of this.#blocks) sum.update(block);
    sum.update(this.#block.subarray(0, this.#filled));
    return sum.digest();
  }

  /** The number of objects comes first and is known last, so that what was written must be read once more. */
  async #sumOnDisk(objects: number): Promise<Buffer> {
    this.#flush();
    writeFully(this.#open(), packHeader(objects), 0);
    const sum = createHash('sha1');
    const buffer = Buffer.allocUnsafe(readAtOnce);
    for (let at = 0; at < this.#flushed;) {
      at += this.#sumPiece(sum, buffer, at);
      await otherWork();
    }
    return sum.digest();
  }

  #sumPiece(sum: Hash, buffer: Buffer, at: number): number {
    const length = readSync(this.#open(), buffer, 0, buffer.length, at);
    sum.update(buffer.subarray(0, length));
    return length;
  }

  /** Once something is in the file, blocks follow as they are filled, and one is enough. */
  #nextBlock(): void {
    this.#blocks.push(this.#block);
    this.#filled = 0;
    if (this.#flushed === 0 && this.#blocks.length < blocksInMemory) this.#block = Buffer.allocUnsafeSlow(blockBytes);
    else this.#flush();
  }

  #flush(): void {
    orNoSpace(this.#path, () => {
      for (const block of this.#blocks) this.#write(block);
      this.#write(this.#block.subarray(0, this.#filled));
    });
    this.#blocks = [];
    this.#filled = 0;
  }

  #write(bytes: Buffer): void {
    writeFully(this.#open(), bytes, this.#flushed);
    this.#flushed += bytes.length;
  }

  #open(): number {
    this.#fd ??= openSync(this.#path, 'wx+', 0o600);
    return this.#fd;
  }
}
