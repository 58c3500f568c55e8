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
  const compressor = compress ? new Compressor(put) : undefined;
  return {
    async write(chunk) {
      if (compressor === undefined) put(chunk);
      else await compressor.write(chunk);
    },
    async finish() {
      await compressor?.finish();
      fsyncSync(fd);
      closeSync(fd);
    },
    // eslint-disable-next-line @typescript-eslint/require-await
    async abandon() {
      compressor?.destroy();
      closeSync(fd);
      unlinkSync(name);
    },
  };
}

/** Hands on what it was given, compressed. Once it failed, so does all that follows. */
class Compressor {
  readonly #gzip: Gzip = createGzip();
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;

  constructor(put: (chunk: Uint8Array) => void) {
    this.#gzip.on('data', (chunk: Buffer) => {
      try {
        put(chunk);
      } catch (error) {
        // Thrown in here, it would reach nobody.
        this.#gzip.destroy(error as Error);
      }
    });
    this.#gzip.on('drain', () => this.#waiting?.resolve());
    this.#gzip.on('end', () => this.#waiting?.resolve());
    this.#gzip.on('error', (error) => {
      this.#failure = error;
      this.#waiting?.reject(error);
    });
  }

  async write(chunk: Uint8Array): Promise<void> {
    // The chunk may be used again by its owner, and the compressor takes its time.
    if (this.#failure !== undefined || !this.#gzip.write(Buffer.from(chunk))) await this.#next();
  }

  async finish(): Promise<void> {
    const ended = this.#next();
    this.#gzip.end();
    await ended;
  }

  destroy(): void {
    this.#gzip.destroy();
  }

  #next(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }
}
