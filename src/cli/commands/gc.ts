import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.option('-n, --dry-run', 'change nothing').action(({ dryRun = false }: { readonly dryRun?: boolean }) =>
    session.run(command, async ({ snap }) => {
      const result = await snap.gc({ dryRun });
      const [{ removalData }, { sizeText }] = await Promise.all([
        import('../views/json-change.js'),
        import('../views/format.js'),
      ]);
      return {
        data: () => removalData(result),
        text: () => (dryRun ? 'Nothing was changed.\n' : `${sizeText(result.freedBytes)} freed.\n`),
        report: true,
        messages: result.messages,
      };
    }),
  );
  addNotes(command, {
    about: 'Give back the space of snapshots that are gone, and tidy the store. Removes nothing that is kept.',
    examples: [['gc', 'now']],
    exits: [0, 7, 8],
  });
}
