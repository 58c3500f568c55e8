import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { orPathWasMeant } from './path-for-snapshot.js';
import { UsageError } from '../usage-error.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<snap>', 'the snapshot')
    .argument('[path]', 'only what lies at or below this path')
    .action((snapshot: string, word: string | undefined) =>
      session.run(command, async ({ snap, style, pathsAfterDashes }) => {
        const words = [...(word === undefined ? [] : [word]), ...pathsAfterDashes];
        if (words.length > 1)
          throw new UsageError(
            `tree lists one path, not ${words.length}.`,
            'Write it as: jackin-snap tree SNAP [PATH]',
          );
        const { parsePathArgument } = await import('../paths.js');
        const lines = await orPathWasMeant(
          (path) => `tree latest -- ${path}`,
          () => snap.tree(snapshot, ...words.map(parsePathArgument)),
        );
        const [{ treeLineData }, { treeText }] = await Promise.all([
          import('../views/json.js'),
          import('../views/text-show.js'),
        ]);
        return {
          data: () => ({ entries: lines.map(treeLineData) }),
          text: async () => treeText(lines, await style()),
        };
      }),
    );
  addNotes(command, {
    about: 'The files of a snapshot: mode, size and path.',
    examples: [
      ['tree latest', 'all of it'],
      ['tree 3 src', 'one folder'],
      ['tree 3 web:src', 'a folder of the mount web, where there are several'],
    ],
    exits: [0, 3, 7],
  });
}
