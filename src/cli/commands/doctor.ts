import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.option('--fix', 'mend what can be mended').action(({ fix = false }: { readonly fix?: boolean }) =>
    session.run(command, async ({ snap, style }) => {
      const result = await snap.doctor({ fix });
      const [{ doctorData }, { doctorText }] = await Promise.all([
        import('../views/json-change.js'),
        import('../views/text-check.js'),
      ]);
      return {
        data: () => doctorData(result),
        text: async () => doctorText(result, await style()),
        exitCode: result.ok ? 0 : 9,
      };
    }),
  );
  addNotes(command, {
    about: 'Look at everything around the snapshots: git, permissions, locks, pending restores, the store.',
    examples: [
      ['doctor', 'each finding, with what to do about it'],
      ['doctor --fix', 'mend the store from what is there: lost refs, grafts, leftovers'],
    ],
    exits: [0, 8, 9],
  });
}
