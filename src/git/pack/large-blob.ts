import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createDeflate } from 'node:zlib';

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
  const first = nextPiece(content);
  const header = entryHeader('blob', size);
  let checksum = crc32(header);
  pack.append(header);
  const sum = createHash('sha1').update(objectHeader('blob', size));
  const pieces = piecesFrom(first, content, size, (piece) => sum.update(piece));
  try {
    await pipeline(
      Readable.from(pieces, { objectMode: true, highWaterMark: 2 }),
      createDeflate({ level: levelFor(first), chunkSize: 256 * 1024 }),
      async (deflated: AsyncIterable<Buffer>) => {
        for await (const bytes of deflated) {
          checksum = crc32(bytes, checksum);
          pack.append(bytes);
        }
      },
    );
  } catch (error) {
    pack.rewindTo(start);
    throw error;
  }
  if (sum.digest().equals(id)) return checksum;
  pack.rewindTo(start);
  return undefined;
}

function* piecesFrom(
  first: Buffer,
  content: ContentReader,
  size: number,
  onPiece: (piece: Buffer) => void,
): Generator<Buffer> {
  let total = 0;
  // Content that grew is wrong already: no need to read all of it.
  for (let piece = first; piece.length > 0 && total <= size; piece = nextPiece(content)) {
    total += piece.length;
    onPiece(piece);
    yield piece;
  }
}

/** A buffer of its own for each piece: deflating goes on in another thread while the next is read. */
function nextPiece(content: ContentReader): Buffer {
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  return buffer.subarray(0, content.next(buffer));
}
