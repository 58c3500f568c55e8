import { Buffer } from 'node:buffer';

import { RangesDecoder } from '../core/data-ranges.js';
import type { StoredFile, StoredSymlink } from '../core/entry.js';
import type { ObjectReader } from '../core/ports.js';

/** Takes a file from its start to its end. */
export interface ByteSink {
  data(chunk: Buffer): void | Promise<void>;
  /** So many zeros. */
  hole(length: number): void | Promise<void>;
}

type Stored = StoredSymlink | Pick<StoredFile, 'kind' | 'oid' | 'size' | 'byRanges'>;

/**
 * A file's bytes, or a link's text, as they were, from the blob that holds them in whatever form.
 * @throws SnapError STORE_DAMAGED at the latest at their end, when they are not what was stored
 */
export async function streamStored(reader: Pick<ObjectReader, 'stream'>, entry: Stored, sink: ByteSink): Promise<void> {
  if (entry.kind === 'symlink' || entry.byRanges !== true) {
    await reader.stream(entry.oid, (chunk) => sink.data(chunk));
    return;
  }
  const decoder = new RangesDecoder(entry.size);
  const pass = async (pieces: ReturnType<typeof decoder.push>): Promise<void> => {
    for (const piece of pieces) await ('hole' in piece ? sink.hole(piece.hole) : sink.data(piece.data));
  };
  await reader.stream(entry.oid, (chunk) => pass(decoder.push(chunk)));
  await pass(decoder.finish());
}

const zeros = Buffer.alloc(1024 * 1024);

/** A sink that is handed zeros for holes. */
export function withZeros(write: (chunk: Uint8Array) => void | Promise<void>): ByteSink {
  return {
    data: write,
    hole: async (length) => {
      for (let left = length; left > 0; left -= zeros.length) await write(zeros.subarray(0, left));
    },
  };
}
