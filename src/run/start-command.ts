import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';

import { SnapError, systemCode } from '../errors.js';

/** What a key on the terminal sends, to us and to the command alike. */
const typed = ['SIGINT', 'SIGQUIT'] as const;
/** Without a listener, Node would take SIGUSR1 as a wish for its debugger, and die of SIGUSR2. */
const sentToUs = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/** Where the command's own output goes. */
export interface CommandSurroundings {
  /** Undefined: the folder that we are in ourselves, whatever its name. */
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output to standard error, for callers that print a document of their own. */
  readonly outputToError: boolean;
  /** Our own process: signals that it gets are passed on. */
  readonly self: Pick<NodeJS.Process, 'on' | 'off'>;
  /** Whether what is typed on a terminal reaches the command without us. */
  readonly hasTerminal: () => boolean;
}

/**
 * Runs the user's command on the terminal and waits for it.
 * @returns its exit code; 128 and the signal's number when a signal ended it
 * @throws SnapError COMMAND_NOT_STARTED with 127 when there is no such program, else 126
 */
export async function startCommand(
  command: readonly [string, ...string[]],
  surroundings: CommandSurroundings,
): Promise<number> {
  const [program, ...args] = command;
  const { cwd, env, outputToError, self, hasTerminal } = surroundings;
  const child = spawned(program, args, { cwd, env, stdio: ['inherit', outputToError ? 2 : 'inherit', 'inherit'] });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  // A second Ctrl-C means something else to many programs: what the terminal sent already is not sent again.
  const forwardUnlessTyped = (signal: NodeJS.Signals): void => {
    if (!hasTerminal()) forward(signal);
  };
  for (const signal of sentToUs) self.on(signal, forward);
  for (const signal of typed) self.on(signal, forwardUnlessTyped);
  return new Promise<number>((resolve, reject) => {
    child.on('error', (error) => {
      reject(notStarted(program, error));
    });
    child.on('exit', (code, signal) => {
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  }).finally(() => {
    for (const signal of sentToUs) self.off(signal, forward);
    for (const signal of typed) self.off(signal, forwardUnlessTyped);
  });
}

/** What no program can have as name or argument is refused at once, other than what the system refuses. */
function spawned(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(program, args, options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw notStarted(program, error);
  }
}

function notStarted(program: string, cause: Error): SnapError {
  const missing = program === '' || systemCode(cause) === 'ENOENT';
  const why = missing ? 'there is no such program' : (systemCode(cause) ?? 'it cannot be started');
  return new SnapError(
    'COMMAND_NOT_STARTED',
    `${JSON.stringify(program)} was not run: ${why}.`,
    { command: program, exitCode: missing ? 127 : 126 },
    { cause },
  );
}
