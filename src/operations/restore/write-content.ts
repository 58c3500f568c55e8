import type { StoredFile } from '../../core/entry.js';
import type { NewFile, ObjectReader } from '../../core/ports.js';

/** Holes are left where at least this many zero bytes lie together and aligned. */
const holeBytes = 4096;

/** Writes a blob's bytes to a new file; a file that was sparse gets holes where its content is zero. */
export async function writeFileContent(
  reader: Pick<ObjectReader, 'stream'>,
  entry: Pick<StoredFile, 'oid' | 'sparse'>,
  file: NewFile,
): Promise<void> {
  const sink = entry.sparse ? new HoleMaker(file) : file;
  await reader.stream(entry.oid, (chunk) => {
    sink.write(chunk);
  });
}

class HoleMaker {
  readonly #file: NewFile;

  constructor(file: NewFile) {
    this.#file = file;
  }

  write(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at + holeBytes <= chunk.length; at += holeBytes) {
      if (!isZero(chunk.subarray(at, at + holeBytes))) continue;
      if (at > start) this.#file.write(chunk.subarray(start, at));
      this.#file.skip(holeBytes);
      start = at + holeBytes;
    }
    if (start < chunk.length) this.#file.write(chunk.subarray(start));
  }
}

const zeros = Buffer.alloc(holeBytes);

function isZero(block: Uint8Array): boolean {
  return zeros.equals(block);
}
