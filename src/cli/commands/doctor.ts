import type { Command } from 'commander';
import type { DoctorResult } from '../../index.js';
import type { ExitCode } from '../exit-codes.js';
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
        exitCode: exitCodeOf(result),
      };
    }),
  );
  addNotes(command, {
    about: 'Look at everything around the snapshots: git, permissions, locks, pending restores, the store.',
    examples: [
      ['doctor', 'each finding, with what to do about it'],
      ['doctor --fix', 'mend the store from what is there: lost refs, grafts, leftovers'],
    ],
    exits: [0, 7, 8, 9],
  });
}

/** Damage first: it is what costs snapshots. All else stands in the way only. */
function exitCodeOf({ ok, damaged }: DoctorResult): ExitCode {
  if (damaged) return 7;
  return ok ? 0 : 9;
}
