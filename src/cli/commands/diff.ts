import type { Command } from 'commander';
import { shellWord } from '../../core/command-text.js';
import { diffOptions } from '../git-options.js';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { showGitOutput } from './git-output.js';
import { orPathWasMeant } from './path-for-snapshot.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<snap>', 'the snapshot to start from')
    .argument('[snap]', 'the snapshot to compare it with; default: the folder as it is now')
    .usage('[options] SNAP [SNAP] [-- PATH...]')
    .option('--paths-from <file>', 'only these paths, NUL-separated; - is stdin')
    .action((from: string, to: string | undefined, options: { readonly pathsFrom?: string }) =>
      session.run(command, (context) => diffOutcome(context, from, to, options)),
    );
  addNotes(command, {
    about: "git's diff between two snapshots, or between one and the folder as it is now.",
    more: `Options of git, passed on:\n  ${wrapped(diffOptions.map(({ help }) => help))}`,
    examples: [
      ['diff latest', 'what has changed since the newest snapshot'],
      ['diff 3 5 --stat -- src', 'what changed in src between two of them'],
      ['diff first --name-status --exit-code', 'exit code 1 when anything differs'],
    ],
    exits: [0, 3, 7],
  });
}

/** git's diff from a snapshot to another one, or to the folders as they are. */
export async function diffOutcome(
  context: Context,
  from: string,
  to: string | undefined,
  options: { readonly pathsFrom?: string },
): Promise<Outcome> {
  const { gatherPaths } = await import('../paths.js');
  const given = { words: context.pathsAfterDashes, from: options.pathsFrom };
  const paths = await gatherPaths(given, context.surroundings);
  const limit = paths.length === 0 ? undefined : paths;
  const form = (word: string): string => `diff ${word === shellWord(from) ? 'latest' : shellWord(from)} -- ${word}`;
  return orPathWasMeant(form, () =>
    showGitOutput(context, (output) =>
      context.snap.diff({ from, to: to ?? null, paths: limit, options: context.gitOptions, output }),
    ),
  );
}

/** The options in lines that fit a terminal. */
export function wrapped(words: readonly string[]): string {
  return words.reduce((text, word) => {
    const line = text.slice(text.lastIndexOf('\n') + 1);
    return line.length + word.length > 72 ? `${text}\n  ${word}` : text === '' ? word : `${text}  ${word}`;
  }, '');
}
