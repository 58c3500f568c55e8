import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { confirmRemoval, removalOutcome } from './removing.js';

interface PruneOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function define(command: Command, session: Session): void {
  command
    .option('-n, --dry-run', 'say what would go, change nothing')
    .option('-y, --yes', 'do not ask')
    .action(({ dryRun = false, yes = false }: PruneOptions) =>
      session.run(command, async (context) => {
        const confirm = confirmRemoval('prune', yes, context);
        return removalOutcome(await context.snap.prune({ dryRun, confirm }), 'prune');
      }),
    );
  addNotes(command, {
    about:
      'Remove the snapshots that the retention settings let go, and give their space back. Always kept: the first, the ' +
      'latest, pinned ones.',
    examples: [
      ['prune --dry-run', 'say what would go'],
      ['instance set keep_last=10', 'how many stay'],
    ],
    exits: [0, 3, 5, 7, 8],
  });
}
