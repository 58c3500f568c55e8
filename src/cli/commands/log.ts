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
      const options = withDefaultView(
        asGitSpellsThem(context.gitOptions),
        context.surroundings.output.stdoutIsTerminal,
      );
      return showGitOutput(context, (output) =>
        context.snap.log({ paths: paths.length === 0 ? undefined : paths, options, output }),
      );
    }),
  );
  addNotes(command, {
    about: "git's log over the snapshots, newest first, each with what changed since the one before.",
    more:
      'Each has its number, why it was made, and its labels. --pretty shows whole\n' +
      `messages, with all that is recorded in them. Options of git, passed on:\n  ${wrapped(logOptions.map(({ help }) => help))}`,
    examples: [
      ['log --stat', 'which files changed, and how much'],
      ['log -p -- src/main.c', 'the history of one file'],
      ['log -n 5 --oneline', 'the last five in short'],
    ],
    exits: [0, 3, 7],
  });
}

/** What changed is shown unless something else was asked for, and so are number and labels of each snapshot. */
function withDefaultView(options: readonly string[], terminal: boolean): readonly string[] {
  const onlyCounts = options.every((option) => /^(-n[0-9]*|-?[0-9]+|--max-count(=[0-9]+)?)$/.test(option));
  const shown = onlyCounts ? ['--stat', ...options] : options;
  if (!options.some((option) => /^--(format|pretty|oneline)\b/.test(option))) return [snapshotFormat, ...shown];
  // As git does it: names for those who look, none for scripts.
  return terminal ? ['--decorate', '--decorate-refs=refs/jackin/*', ...shown] : shown;
}

const trailer = (...keys: readonly string[]): string => keys.map((key) => `key=Jackin-${key}`).join();

/** As git's own "medium", with the trailers that say something to a reader; `--pretty` has all of them. */
const snapshotFormat = `--pretty=format:${[
  '%C(yellow)commit %H%C(reset)',
  `Snapshot: %(trailers:${trailer('Seq')},valueonly,separator=%x2C) (%(trailers:${trailer('Trigger')},valueonly,separator=%x2C))`,
  'Date:     %ad' +
    `%+(trailers:${trailer('Recovery-Of', 'Source-Tool', 'Phase', 'Decision', 'Resource')},separator=%x0A)`,
  '',
  '%w(0,4,4)%s%w()%n',
].join('%n')}`;
