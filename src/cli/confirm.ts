import { SnapError } from './library.js';
import type { Output } from './output.js';
import type { Surroundings } from './surroundings.js';

export interface Consent {
  /** `-y/--yes` was given. */
  readonly yes: boolean;
  /** What is asked for, as the error names it: `restore`. */
  readonly what: string;
  /** What to type to go on without being asked; default: to look with `--dry-run`, then `--yes`. */
  readonly command?: string;
  /** What has to be said on the terminal before the question. */
  readonly notes?: () => Promise<readonly string[]>;
}

/**
 * True when the user agrees to the deed ("remove snapshot 3"): beforehand with `--yes`, or now on a terminal.
 * @throws SnapError CONFIRMATION_NEEDED when nobody can be asked.
 */
export async function agreeTo(
  deed: string,
  { yes, what, command, notes }: Consent,
  surroundings: Surroundings,
): Promise<boolean> {
  if (yes) return true;
  if (canAsk(surroundings.output)) {
    for (const note of (await notes?.()) ?? []) await surroundings.output.stderr.write(`${note}\n`);
    return surroundings.ask(`${deed.slice(0, 1).toUpperCase()}${deed.slice(1)}?`);
  }
  const message = `Confirmation is needed to ${deed}, and there is no terminal to ask on.`;
  throw new SnapError('CONFIRMATION_NEEDED', message, { what, ...(command === undefined ? {} : { command }) });
}

export function canAsk(output: Output): boolean {
  return output.stdinIsTerminal && output.stderrIsTerminal;
}

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** Asks with the prompt library. Ctrl-C is an interruption, not an answer; the end of the input is a no. */
export async function askOnTerminal(question: string, { input, output, signal }: Terminal): Promise<boolean> {
  refuseAborted(signal);
  const { default: confirm } = await import('@inquirer/confirm');
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const keys = (bytes: Buffer | string): void => {
    if (String(bytes).includes(endOfInput)) end();
  };
  input.once('end', end).on('data', keys);
  try {
    const context = { input, output, signal: AbortSignal.any([signal, ended.signal]) };
    return await confirm({ message: question, default: false }, context);
  } catch (error) {
    if (!(error instanceof Error) || !/^(Exit|Abort|Cancel)PromptError$/.test(error.name)) throw error;
    if (ended.signal.aborted && !signal.aborted) return false;
    throw interrupted(signal, error);
  } finally {
    // Whoever listens to data sets the input flowing, which keeps the process from ending.
    input.off('end', end).off('data', keys).pause();
  }
}

// Ctrl-D, which the terminal passes on while the prompt reads single keys.
const endOfInput = '\x04';

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw interrupted(signal);
}

function interrupted(aborted: AbortSignal, cause?: Error): SnapError {
  const reason: unknown = aborted.reason;
  const signal = reason === 'SIGTERM' || reason === 'SIGHUP' ? reason : 'SIGINT';
  return new SnapError(
    'INTERRUPTED',
    'Interrupted at the question; nothing was changed.',
    { signal },
    cause && { cause },
  );
}
