import { Batch, type Encoded } from './batch.js';
import { DeflateThread, type ThreadSettings } from './deflate-threads.js';
import type { StoredType } from './format.js';
import { otherWork } from './other-work.js';

/** Puts encoded objects where they belong. The bytes are lent for the call. */
export type Place = (objects: readonly number[], encoded: Encoded) => void;

interface Work {
  readonly batch: Batch;
  readonly objects: number[];
  /** It was encoded here because a thread that had begun may be gone; if it is not, it still writes to that memory. */
  isTakenOver?: boolean;
}

const batchBytes = 1024 * 1024;
/** Content that is encoded before threads would have begun. */
const withoutThreadsBytes = 4 * batchBytes;
/** Content that waits for threads: when they cannot keep up, the giver works as well. */
const waitingBytes = 16 * batchBytes;

/**
 * Encodes objects, in batches and with the help of other threads when there are many, and places them in the order in
 * which they came. A thread that fails costs time only: its batches are encoded here.
 */
export class ObjectDeflater {
  readonly #settings: ThreadSettings;
  readonly #place: Place;
  #threads: DeflateThread[] | undefined;
  #open: Work | undefined;
  /** What is full and not placed yet. */
  readonly #queue: Work[] = [];
  readonly #spare: Batch[] = [];
  #total = 0;
  #turn = 0;

  constructor(settings: ThreadSettings, place: Place) {
    this.#settings = settings;
    this.#place = place;
  }

  /** The object is placed during this call, a later one, or `settle`. The content is copied. */
  put(object: number, type: StoredType, content: Uint8Array): void {
    if (this.#open?.batch.add(type, content) !== true) {
      this.#handOverOpen();
      this.#open = { batch: this.#emptyBatch(content.length), objects: [] };
      this.#open.batch.add(type, content);
    }
    this.#open.objects.push(object);
  }

  /** Places all that is left. */
  async settle(): Promise<void> {
    this.#handOverOpen();
    while (this.#queue.length > 0) {
      // What no thread has begun, or one that has ended has not done, is encoded here. The rest is being encoded.
      if (!this.#encodeNext()) this.#queue[0]?.batch.waitBriefly();
      await otherWork();
      this.#placeEncoded();
    }
  }

  /** Ends the threads. What is not placed by now never is. */
  async stop(): Promise<void> {
    await Promise.all((this.#threads ?? []).map((thread) => thread.stop()));
  }

  #emptyBatch(bytes: number): Batch {
    if (bytes > batchBytes) return Batch.withRoomFor(bytes);
    return this.#spare.pop() ?? Batch.withRoomFor(batchBytes);
  }

  #handOverOpen(): void {
    const work = this.#open;
    this.#open = undefined;
    if (work === undefined) return;
    this.#total += work.batch.filled;
    work.batch.close();
    this.#queue.push(work);
    const thread = this.#nextThread();
    thread?.give(work.batch);
    this.#placeEncoded();
    while ((thread === undefined || this.#waiting > waitingBytes) && this.#encodeNext()) this.#placeEncoded();
  }

  /** Undefined where there is none, or not yet enough for one. */
  #nextThread(): DeflateThread | undefined {
    if (this.#total <= withoutThreadsBytes) return undefined;
    this.#threads ??= DeflateThread.start(this.#settings);
    const running = this.#threads.filter((thread) => !thread.isEnded);
    return running[this.#turn++ % running.length];
  }

  get #waiting(): number {
    return this.#queue.reduce((sum, { batch }) => sum + batch.filled, 0);
  }

  /** Encodes here what has waited longest, or what a thread may have left behind. False when there is nothing. */
  #encodeNext(): boolean {
    const waiting = this.#queue.find(({ batch }) => batch.claim());
    waiting?.batch.encode();
    return waiting !== undefined || this.#takeOver();
  }

  #takeOver(): boolean {
    if (this.#threads?.some(({ isEnded }) => isEnded) !== true) return false;
    const left = this.#queue.find(({ batch }) => !batch.isEncoded);
    if (left === undefined) return false;
    left.batch.encode();
    left.isTakenOver = true;
    return true;
  }

  #useAgain({ batch, isTakenOver }: Work): void {
    if (batch.capacity !== batchBytes || isTakenOver === true) return;
    batch.clear();
    this.#spare.push(batch);
  }

  /** Places from the front what is encoded. */
  #placeEncoded(): void {
    for (let [first] = this.#queue; first?.batch.isEncoded === true; [first] = this.#queue) {
      this.#queue.shift();
      this.#place(first.objects, first.batch.encoded());
      this.#useAgain(first);
    }
  }
}
