import { environmentOf, storeArguments } from './git-settings.js';
import { type GitRunner, interruption, throwIfInterrupted } from './run-git.js';

export interface HighLevelOutcome {
  readonly exitCode: number;
  /** stdout, then stderr. */
  readonly output: string;
}

/**
 * Runs one of git's high-level commands through simple-git, with the environment and the configuration of `GitRunner`.
 * The exit code decides, never what git says. `onProgress` hears of it where `--progress` is among the arguments. simple-git is loaded only here: start-up time matters.
 */
export async function highLevelGit(
  git: GitRunner,
  args: readonly string[],
  onProgress?: (progress: { readonly processed: number; readonly total: number }) => void,
): Promise<HighLevelOutcome> {
  throwIfInterrupted(git.signal);
  const { path } = await git.program();
  const environment = environmentOf(git.settings);
  const { simpleGit } = await import('simple-git');
  let outcome: HighLevelOutcome = { exitCode: 0, output: '' };
  const runner = simpleGit({
    baseDir: git.settings.storeDirectory,
    binary: path,
    allowEnvironment: Object.keys(environment),
    unsafe: everythingOfOurs,
    ...(git.signal === undefined ? {} : { abort: git.signal }),
    ...(onProgress === undefined ? {} : { progress: onProgress }),
    errors: (error, { exitCode, stdOut, stdErr }) => {
      outcome = { exitCode, output: Buffer.concat([...stdOut, ...stdErr]).toString('latin1') };
      // Undefined: no failure of simple-git's own; the exit code is ours to judge.
      return error instanceof Error && exitCode === 0 ? error : undefined;
    },
  });
  await runner
    .env(environment)
    .raw([...storeArguments(git.settings), ...args])
    .catch((error: unknown) => {
      throw git.signal?.aborted === true ? interruption(git.signal) : error;
    });
  return outcome;
}

/** simple-git guards against arguments of strangers; ours are constants that switch those very things off. */
const everythingOfOurs = {
  allowUnsafeCustomBinary: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafePager: true,
  allowUnsafeAskPass: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeGpgProgram: true,
} as const;
