import { type Command, Option } from 'commander';
import type { JackinSnap } from '../../index.js';
import { addNotes } from '../help.js';
import type { Outcome, Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.option('-n, --dry-run', 'change nothing');
  // What a save starts in the background.
  command.addOption(new Option('--auto').hideHelp());
  command.action(({ dryRun = false, auto = false }: { readonly dryRun?: boolean; readonly auto?: boolean }) =>
    session.run(command, async ({ snap }) => {
      if (auto) return await housekeep(snap);
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

async function housekeep(snap: JackinSnap): Promise<Outcome> {
  await snap.housekeeping.run();
  return { data: () => ({}), text: () => '', report: true };
}
