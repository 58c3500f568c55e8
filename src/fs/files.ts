import type { Buffer } from 'node:buffer';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';

import type { DataRange } from '../core/data-ranges.js';
import type { EntryStat } from '../core/entry.js';
import type { FindData } from '../core/data-ranges.js';
import type { NewFile, OpenFile } from '../core/ports.js';
import { systemCode } from '../errors.js';
import { toEntryStat } from './entry-stat.js';

// O_NONBLOCK: a pipe that was put in the file's place must not make us wait for a writer.
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** All of a file counts as data. */
export const untold: FindData = () => Promise.resolve(undefined);

/** A file opened for reading, by descriptor: what is read is what was opened, whatever its name means later. */
export class ReadFile implements OpenFile {
  readonly #fd: number;
  readonly #keepsAccessTime: boolean;
  readonly #findData: FindData;

  private constructor(fd: number, keepsAccessTime: boolean, findData: FindData) {
    this.#fd = fd;
    this.#keepsAccessTime = keepsAccessTime;
    this.#findData = findData;
  }

  /** The access time is left alone where the caller may ask for that (its own files). */
  static open(path: string | Buffer, findData: FindData = untold): ReadFile {
    try {
      return new ReadFile(openSync(path, readFlags | constants.O_NOATIME), true, findData);
    } catch (error) {
      if (systemCode(error) !== 'EPERM') throw error;
      return new ReadFile(openSync(path, readFlags), false, findData);
    }
  }

  stat(): EntryStat {
    return toEntryStat(fstatSync(this.#fd, { bigint: true }));
  }

  read(buffer: Uint8Array): number {
    return readSync(this.#fd, buffer, 0, buffer.length, null);
  }

  readAt(buffer: Uint8Array, position: number): number {
    return readSync(this.#fd, buffer, 0, buffer.length, position);
  }

  dataRanges(): Promise<readonly DataRange[] | undefined> {
    const { size } = this.stat();
    return this.#findData({ descriptor: this.#fd, size, keepsAccessTime: this.#keepsAccessTime });
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** A file under construction: new, private (0600) until its mode is set, durable when `finish` returns, where that is asked for. */
export class WrittenFile implements NewFile {
  readonly #fd: number;
  #position = 0;
  /** Nothing was written after a hole: the file is shorter than it is to be. */
  #endsInHole = false;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  static create(path: string | Buffer): WrittenFile {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return new WrittenFile(openSync(path, flags, 0o600));
  }

  write(chunk: Uint8Array): void {
    let written = 0;
    while (written < chunk.length) {
      written += writeSync(this.#fd, chunk, written, chunk.length - written, this.#position + written);
    }
    this.#position += written;
    if (written > 0) this.#endsInHole = false;
  }

  skip(length: number): void {
    this.#position += length;
    this.#endsInHole = true;
  }

  setMode(mode: number): void {
    // Sizing a file clears its set-id bits, so the size comes first.
    this.#setSize();
    fchmodSync(this.#fd, mode);
  }

  setOwner(uid: number, gid: number): boolean {
    try {
      fchownSync(this.#fd, uid, gid);
      return true;
    } catch (error) {
      if (systemCode(error) === 'EPERM') return false;
      throw error;
    }
  }

  finish(durable: boolean): void {
    try {
      this.#setSize();
      if (durable) fsyncSync(this.#fd);
    } finally {
      closeSync(this.#fd);
    }
  }

  abandon(): void {
    closeSync(this.#fd);
  }

  #setSize(): void {
    if (!this.#endsInHole) return;
    ftruncateSync(this.#fd, this.#position);
    this.#endsInHole = false;
  }
}
