import { Batch, type Encoded } from './batch.js';
import { crc32 } from './crc32.js';
import { DeflateThread, type ThreadSettings } from './deflate-threads.js';
import { type StoredType, encodeObject } from './format.js';
import { otherWork } from './other-work.js';

/** Puts encoded objects where they belong, in whatever order they come. The bytes are lent for the call. */
export type Place = (objects: readonly number[], encoded: Encoded) => void;

interface Work {
  readonly batch: Batch;
  readonly objects: number[];
}

interface GivenWork extends Work {
  readonly thread: DeflateThread;
}

const batchBytes = 1024 * 1024;
/** Larger objects are encoded at once: a copy would take more memory than the time is worth. */
const largestBatchBytes = 8 * batchBytes;
/** Content that is encoded before threads would have begun. */
const withoutThreadsBytes = 4 * batchBytes;
/** Content that waits for threads: when they cannot keep up, the giver works as well. */
const waitingBytes = 16 * batchBytes;

/**
 * Encodes objects, in batches and with the help of other threads when there are many. A thread that fails costs time
 * only: its batches are encoded here.
 */
export class ObjectDeflater {
  readonly #settings: ThreadSettings;
  readonly #place: Place;
  #threads: DeflateThread[] | undefined;
  #open: Work | undefined;
  #given: GivenWork[] = [];
  readonly #spare: Batch[] = [];
  #total = 0;
  #turn = 0;

  constructor(settings: ThreadSettings, place: Place) {
    this.#settings = settings;
    this.#place = place;
  }

  /** The object is placed during this call, a later one, or `settle`. The content is copied. */
  put(object: number, type: StoredType, content: Uint8Array): void {
    if (content.length > largestBatchBytes) this.#place([object], encodedAlone(type, content));
    else if (content.length > batchBytes) this.#handOver(workFor(object, type, content));
    else this.#roomFor(type, content).objects.push(object);
  }

  /** Places all that is left. */
  async settle(): Promise<void> {
    if (this.#open !== undefined) this.#workHere(this.#open);
    this.#open = undefined;
    // What no thread has begun is encoded here, from the end that they come to last.
    for (const { batch } of this.#given.toReversed()) {
      if (batch.claim()) batch.encode();
      await otherWork();
    }
    while (this.#given.length > 0) {
      this.#given[0]?.batch.waitBriefly();
      await otherWork();
      this.#takeBack();
    }
  }

  /** Ends the threads. What is not placed by now never is. */
  async stop(): Promise<void> {
    await Promise.all((this.#threads ?? []).map((thread) => thread.stop()));
  }

  /** The open batch, with the content added. */
  #roomFor(type: StoredType, content: Uint8Array): Work {
    if (this.#open?.batch.add(type, content) === true) return this.#open;
    if (this.#open !== undefined) this.#handOver(this.#open);
    this.#open = { batch: this.#spare.pop() ?? Batch.withRoomFor(batchBytes), objects: [] };
    this.#open.batch.add(type, content);
    return this.#open;
  }

  #handOver(work: Work): void {
    this.#takeBack();
    this.#total += work.batch.filled;
    const thread = this.#threadFor(work.batch.filled);
    if (thread === undefined) {
      this.#workHere(work);
    } else {
      this.#given.push({ ...work, thread });
      thread.give(work.batch);
    }
  }

  /** Undefined where it is better, or only possible, to encode so much here. */
  #threadFor(bytes: number): DeflateThread | undefined {
    if (this.#total <= withoutThreadsBytes) return undefined;
    const waiting = this.#given.reduce((sum, { batch }) => sum + batch.filled, 0);
    if (waiting + bytes > waitingBytes) return undefined;
    this.#threads ??= DeflateThread.start(this.#settings);
    const running = this.#threads.filter((thread) => !thread.isEnded);
    return running[this.#turn++ % running.length];
  }

  /** Places what threads have encoded since; and what was given to threads that have ended. */
  #takeBack(): void {
    const done = this.#given.filter(({ batch, thread }) => batch.isEncoded || thread.isEnded);
    if (done.length === 0) return;
    this.#given = this.#given.filter((work) => !done.includes(work));
    for (const work of done) {
      if (work.batch.isEncoded) this.#placeAll(work);
      else this.#workHere(work);
    }
  }

  #workHere(work: Work): void {
    work.batch.claim();
    work.batch.encode();
    this.#placeAll(work);
  }

  #placeAll({ batch, objects }: Work): void {
    this.#place(objects, batch.encoded());
    batch.clear();
    if (batch.capacity === batchBytes) this.#spare.push(batch);
  }
}

function workFor(object: number, type: StoredType, content: Uint8Array): Work {
  const batch = Batch.withRoomFor(content.length);
  batch.add(type, content);
  return { batch, objects: [object] };
}

function encodedAlone(type: StoredType, content: Uint8Array): Encoded {
  const bytes = encodeObject(type, content);
  return { bytes, lengths: [bytes.length], checksums: [crc32(bytes)] };
}
