import type { Context } from '../context.js';

/** Counts what is stored, over all mounts, and tells of progress now and then. */
export class FileCounter {
  readonly #context: Context;
  #files = 0;
  bytes = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  add(bytes: number): void {
    this.#files += 1;
    this.bytes += bytes;
    if (this.#files % 128 !== 0) return;
    this.#context.onProgress({
      phase: 'store',
      files: this.#files,
      bytes: this.bytes,
      totalFiles: null,
      totalBytes: null,
    });
  }
}
