/** A command line that says nothing we can do: exit code 2, with the hint as the next step. */
export class UsageError extends Error {
  readonly hint: string | undefined;
  /** Help that is shown before the error; never foreign text. */
  readonly help: string;

  constructor(message: string, hint?: string, help = '') {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
    this.help = help;
  }
}
