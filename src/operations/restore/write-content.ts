import { Buffer } from 'node:buffer';

import type { StoredFile } from '../../core/entry.js';
import type { NewFile, ObjectReader } from '../../core/ports.js';
import { streamStored } from '../stored-bytes.js';

/** Holes are left where at least this many zero bytes lie together and aligned. */
const holeBytes = 4096;

/** Writes a blob's bytes to a new file; a file that was sparse gets holes where its content is zero. */
export async function writeFileContent(
  reader: Pick<ObjectReader, 'stream'>,
  entry: Pick<StoredFile, 'kind' | 'oid' | 'size' | 'sparse' | 'byRanges'>,
  file: NewFile,
): Promise<void> {
  const sink = entry.sparse ? new HoleMaker(file) : file;
  await streamStored(reader, entry, {
    data: (chunk) => {
      sink.write(chunk);
    },
    hole: (length) => {
      sink.skip(length);
    },
  });
  if (sink instanceof HoleMaker) sink.finish();
}

class HoleMaker {
  readonly #file: NewFile;
  /** The beginning of a block whose end has not come yet. */
  #begun: Buffer = Buffer.alloc(0);

  constructor(file: NewFile) {
    this.#file = file;
  }

  /** What comes after a hole, or first of all, begins with a block. */
  write(chunk: Buffer): void {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    let start = 0;
    let at = 0;
    for (; at + holeBytes <= bytes.length; at += holeBytes) {
      if (!isZero(bytes.subarray(at, at + holeBytes))) continue;
      if (at > start) this.#file.write(bytes.subarray(start, at));
      this.#file.skip(holeBytes);
      start = at + holeBytes;
    }
    if (start < at) this.#file.write(bytes.subarray(start, at));
    this.#begun = Buffer.from(bytes.subarray(at));
  }

  skip(length: number): void {
    this.finish();
    this.#file.skip(length);
  }

  finish(): void {
    if (this.#begun.length > 0) this.#file.write(this.#begun);
    this.#begun = Buffer.alloc(0);
  }
}

const zeros = Buffer.alloc(holeBytes);

function isZero(block: Uint8Array): boolean {
  return zeros.equals(block);
}
