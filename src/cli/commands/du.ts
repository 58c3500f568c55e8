import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.option('-a, --all', 'all instances').action(({ all = false }: { readonly all?: boolean }) =>
    session.run(command, async ({ snap, style }) => {
      const result = await snap.usage({ all });
      const [{ usageData }, { usageText }] = await Promise.all([
        import('../views/json-contract.js'),
        import('../views/text-stacks.js'),
      ]);
      return {
        data: () => usageData(result),
        text: async () => usageText(result, all, await style()),
        messages: result.messages,
      };
    }),
  );
  addNotes(command, {
    about:
      'What snapshots take on the disk: all that each holds, what it shares with others, and what is its own alone.',
    more: `Sizes are those of the packs as they lie there. UNIQUE is about what removing
just that one would free, once it is older than ten minutes. Off a terminal the
last rows are (garbage), (overhead) and (store), with their bytes.`,
    examples: [
      ['du', 'the snapshots of this folder'],
      ['du --all', 'every instance'],
    ],
    exits: [0, 3, 7],
  });
}
