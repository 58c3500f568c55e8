import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { confirmRemoval, removalOutcome } from './removing.js';

interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function define(command: Command, session: Session): void {
  command
    .argument('<snap...>', 'the snapshots')
    .option('-n, --dry-run', 'say what would go, change nothing')
    .option('-y, --yes', 'do not ask')
    .action((snapshots: string[], { dryRun = false, yes = false }: DeleteOptions) =>
      session.run(command, async (context) => {
        const confirm = confirmRemoval('delete', yes, context);
        return removalOutcome(await context.snap.delete({ snapshots, dryRun, confirm }), 'delete');
      }),
    );
  addNotes(command, {
    about: 'Remove snapshots for good. Their numbers are never used again.',
    examples: [
      ['delete 2 4', 'two of them'],
      ['delete latest --dry-run', 'say what would go'],
    ],
    exits: [0, 3, 4, 5, 8],
  });
}
