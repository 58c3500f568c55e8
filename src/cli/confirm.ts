import { SnapError } from './library.js';
import type { Output } from './output.js';
import type { Surroundings } from './surroundings.js';

export interface Consent {
  /** `-y/--yes` was given. */
  readonly yes: boolean;
  /** What is asked for, as the error names it: `restore`. */
  readonly what: string;
}

/**
 * True when the user agrees to the deed ("remove snapshot 3"): beforehand with `--yes`, or now on a terminal.
 * @throws SnapError CONFIRMATION_NEEDED when nobody can be asked.
 */
export async function agreeTo(deed: string, { yes, what }: Consent, surroundings: Surroundings): Promise<boolean> {
  if (yes) return true;
  if (canAsk(surroundings.output)) return surroundings.ask(`${deed.slice(0, 1).toUpperCase()}${deed.slice(1)}?`);
  const message = `Confirmation is needed to ${deed}, and there is no terminal to ask on.`;
  throw new SnapError('CONFIRMATION_NEEDED', message, { what });
}

export function canAsk(output: Output): boolean {
  return output.stdinIsTerminal && output.stderrIsTerminal;
}

/** Asks with the prompt library; Ctrl-C at the prompt is an interruption, not an answer. */
export async function askOnTerminal(
  question: string,
  terminal: {
    readonly input: NodeJS.ReadableStream;
    readonly output: NodeJS.WritableStream;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { default: confirm } = await import('@inquirer/confirm');
  try {
    return await confirm({ message: question, default: false }, terminal);
  } catch (error) {
    if (!(error instanceof Error) || !/^(Exit|Abort|Cancel)PromptError$/.test(error.name)) throw error;
    const reason: unknown = terminal.signal.reason;
    const signal = reason === 'SIGTERM' || reason === 'SIGHUP' ? reason : 'SIGINT';
    throw new SnapError(
      'INTERRUPTED',
      'Interrupted at the question; nothing was changed.',
      { signal },
      { cause: error },
    );
  }
}
