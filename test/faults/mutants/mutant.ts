/** One line of the safety code, broken on purpose. */
export interface Mutant {
  /** What is done wrong. */
  readonly name: string;
  /** Below `src`. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The tests, below `test`, of which one at least must fail. */
  readonly tests: readonly string[];
}
