import type { GitOption } from './git-options.js';

/*
 * What must be known of the command line before commander reads it: the command, the paths after `--`, and the options
 * that go to git as they are.
 */

/** What of a command decides how its words are read. */
export interface CommandShape {
  readonly name: string;
  readonly alias?: string;
  /** Everything after `--` is a path. */
  readonly takesPaths?: true;
  /** What follows is a program and its words, unless it is one of these, and `--` is not before it. */
  readonly insteadOfProgram?: readonly string[];
  readonly gitOptions?: readonly GitOption[];
}

/** The options that may stand before and after the command. */
export interface GlobalOptions {
  readonly instance: string | undefined;
  readonly dataDir: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly progress: boolean;
}

export interface CommandLine {
  readonly command: CommandShape | undefined;
  /** One of those that stand in the place of a program. */
  readonly subcommand: string | undefined;
  /** What commander gets. */
  readonly words: readonly string[];
  /** Everything after `--`, for commands that take paths. */
  readonly paths: readonly string[];
  readonly gitOptions: readonly string[];
  /** A first reading of the global options, for errors that come before commander's own. */
  readonly globals: GlobalOptions;
}

export function readCommandLine(argv: readonly string[], commands: readonly CommandShape[]): CommandLine {
  const at = commandIndex(argv);
  const command =
    at === undefined ? undefined : commands.find(({ name, alias }) => argv[at] === name || argv[at] === alias);
  const subcommand = subcommandOf(argv, at, command);
  const globals = glanceAtGlobals(ownWords(argv, at, subcommand === undefined ? command : undefined));
  if (command === undefined || at === undefined)
    return { command, subcommand, words: argv, paths: [], gitOptions: [], globals };
  const { before, after } = command.takesPaths ? splitAtDashes(argv) : { before: argv, after: [] };
  const { words, gitOptions } = takeGitOptions(before, at, command);
  return { command, subcommand, words, paths: after, gitOptions, globals };
}

const withValue = new Set(['-i', '--instance', '--data-dir']);

/** Where the command's name stands; undefined when there is none. */
export function commandIndex(argv: readonly string[]): number | undefined {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') return undefined;
    if (!word.startsWith('-')) return index;
    if (withValue.has(word)) index += 1;
  }
  return undefined;
}

function subcommandOf(
  argv: readonly string[],
  at: number | undefined,
  command: CommandShape | undefined,
): string | undefined {
  if (at === undefined || command?.insteadOfProgram === undefined) return undefined;
  const rest = argv.slice(at + 1);
  const word = rest[commandIndex(rest) ?? rest.length];
  return word !== undefined && command.insteadOfProgram.includes(word) ? word : undefined;
}

/** The words that are ours to read: `run` passes on everything from its command's name. */
function ownWords(
  argv: readonly string[],
  at: number | undefined,
  command: CommandShape | undefined,
): readonly string[] {
  const { before } = splitAtDashes(argv);
  if (at === undefined || command?.insteadOfProgram === undefined) return before;
  const rest = commandIndex(before.slice(at + 1));
  return rest === undefined ? before : before.slice(0, at + 1 + rest);
}

function splitAtDashes(argv: readonly string[]): { before: readonly string[]; after: readonly string[] } {
  const cut = argv.indexOf('--');
  return cut < 0 ? { before: argv, after: [] } : { before: argv.slice(0, cut), after: argv.slice(cut + 1) };
}

function glanceAtGlobals(words: readonly string[]): GlobalOptions {
  const valueOf = (...names: readonly string[]): string | undefined => {
    for (const [index, word] of words.entries()) {
      if (names.includes(word)) return words[index + 1];
      const assigned = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
      if (assigned !== undefined) return word.slice(assigned.length + 1);
    }
    return undefined;
  };
  return {
    instance: valueOf('-i', '--instance'),
    dataDir: valueOf('--data-dir'),
    json: words.includes('--json'),
    quiet: words.includes('-q') || words.includes('--quiet'),
    color: !words.includes('--no-color'),
    progress: !words.includes('--no-progress'),
  };
}

function takeGitOptions(
  argv: readonly string[],
  at: number,
  command: CommandShape,
): { words: readonly string[]; gitOptions: readonly string[] } {
  const { gitOptions: known } = command;
  if (known === undefined) return { words: argv, gitOptions: [] };
  const words = argv.slice(0, at + 1);
  const gitOptions: string[] = [];
  for (let index = at + 1; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const option = known.find(({ shape }) => shape.test(word));
    if (option === undefined) {
      words.push(word);
      // The next word belongs to this option, whatever it looks like.
      if (withValue.has(word) || word === '--paths-from') words.push(...argv.slice((index += 1), index + 1));
      continue;
    }
    gitOptions.push(word);
    if (option.valueFollows?.test(word)) gitOptions.push(...argv.slice((index += 1), index + 1));
  }
  return { words, gitOptions };
}
