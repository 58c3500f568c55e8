import type { JackinSnap, SnapOptions } from '../index.js';
import type { Output } from './output.js';

/** Everything the command line takes from the process that it runs in. */
export interface Surroundings {
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly now: () => Date;
  /** Seconds since the command started. */
  readonly elapsed: () => number;
  readonly signal: AbortSignal;
  /** From now on signals are for the command that `run` started: they are passed on, and a second one does not end us. */
  readonly beDeafToSignals: () => void;
  readonly openSnap: (options: SnapOptions) => Promise<JackinSnap>;
  /** The path of the file that was started. */
  readonly program: string;
  /** Asks on the terminal; the safe answer is the default. */
  readonly ask: (question: string) => Promise<boolean>;
  /** The bytes of a file, or of stdin for "-". */
  readonly readFile: (path: string) => Promise<Uint8Array>;
}
