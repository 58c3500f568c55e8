import { availableParallelism } from 'node:os';
import { SHARE_ENV, Worker } from 'node:worker_threads';

import { systemCode } from '../../errors.js';
import type { Batch } from './batch.js';

export interface ThreadSettings {
  /** The compiled `deflate-worker`. */
  readonly script: URL;
  readonly count: number;
}

/** One core stays with the thread that reads. More than three would wait for it. */
export function usualThreads(): ThreadSettings {
  return {
    script: new URL('./deflate-worker.js', import.meta.url),
    count: Math.max(1, Math.min(3, availableParallelism() - 1)),
  };
}

/**
 * A thread that encodes the batches it is given, unless somebody else claims them before. It keeps no process alive.
 * Whatever ends it, being out of memory or a missing script, only shows in `isEnded`: who gave a batch looks after it.
 */
export class DeflateThread {
  readonly #worker: Worker;
  #isEnded = false;

  private constructor(script: URL) {
    // The surroundings are not copied, and flags that were meant for the main thread stay there.
    this.#worker = new Worker(script, { env: SHARE_ENV, execArgv: [] });
    this.#worker.on('error', () => undefined);
    this.#worker.once('exit', () => {
      this.#isEnded = true;
    });
    this.#worker.unref();
  }

  /** Fewer than wanted, or none, where the system gives no more. */
  static start({ script, count }: ThreadSettings): DeflateThread[] {
    const threads = [];
    try {
      while (threads.length < count) threads.push(new DeflateThread(script));
    } catch (error) {
      if (systemCode(error) !== 'ERR_WORKER_INIT_FAILED') throw error;
    }
    return threads;
  }

  /** True once it encodes nothing any more. Known only after the event loop had its turn. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  give(batch: Batch): void {
    this.#worker.postMessage(batch.memory);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
