import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.action(() =>
    session.run(command, async ({ snap, style }) => {
      const result = await snap.doctor();
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
    examples: [['doctor', 'each finding, with what to do about it']],
    exits: [0, 9],
  });
}
