import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.option('--full', 'read and hash every object').action(({ full = false }: { readonly full?: boolean }) =>
    session.run(command, async ({ snap }) => {
      const result = await snap.verify({ full });
      const [{ verifyData }, { verifyText }] = await Promise.all([
        import('../views/json-change.js'),
        import('../views/text-check.js'),
      ]);
      return {
        data: () => verifyData(result),
        text: () => verifyText(result),
        // What is damaged must be said however quiet we are asked to be.
        report: result.ok,
        exitCode: result.ok ? 0 : 7,
      };
    }),
  );
  addNotes(command, {
    about: 'Check the store, and that every snapshot is complete and restorable.',
    examples: [
      ['verify', 'is everything there?'],
      ['verify --full', 'and is every byte of it right?'],
    ],
    exits: [0, 7, 8],
  });
}
