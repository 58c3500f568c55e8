import { Buffer } from 'node:buffer';
import { type Hash, createHash } from 'node:crypto';
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';

import { orNoSpace, writeFully } from '../../fs/durable.js';
import { packHeader } from './format.js';
import { otherWork } from './other-work.js';

const keptInMemory = 32 * 1024 * 1024;
const readAtOnce = 4 * 1024 * 1024;

/**
 * The bytes of one pack under construction. They stay in memory while they are few, and go to the file at `path` from
 * then on; the file exists only after the first such write or `finish`.
 */
export class PackFile {
  readonly #path: string;
  #pending: Uint8Array[] = [packHeader(0)];
  #flushed = 0;
  #position: number;
  #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#position = packHeader(0).length;
  }

  /** Where the next byte goes. */
  get position(): number {
    return this.#position;
  }

  /** The bytes belong to this file from now on. @throws SnapError NO_SPACE. */
  append(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#position += bytes.length;
    if (this.#position - this.#flushed > keptInMemory) this.#flush();
  }

  /** Takes back everything from `position` on, which must be where an `append` began. */
  rewindTo(position: number): void {
    if (position < this.#flushed) {
      ftruncateSync(this.#open(), position);
      this.#pending = [];
      this.#flushed = this.#position = position;
    }
    while (this.#position > position) this.#position -= this.#pending.pop()?.length ?? 0;
  }

  /** Completes the file; durable when it returns. @returns its checksum. */
  async finish(objects: number, durable: boolean): Promise<Buffer> {
    const checksum = this.#flushed === 0 ? this.#sumInMemory(objects) : await this.#sumOnDisk(objects);
    this.#pending.push(checksum);
    this.#position += checksum.length;
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
    this.#pending = [];
    if (fd !== undefined) closeSync(fd);
  }

  #sumInMemory(objects: number): Buffer {
    this.#pending[0] = packHeader(objects);
    const sum = createHash('sha1');
    for (const bytes of this.#pending) sum.update(bytes);
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

  #flush(): void {
    orNoSpace(this.#path, () => {
      for (const bytes of grouped(this.#pending)) {
        writeFully(this.#open(), bytes, this.#flushed);
        this.#flushed += bytes.length;
      }
    });
    this.#pending = [];
  }

  #open(): number {
    this.#fd ??= openSync(this.#path, 'wx+', 0o600);
    return this.#fd;
  }
}

const groupBytes = 1024 * 1024;

/** Many small pieces as few larger ones: a system call for each would cost more than copying. */
function* grouped(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  let group: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    group.push(piece);
    size += piece.length;
    if (size < groupBytes) continue;
    yield group.length === 1 ? piece : Buffer.concat(group);
    group = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(group);
}
