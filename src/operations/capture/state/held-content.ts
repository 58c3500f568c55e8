import { Buffer } from 'node:buffer';

import type { ObjectId } from '../../../core/ids.js';
import type { CaptureRequest } from '../capture.js';

type Writer = CaptureRequest['writer'];

/** A writer that keeps what it is given in memory: what is scanned is then the very bytes that are stored. */
export class HeldContent implements Writer {
  readonly #contents = new Map<ObjectId, Buffer>();
  readonly #hasher: Writer;

  constructor(hasher: Writer) {
    this.#hasher = hasher;
  }

  writeBlob(content: Uint8Array): ObjectId {
    const oid = this.#hasher.writeBlob(content);
    if (!this.#contents.has(oid)) this.#contents.set(oid, Buffer.from(content));
    return oid;
  }

  /** What is that large by now was small when it was looked at: it counts as unstable. */
  // eslint-disable-next-line @typescript-eslint/require-await
  async writeLargeBlob(): Promise<undefined> {
    return undefined;
  }

  writeTree(entries: Parameters<Writer['writeTree']>[0]): ObjectId {
    return this.#hasher.writeTree(entries);
  }

  has(oid: ObjectId): boolean {
    return this.#contents.has(oid);
  }

  get(oid: ObjectId): Buffer | undefined {
    return this.#contents.get(oid);
  }
}
