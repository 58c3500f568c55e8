import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.argument('<snap>', 'the snapshot').action((snapshot: string) =>
    session.run(command, async ({ snap, style, next }) => {
      const result = await snap.show(snapshot);
      const [{ showData }, { showText }] = await Promise.all([
        import('../views/json.js'),
        import('../views/text-show.js'),
      ]);
      return {
        data: () => showData(result),
        text: async () => showText(result, await style(), next),
        messages: result.messages,
      };
    }),
  );
  addNotes(command, {
    about:
      'One snapshot: its mounts, base commits, policy and counts, every path that it left out, by reason, and what it holds ' +
      "of a session's state.",
    more: `SNAP is a number, latest, first, latest~2, NAME/2 of another instance, or
the first 4 or more characters of its id or commit id.`,
    examples: [
      ['show latest', 'the newest one'],
      ['show web/3 --json', 'number 3 of the instance web'],
    ],
    exits: [0, 3, 7],
  });
}
