import { Buffer } from 'node:buffer';

import { BlockRanges, type DataRange } from './data-ranges.js';

/*
 * Where a file's data lies, from the beginning of a tar that GNU tar made of it (pax, GNU.sparse 1.0): an extended
 * header that says so, the file's header, then the map in lines: the number of ranges, and offset and length of each.
 */

const blockBytes = 512;
const extendedHeaderAtMost = 65_536;
/** A longer line is no number. */
const lineAtMost = 20;
/** More ranges than that are not worth their memory. */
const rangesAtMost = 1_000_000;

/** Takes the tar in portions, until it has an answer. */
export class SparseMapReader {
  readonly #size: number;
  readonly #blocks: BlockRanges;
  #rest: Buffer = Buffer.alloc(0);
  #step: () => boolean = () => this.#extendedHeader();
  #announced = 0;
  #numbers = 0;
  #offset = 0;
  #end = 0;
  #answer: { readonly ranges: readonly DataRange[] | undefined } | undefined;

  /** @param size of the file */
  constructor(size: number) {
    this.#size = size;
    this.#blocks = new BlockRanges(size);
  }

  /** Undefined while more is needed. Its ranges are undefined when this is no sound map of a file of this size. */
  push(chunk: Buffer): { readonly ranges: readonly DataRange[] | undefined } | undefined {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#answer === undefined && this.#step());
    return this.#answer;
  }

  /** Each step answers false when it needs more, or has given the answer. */
  #extendedHeader(): boolean {
    const header = this.#peek(blockBytes);
    if (header === undefined) return false;
    const length = parseInt(header.toString('latin1', 124, 136), 8);
    if (header[156] !== 0x78 || !(length > 0 && length <= extendedHeaderAtMost)) return this.#refuse();
    const padded = Math.ceil(length / blockBytes) * blockBytes;
    const all = this.#peek(blockBytes + padded);
    if (all === undefined) return false;
    const text = all.toString('latin1', blockBytes, blockBytes + length);
    const says = (key: string, value: string): boolean => text.includes(` GNU.sparse.${key}=${value}\n`);
    if (!says('major', '1') || !says('minor', '0') || !says('realsize', String(this.#size))) return this.#refuse();
    this.#skip(blockBytes + padded);
    this.#step = () => this.#fileHeader();
    return true;
  }

  #fileHeader(): boolean {
    const header = this.#peek(blockBytes);
    if (header === undefined) return false;
    if (header[156] !== 0x30) return this.#refuse();
    this.#skip(blockBytes);
    this.#step = () => this.#number();
    return true;
  }

  #number(): boolean {
    const end = this.#rest.indexOf(0x0a);
    if (end < 0) return this.#rest.length > lineAtMost ? this.#refuse() : false;
    const value = numberOf(this.#rest.toString('latin1', 0, end));
    if (value === undefined) return this.#refuse();
    this.#skip(end + 1);
    this.#numbers += 1;
    if (this.#numbers === 1) return this.#announce(value);
    if (this.#numbers % 2 === 0) {
      this.#offset = value;
      return true;
    }
    return this.#addRange(value);
  }

  #announce(count: number): boolean {
    if (count > rangesAtMost) return this.#refuse();
    this.#announced = count;
    return count > 0 || this.#finish();
  }

  #addRange(length: number): boolean {
    if (this.#offset < this.#end || this.#offset + length > this.#size) return this.#refuse();
    this.#end = this.#offset + length;
    this.#blocks.add(this.#offset, length);
    return this.#numbers < 1 + 2 * this.#announced || this.#finish();
  }

  #finish(): false {
    this.#answer = { ranges: this.#blocks.ranges };
    return false;
  }

  #refuse(): false {
    this.#answer = { ranges: undefined };
    return false;
  }

  #peek(length: number): Buffer | undefined {
    return this.#rest.length < length ? undefined : this.#rest.subarray(0, length);
  }

  #skip(length: number): void {
    this.#rest = this.#rest.subarray(length);
  }
}

function numberOf(line: string): number | undefined {
  const value = /^[0-9]{1,16}$/.test(line) ? Number(line) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}
