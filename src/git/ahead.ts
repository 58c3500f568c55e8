import { BatchReader } from './objects.js';
import { finish, startChange } from './refs.js';
import type { GitRunner, RunningGit } from './run-git.js';

/**
 * The git processes of one publication, started before there is something for them to do, since starting takes longer
 * than doing it. A reader sees what came to the store after its start. Whoever makes one ends it.
 */
export class Ahead {
  readonly reader: BatchReader;
  readonly #git: GitRunner;
  #change: Promise<RunningGit> | undefined;

  constructor(git: GitRunner) {
    this.#git = git;
    this.reader = new BatchReader(git);
    this.reader.start();
  }

  /** Once the locks are held that a change of refs holds, too. */
  startChange(): void {
    this.#change ??= startChange(this.#git);
    // Who takes it meets its failure.
    this.#change.catch(() => undefined);
  }

  /** What was started, for one change. */
  takeChange(): Promise<RunningGit> | undefined {
    const change = this.#change;
    this.#change = undefined;
    return change;
  }

  /** Ends what was started, used or not. Never fails. */
  async end(): Promise<void> {
    const unused = this.takeChange()?.then((git) => finish(git, ''));
    await Promise.allSettled([unused, this.reader.close()]);
  }
}
