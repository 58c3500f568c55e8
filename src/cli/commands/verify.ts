import type { Command } from 'commander';
import { addNotes } from '../help.js';
import { parseDuration, parsePercent } from '../options.js';
import type { Session } from '../session.js';

interface VerifyOptions {
  readonly full?: true;
  readonly percent?: number;
  readonly maxDuration?: number;
}

export function define(command: Command, session: Session): void {
  command
    .option('--full', 'read and hash every object')
    .option('--percent <n>', 'hash 1 to 100 percent of the objects, the next ones each time', parsePercent)
    .option('--max-duration <time>', 'hash for 30s, 10m, 2h at most, going on each time', parseDuration)
    .action(({ full, percent, maxDuration }: VerifyOptions) =>
      session.run(command, async ({ snap }) => {
        const result = await snap.verify({ full, percent, maxDurationSeconds: maxDuration });
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
    about:
      'Check the store, and that every snapshot is complete and restorable. What is wrong is named with the snapshots and ' +
      'paths that it concerns. --percent and --max-duration are for schedules: each run goes on where the last one ended.',
    examples: [
      ['verify', 'is everything there?'],
      ['verify --full', 'and is every byte of it right?'],
      ['verify --percent 10', 'the next tenth of it, every byte after ten runs'],
      ['verify --percent 100 --max-duration 10m', 'as much as ten minutes allow'],
    ],
    exits: [0, 7, 8],
  });
}
