import { SnapError } from '../errors.js';

/** Lets signals be heard during long work that never waits: the event loop gets its turn now and then. */
export class Interruption {
  readonly #signal: AbortSignal | undefined;
  #calls = 0;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  get raised(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** @throws SnapError INTERRUPTED once a signal came. */
  async pause(): Promise<void> {
    if (++this.#calls % 256 === 0) await new Promise(setImmediate);
    this.check();
  }

  check(): void {
    if (!this.raised) return;
    const reason: unknown = this.#signal?.reason;
    const signal = reason === 'SIGTERM' || reason === 'SIGHUP' ? reason : 'SIGINT';
    throw new SnapError('INTERRUPTED', `Interrupted by ${signal}.`, { signal });
  }
}
