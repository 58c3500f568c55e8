import { createHash } from 'node:crypto';
import { type Deflate, constants, createDeflate } from 'node:zlib';

import { crc32 } from './crc32.js';
import { entryHeader, levelFor, objectHeader } from './format.js';
import { otherWork } from './other-work.js';
import type { PackFile } from './pack-file.js';

/** Content that is read piece by piece: fills the buffer, answers how much, 0 at the end. */
export interface ContentReader {
  next(buffer: Uint8Array): number;
}

const pieceBytes = 512 * 1024;

/** The id of the content, or undefined when it is not `size` bytes long. */
export async function hashLargeBlob(size: number, content: ContentReader): Promise<Buffer | undefined> {
  const sum = createHash('sha1').update(objectHeader('blob', size));
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let total = 0;
  for (let length = content.next(buffer); length > 0; length = content.next(buffer)) {
    sum.update(buffer.subarray(0, length));
    total += length;
    if (total > size) return undefined;
    await otherWork();
  }
  return total === size ? sum.digest() : undefined;
}

/**
 * Appends the blob to the pack, deflated while it is read, and hashes it meanwhile.
 * @returns the checksum of its bytes in the pack, or undefined when the content was not `id`; then nothing is left.
 */
export async function appendLargeBlob(
  pack: PackFile,
  id: Buffer,
  size: number,
  content: ContentReader,
): Promise<number | undefined> {
  const start = pack.position;
  try {
    const { checksum, hashed } = await deflateInto(pack, size, content);
    if (hashed.equals(id)) return checksum;
  } catch (error) {
    pack.rewindTo(start);
    throw error;
  }
  pack.rewindTo(start);
  return undefined;
}

async function deflateInto(
  pack: PackFile,
  size: number,
  content: ContentReader,
): Promise<{ checksum: number; hashed: Buffer }> {
  let piece = nextPiece(content);
  const deflating = new Deflating();
  let checksum = 0;
  const append = (bytes: Uint8Array): void => {
    checksum = crc32(bytes, checksum);
    pack.append(bytes);
  };
  append(entryHeader('blob', size));
  const sum = createHash('sha1').update(objectHeader('blob', size));
  try {
    // Content that grew is wrong already: no need to read all of it.
    for (let total = 0; piece.length > 0 && total <= size;) {
      const deflated = deflating.put(piece);
      total += piece.length;
      sum.update(piece);
      // Deflating goes on in another thread meanwhile.
      piece = nextPiece(content);
      for (const bytes of await deflated) append(bytes);
    }
    for (const bytes of await deflating.end()) append(bytes);
  } finally {
    deflating.close();
  }
  return { checksum, hashed: sum.digest() };
}

/** A deflate stream that is given one piece at a time, and answers what has come out of it since. */
class Deflating {
  readonly #stream: Deflate = createDeflate({ level: 1, chunkSize: 256 * 1024 });
  #level: 0 | 1 = 1;
  #output: Buffer[] = [];

  constructor() {
    this.#stream.on('data', (bytes: Buffer) => this.#output.push(bytes));
  }

  /** What is noise in one place need not be in the next: each piece is deflated if that pays for it. */
  async put(piece: Buffer): Promise<Buffer[]> {
    const level = levelFor(piece);
    if (level !== this.#level)
      await this.#settled((done) => this.#stream.params(level, constants.Z_DEFAULT_STRATEGY, done));
    this.#level = level;
    await this.#settled((done) => this.#stream.write(piece, done));
    return this.#output.splice(0);
  }

  async end(): Promise<Buffer[]> {
    await this.#settled((done) => {
      this.#stream.once('end', done);
      this.#stream.end();
    });
    return this.#output.splice(0);
  }

  close(): void {
    this.#stream.destroy();
  }

  #settled(act: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.once('error', reject);
      act((error) => {
        this.#stream.off('error', reject);
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  }
}

/** A buffer of its own for each piece: the one before is still being deflated when the next is read. */
function nextPiece(content: ContentReader): Buffer {
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  return buffer.subarray(0, content.next(buffer));
}
