import { shellWord } from '../core/command-text.js';
import type { GlobalOptions } from './command-line.js';

/**
 * Spells a command that the reader can type next, with the data directory and the instance that this one used, or with
 * another instance; null is for commands that are about no single one.
 */
export type NextCommand = (words: string, instance?: string | null) => string;

/** What to type next; where it depends on the instance and data directory in use, it is made when they are known. */
export type Hint = string | ((next: NextCommand) => string);

export function nextCommand(globals: Pick<GlobalOptions, 'instance' | 'dataDir'>): NextCommand {
  return (words, instance = globals.instance) => {
    const chosen = instance === undefined || instance === null ? [] : ['-i', shellWord(instance)];
    const dataDir = globals.dataDir === undefined ? [] : ['--data-dir', shellWord(globals.dataDir)];
    return ['jackin-snap', ...dataDir, ...chosen, words].join(' ');
  };
}
