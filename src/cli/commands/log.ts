import type { Command } from 'commander';
import { asGitSpellsThem, logOptions } from '../git-options.js';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { wrapped } from './diff.js';
import { showGitOutput } from './git-output.js';

export function define(command: Command, session: Session): void {
  command.usage('[options] [-- PATH...]').action(() =>
    session.run(command, async (context) => {
      const { gatherPaths } = await import('../paths.js');
      const paths = await gatherPaths({ words: context.pathsAfterDashes }, context.surroundings);
      const options = withDefaultView(asGitSpellsThem(context.gitOptions));
      return showGitOutput(context, (output) =>
        context.snap.log({ paths: paths.length === 0 ? undefined : paths, options, output }),
      );
    }),
  );
  addNotes(command, {
    about: "git's log over the snapshots, newest first, each with what changed since the one before.",
    more: `Options of git, passed on:\n  ${wrapped(logOptions.map(({ help }) => help))}`,
    examples: [
      ['log --stat', 'which files changed, and how much'],
      ['log -p -- src/main.c', 'the history of one file'],
      ['log -n 5 --oneline', 'the last five in short'],
    ],
    exits: [0, 3, 7],
  });
}

/** What changed is shown unless something else was asked for. */
function withDefaultView(options: readonly string[]): readonly string[] {
  const onlyCounts = options.every((option) => /^(-n[0-9]*|-?[0-9]+|--max-count(=[0-9]+)?)$/.test(option));
  return onlyCounts ? ['--stat', ...options] : options;
}
