import { Buffer } from 'node:buffer';
import { closeSync, readSync, unlinkSync } from 'node:fs';
import { inflateSync } from 'node:zlib';

import { systemCode } from '../errors.js';
import { WrittenFile } from '../fs/files.js';
import { openRegularFile } from '../fs/regular-file.js';
import { blobType, longestHeader, parseHeader } from '../git/pack/entry-header.js';
import { hashObject } from '../git/pack/format.js';
import { type Batch, type MakeJob, type Outcomes, done, notDone, ownerRefused } from './jobs.js';

/** Larger files are made piece by piece, by somebody else. */
export const madeAtMost: number = 1024 * 1024;

/** Blobs that lie beside each other are read together. */
const windowBytes = 2 * 1024 * 1024;

/** Makes files from the blobs of packs. Content is held against its id before it is written. */
export class FileMaker {
  readonly #window = Buffer.allocUnsafeSlow(windowBytes);
  #windowStart = 0;
  #windowEnd = 0;
  #pack: { readonly path: string; readonly fd: number } | undefined;

  make({ pack, directory, jobs }: Extract<Batch, { kind: 'make' }>): Outcomes {
    return Uint8Array.from(jobs, (job) => {
      try {
        const content = this.#contentOf(pack, job);
        return content === undefined ? notDone : writeFile(`${directory}/${job.name}`, content, job);
      } catch (error) {
        // Whoever makes it then meets the same fault, or none.
        if (systemCode(error) === undefined) throw error;
        return notDone;
      }
    });
  }

  close(): void {
    if (this.#pack !== undefined) closeSync(this.#pack.fd);
    this.#pack = undefined;
  }

  /** Undefined for a delta, and for what is not the blob. */
  #contentOf(pack: string, { offset, oid, size }: MakeJob): Buffer | undefined {
    // Deflated data that does not shrink grows by less than this.
    const bytes = this.#bytesFrom(pack, offset, longestHeader + size + (size >> 8) + 128);
    const header = parseHeader(bytes.subarray(0, longestHeader));
    if (header?.type !== blobType || header.size !== size) return undefined;
    const content = inflateSync(bytes.subarray(header.length), {
      maxOutputLength: Math.max(1, size),
      chunkSize: Math.max(64, size + 1),
    });
    return content.length === size && hashObject('blob', content) === oid ? content : undefined;
  }

  /** Fewer than `length` where the pack ends. Valid until the next call. */
  #bytesFrom(pack: string, start: number, length: number): Buffer {
    const fd = this.#open(pack);
    if (start < this.#windowStart || start + length > this.#windowEnd) {
      this.#windowStart = start;
      this.#windowEnd = start + readSync(fd, this.#window, 0, windowBytes, start);
    }
    const from = start - this.#windowStart;
    return this.#window.subarray(from, Math.min(from + length, this.#windowEnd - this.#windowStart));
  }

  #open(path: string): number {
    if (this.#pack?.path === path) return this.#pack.fd;
    this.close();
    this.#windowEnd = 0;
    this.#pack = { path, fd: openRegularFile(path) };
    return this.#pack.fd;
  }
}

function writeFile(path: string, content: Buffer, { mode, uid, gid }: MakeJob): number {
  const file = WrittenFile.create(path);
  let finishing = false;
  try {
    file.write(content);
    const isOwned = file.setOwner(uid, gid);
    file.setMode(mode);
    finishing = true;
    file.finish(false);
    return isOwned ? done : ownerRefused;
  } catch (error) {
    if (!finishing) file.abandon();
    unlinkSync(path);
    throw error;
  }
}
