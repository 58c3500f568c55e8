import { Buffer } from 'node:buffer';
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { type Gzip, createGzip } from 'node:zlib';

/** A new file that is written from start to end, compressed with gzip when asked. */
export interface ArchiveFile {
  write(chunk: Uint8Array): Promise<void>;
  /** Durable when it returns. */
  finish(): Promise<void>;
  /** Leaves no file behind. */
  abandon(): Promise<void>;
}

/** @param path bytes, carried as latin1; it must be free */
export function createArchiveFile(path: string, compress: boolean): ArchiveFile {
  const name = Buffer.from(path, 'latin1');
  const fd = openSync(name, 'wx', 0o600);
  const put = (chunk: Uint8Array): void => {
    for (let written = 0; written < chunk.length;) written += writeSync(fd, chunk, written);
  };
  const gzip = compress ? createGzip() : undefined;
  gzip?.on('data', put);
  return {
    async write(chunk) {
      if (gzip === undefined) put(chunk);
      // The chunk may be used again by its owner, and the compressor takes its time.
      else if (!gzip.write(Buffer.from(chunk))) await happens(gzip, 'drain');
    },
    async finish() {
      if (gzip !== undefined) {
        const ended = happens(gzip, 'end');
        gzip.end();
        await ended;
      }
      fsyncSync(fd);
      closeSync(fd);
    },
    // eslint-disable-next-line @typescript-eslint/require-await
    async abandon() {
      gzip?.destroy();
      closeSync(fd);
      unlinkSync(name);
    },
  };
}

function happens(gzip: Gzip, event: 'drain' | 'end'): Promise<void> {
  return new Promise((resolve, reject) => {
    gzip.once(event, resolve);
    gzip.once('error', reject);
  });
}
