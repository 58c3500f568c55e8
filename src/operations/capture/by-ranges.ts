import { Buffer } from 'node:buffer';

import { BlockRanges, type DataRange, encodeRangesHeader, rangeBlock } from '../../core/data-ranges.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectWriter, OpenFile } from '../../core/ports.js';

/**
 * Stores a file by its data ranges. What the system says of its holes only saves reading them: ranges are the blocks
 * that hold something, so that the blob is the same wherever the same content lies.
 * @returns undefined when the file changed meanwhile
 */
export async function storeByRanges(
  file: OpenFile,
  size: number,
  writer: Pick<ObjectWriter, 'writeLargeBlob'>,
): Promise<{ oid: ObjectId; bytesRead: number } | undefined> {
  const told = (await file.dataRanges()) ?? [{ offset: 0, length: size }];
  const { header, ranges } = layoutOf(size, await filledBlocks(file, size, told));
  const bytes = ranges.reduce((sum, { length }) => sum + length, 0);
  const oid = await writer.writeLargeBlob(header.length + bytes, () => new RangesSource(file, header, ranges));
  return oid === undefined ? undefined : { oid, bytesRead: bytes };
}

function layoutOf(size: number, filled: readonly DataRange[]): { header: Buffer; ranges: readonly DataRange[] } {
  const header = encodeRangesHeader(size, filled);
  if (header !== undefined) return { header, ranges: filled };
  const whole = [{ offset: 0, length: size }];
  return { header: encodeRangesHeader(size, whole) ?? Buffer.alloc(0), ranges: whole };
}

const zeros = Buffer.alloc(rangeBlock);
const scannedAtOnce = 16 * rangeBlock;

async function filledBlocks(file: OpenFile, size: number, told: readonly DataRange[]): Promise<readonly DataRange[]> {
  const filled = new BlockRanges(size);
  const scratch = Buffer.allocUnsafeSlow(scannedAtOnce);
  const grown = new BlockRanges(size);
  for (const { offset, length } of told) grown.add(offset, length);
  for (const { offset, length } of grown.ranges) {
    for (let at = offset; at < offset + length; at += scannedAtOnce) {
      const piece = scratch.subarray(0, Math.min(scannedAtOnce, offset + length - at));
      // What is missing shows when the ranges are read.
      const got = readFully(file, piece, at);
      addFilled(filled, piece.subarray(0, got), at);
      // Signals and progress get their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return filled.ranges;
}

function addFilled(filled: BlockRanges, piece: Buffer, at: number): void {
  for (let from = 0; from < piece.length; from += rangeBlock) {
    const block = piece.subarray(from, from + rangeBlock);
    if (!zeros.subarray(0, block.length).equals(block)) filled.add(at + from, block.length);
  }
}

function readFully(file: OpenFile, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const read = file.readAt(buffer.subarray(filled), position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/** The header, then the bytes of the ranges. */
class RangesSource {
  readonly #file: OpenFile;
  readonly #ranges: readonly DataRange[];
  #header: Buffer;
  #range = 0;
  /** How far into the range. */
  #done = 0;

  constructor(file: OpenFile, header: Buffer, ranges: readonly DataRange[]) {
    this.#file = file;
    this.#header = header;
    this.#ranges = ranges;
  }

  next(buffer: Uint8Array): number {
    if (this.#header.length > 0) {
      const part = this.#header.subarray(0, buffer.length);
      buffer.set(part);
      this.#header = this.#header.subarray(part.length);
      return part.length;
    }
    const range = this.#ranges[this.#range];
    if (range === undefined) return 0;
    const wanted = Math.min(buffer.length, range.length - this.#done);
    const read = this.#file.readAt(buffer.subarray(0, wanted), range.offset + this.#done);
    this.#done += read;
    if (this.#done === range.length) [this.#range, this.#done] = [this.#range + 1, 0];
    return read;
  }
}
