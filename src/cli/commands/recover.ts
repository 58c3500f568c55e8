import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { carryOutRestore } from './restoring.js';

interface RecoverOptions {
  readonly continue?: true;
  readonly abort?: true;
  readonly yes?: true;
  readonly force?: true;
  readonly verbose?: true;
}

export function define(command: Command, session: Session): void {
  command
    .option('--continue', 'finish it')
    .option('--abort', 'take it back')
    .option('-y, --yes', 'do not ask')
    .option(
      '--force',
      'although the instance is active, the folder is another one, or temporary files cannot be removed',
    )
    .option('--verbose', 'show long plans in full')
    .action((options: RecoverOptions) =>
      session.run(command, (context) => {
        const direction = directionOf(options);
        const { yes = false, verbose = false, force } = options;
        return carryOutRestore(
          context,
          { dryRun: false, yes, verbose, allowLarge: false, what: 'recover', undo: undoOf(direction, context) },
          ({ confirm }) => context.snap.recover({ direction, force, confirm }),
        );
      }),
    );
  addNotes(command, {
    about: 'End a restore that was interrupted: finish it, or take back what it did.',
    examples: [
      ['recover --continue', 'finish it'],
      ['recover --abort', 'back to the state before it'],
    ],
    exits: [0, 3, 4, 5, 6, 7, 8],
  });
}

/** What was taken back is as it was: to go on from there again is to restore once more. */
function undoOf(direction: 'continue' | 'abort', { next }: Pick<Context, 'next'>): string | null {
  return direction === 'continue' ? next('undo') : null;
}

function directionOf(options: RecoverOptions): 'continue' | 'abort' {
  if (options.continue === options.abort)
    throw new UsageError(
      'It is not said in which direction.',
      (next) => `Finish it: ${next('recover --continue')}; take it back: ${next('recover --abort')}`,
    );
  return options.continue ? 'continue' : 'abort';
}
