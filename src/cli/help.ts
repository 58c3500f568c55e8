import type { Command, HelpConfiguration } from 'commander';
import { exitCodes, type ExitCode } from './exit-codes.js';

/** The words around the list of commands. */
export const overview = {
  description: 'Snapshots of folders, kept in git, restored exactly.',
  after: `
Example:
  jackin-snap save -m "before the change"   take a snapshot of this folder
  jackin-snap diff latest                   what has changed since
  jackin-snap restore latest                put it back; "undo" takes that back
SNAP is a number, latest, first, latest~2, or 4 or more characters of an id.
PATH starts at the folder's root. "jackin-snap COMMAND --help" has examples.`,
} as const;

/** One line a command, no "Arguments:" list, groups by task. */
export const overviewStyle: HelpConfiguration = {
  sortOptions: false,
  subcommandTerm: (command) => [command.name(), command.usage().replace('[options]', '').trim()].join(' ').trim(),
};

export interface HelpNotes {
  readonly about?: string;
  /** Command lines without the program's name, each with what it does. */
  readonly examples: readonly (readonly [words: string, does: string])[];
  readonly exits: readonly ExitCode[];
  /** Paragraphs of their own, between options and examples. */
  readonly more?: string;
}

/** Adds what every command's help has: examples, and the exit codes it may return. */
export function addNotes(command: Command, notes: HelpNotes): void {
  command.description(notes.about ?? `${command.summary().slice(0, 1).toUpperCase()}${command.summary().slice(1)}.`);
  const examples = notes.examples.map(([words, does]) => `  jackin-snap ${words}\n      ${does}`);
  const codes = [...notes.exits, 1, 2, 9, 130] as readonly ExitCode[];
  const exits = [...new Set(codes)]
    .sort((a, b) => a - b)
    .map((code) => `  ${String(code).padEnd(4)} ${exitCodes[code]}`);
  const more = notes.more === undefined ? '' : `\n${notes.more}\n`;
  command.addHelpText('after', `${more}\nExamples:\n${examples.join('\n')}\n\nExit codes:\n${exits.join('\n')}`);
}
