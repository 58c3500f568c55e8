import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';

/**
 * A stream's bytes in the portions that the reader asks for. The stream is read no faster than that, so that a slow
 * reader slows the writer down. Every method answers undefined when the stream ends first.
 */
export class ByteSource {
  readonly #stream: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Up to the next line feed, without it, as latin1. */
  async line(): Promise<string | undefined> {
    let line = '';
    for (;;) {
      const end = this.#rest.indexOf(0x0a);
      if (end >= 0) {
        line += this.#take(end + 1).toString('latin1', 0, end);
        return line;
      }
      line += this.#take(this.#rest.length).toString('latin1');
      if (!(await this.#more())) return undefined;
    }
  }

  async exactly(length: number): Promise<Buffer | undefined> {
    if (this.#rest.length >= length) return this.#take(length);
    const parts: Buffer[] = [];
    for (let left = length; left > 0;) {
      const part = await this.upTo(left);
      if (part === undefined) return undefined;
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts, length);
  }

  /** At least one byte, at most `length`. */
  async upTo(length: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) if (!(await this.#more())) return undefined;
    return this.#take(Math.min(length, this.#rest.length));
  }

  close(): void {
    this.#stream.destroy();
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }

  /** Called with nothing left over, or by `line`, which has taken it. */
  async #more(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}
