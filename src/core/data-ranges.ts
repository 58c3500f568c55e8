import { Buffer } from 'node:buffer';

import { SnapError } from '../errors.js';

/*
 * The form in which the blob of a file with vast holes is written: a text header (what it is, the file's size, where
 * its data lies), then the data. Ranges are made of whole blocks of the file that hold something else than zeros, so
 * that the form follows from the content alone, whatever the file system says of its holes.
 */

export interface DataRange {
  readonly offset: number;
  readonly length: number;
}

/** Asks the system where the data of an open file lies. */
export type FindData = (file: {
  readonly descriptor: number;
  readonly size: number;
  /** Whether the descriptor was opened so that reading leaves the time of access alone. */
  readonly keepsAccessTime: boolean;
}) => Promise<readonly DataRange[] | undefined>;

/** What the blob begins with. No blob of any other form does: a file that begins so is written by ranges itself. */
export const rangesMagic: Buffer = Buffer.from('jackin-ranges 1\n', 'latin1');

/** Ranges begin at multiples of this, and end at one or at the end of the file. */
export const rangeBlock = 65_536;

/** A longer header is not written: the whole file is one range then. */
export const rangesHeaderAtMost: number = 8 * 1024 * 1024;

export function beginsLikeRanges(content: Uint8Array): boolean {
  return content.length >= rangesMagic.length && rangesMagic.equals(content.subarray(0, rangesMagic.length));
}

/** Undefined when it would be longer than a header may be. */
export function encodeRangesHeader(size: number, ranges: readonly DataRange[]): Buffer | undefined {
  const lines: string[] = [];
  let length = rangesMagic.length + String(size).length + 2;
  for (const { offset, length: bytes } of ranges) {
    const line = `${String(offset)} ${String(bytes)}\n`;
    length += line.length;
    if (length > rangesHeaderAtMost) return undefined;
    lines.push(line);
  }
  return Buffer.concat([rangesMagic, Buffer.from(`${String(size)}\n${lines.join('')}\n`, 'latin1')]);
}

/** Puts ranges together that share blocks or touch, given in ascending order; each grows to whole blocks. */
export class BlockRanges {
  readonly #size: number;
  readonly #ranges: { offset: number; length: number }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  get ranges(): readonly DataRange[] {
    return this.#ranges;
  }

  add(offset: number, length: number): void {
    const start = offset - (offset % rangeBlock);
    if (length === 0 || start >= this.#size) return;
    const end = Math.min(this.#size, Math.ceil((offset + length) / rangeBlock) * rangeBlock);
    const last = this.#ranges.at(-1);
    if (last !== undefined && start <= last.offset + last.length)
      last.length = Math.max(last.length, end - last.offset);
    else this.#ranges.push({ offset: start, length: end - start });
  }
}

/** What a blob by ranges says of its file, from the start of the file to its end. */
export type Piece = { readonly data: Buffer } | { readonly hole: number };

/**
 * Takes such a blob apart, chunk by chunk. Nothing that it says is believed before it was checked, and no more of it
 * is kept than a header may be long.
 * @throws SnapError STORE_DAMAGED for anything that no writer makes of a file of this size
 */
export class RangesDecoder {
  readonly #size: number;
  #header: Buffer | undefined = Buffer.alloc(0);
  #ranges: readonly DataRange[] = [];
  #next = 0;
  /** Where in the file we are. */
  #position = 0;
  /** What is left of the range that we are in. */
  #left = 0;

  constructor(size: number) {
    this.#size = size;
  }

  *push(chunk: Buffer): Generator<Piece> {
    let rest = this.#header === undefined ? chunk : this.#takeHeader(this.#header, chunk);
    while (rest.length > 0) {
      if (this.#left === 0) yield* this.#enterRange();
      const data = rest.subarray(0, this.#left);
      this.#left -= data.length;
      this.#position += data.length;
      rest = rest.subarray(data.length);
      yield { data };
    }
  }

  *finish(): Generator<Piece> {
    if (this.#header !== undefined) throw damaged('its header has no end');
    if (this.#left > 0 || this.#next < this.#ranges.length) throw damaged('it is shorter than its ranges');
    if (this.#position < this.#size) yield { hole: this.#size - this.#position };
  }

  *#enterRange(): Generator<Piece> {
    const range = this.#ranges[this.#next++];
    if (range === undefined) throw damaged('it is longer than its ranges');
    if (range.offset > this.#position) yield { hole: range.offset - this.#position };
    this.#position = range.offset;
    this.#left = range.length;
  }

  /** @returns what follows the header; nothing before its end has come */
  #takeHeader(before: Buffer, chunk: Buffer): Buffer {
    const header = Buffer.concat([before, chunk]);
    const end = header.indexOf('\n\n', Math.max(0, before.length - 1), 'latin1');
    if ((end < 0 ? header.length : end + 2) > rangesHeaderAtMost) throw damaged('its header is too long');
    this.#header = end < 0 ? header : undefined;
    if (end < 0) return header.subarray(header.length);
    this.#ranges = parseHeader(header.subarray(0, end + 1), this.#size);
    return header.subarray(end + 2);
  }
}

function parseHeader(header: Buffer, size: number): DataRange[] {
  if (!beginsLikeRanges(header)) throw damaged('it does not begin as one does');
  const [sizeLine = '', ...lines] = header.toString('latin1', rangesMagic.length, header.length - 1).split('\n');
  if (numberOf(sizeLine) !== size) throw damaged('it is of a file of another size');
  let end = -1;
  return lines.map((line) => {
    const range = parseRange(line, size);
    if (range.offset <= end) throw damaged('its ranges are out of order');
    end = range.offset + range.length;
    return range;
  });
}

function parseRange(line: string, size: number): DataRange {
  const [offset, length, ...others] = line.split(' ').map(numberOf);
  if (offset === undefined || length === undefined || others.length > 0) throw damaged('a range cannot be read');
  const end = offset + length;
  if (length === 0 || end > size) throw damaged('a range is empty or leads beyond the size');
  if (!isBoundary(offset) || !(isBoundary(end) || end === size)) throw damaged('a range is not whole blocks');
  return { offset, length };
}

function isBoundary(position: number): boolean {
  return position % rangeBlock === 0;
}

function numberOf(text: string): number | undefined {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

function damaged(problem: string): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', `A file that is stored by its data ranges cannot be read: ${problem}.`, {
    problem,
  });
}
