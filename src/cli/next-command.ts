import type { GlobalOptions } from './command-line.js';

/** Spells a command that the reader can type next, with the instance and data directory that this one used. */
export type NextCommand = (words: string, instance?: string) => string;

export function nextCommand(globals: Pick<GlobalOptions, 'instance' | 'dataDir'>): NextCommand {
  return (words, instance = globals.instance) => {
    const chosen = instance === undefined ? [] : ['-i', shellWord(instance)];
    const dataDir = globals.dataDir === undefined ? [] : ['--data-dir', shellWord(globals.dataDir)];
    return ['jackin-snap', ...dataDir, ...chosen, words].join(' ');
  };
}

/** The text as one word of a shell's command line. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,~^-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
