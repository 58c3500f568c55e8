import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';
import { carryOutRestore } from './restoring.js';

interface UndoOptions {
  readonly dryRun?: true;
  readonly yes?: boolean;
  readonly force?: true;
  readonly allowLarge?: boolean;
  readonly verbose?: boolean;
}

export function define(command: Command, session: Session): void {
  command
    .option('-n, --dry-run', 'show the plan, change nothing')
    .option('-y, --yes', 'do not ask')
    .option('--allow-large', 'although most of what a folder holds is deleted')
    .option('--force', 'although the instance is active or the folder is another one')
    .option('--verbose', 'show long plans in full')
    .action(({ dryRun, yes = false, force, allowLarge = false, verbose = false }: UndoOptions) =>
      session.run(command, (context) =>
        carryOutRestore(
          context,
          { dryRun: dryRun === true, yes, verbose, allowLarge, what: 'undo', undo: context.next('undo') },
          (consent) => context.snap.undo({ ...consent, force, dryRun }),
        ),
      ),
    );
  addNotes(command, {
    about: 'Restore the emergency snapshot that the last restore made. An undo can be undone in the same way.',
    examples: [
      ['undo --dry-run', 'what would change'],
      ['undo', 'show the plan, ask, do it'],
    ],
    exits: [0, 3, 4, 5, 6, 7, 8],
  });
}
