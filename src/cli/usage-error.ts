import type { SnapError } from '../index.js';
import type { Hint } from './next-command.js';

/** A command line that says nothing we can do: exit code 2, with the hint as the next step. */
export class UsageError extends Error {
  readonly hint: Hint | undefined;
  /** Help that is shown before the error; never foreign text. */
  readonly help: string;

  constructor(message: string, hint?: Hint, help = '') {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
    this.help = help;
  }
}

/** A failure of the library for which the command knows a better next step than the usual one. */
export class HintedError extends Error {
  readonly hint: Hint;
  override readonly cause: SnapError;

  constructor(cause: SnapError, hint: Hint) {
    super(cause.message);
    this.name = 'HintedError';
    this.cause = cause;
    this.hint = hint;
  }
}
