import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { whose } from './assess.js';

export function define(command: Command, session: Session): void {
  command
    .argument('[instance]', whose)
    .option('-m, --note <text>', 'why, for whoever resumes it')
    .action((instance: string | undefined, { note }: { readonly note?: string }) =>
      session.run(command, (context) => keepOutcome(context, instance, note)),
    );
  addNotes(command, {
    about:
      'Note that the work of a session is to stay, be it clean or not. Its latest snapshot is never pruned; none is made, ' +
      'and what has changed since is said. "resume" goes on with it, "discard" gives it up.',
    examples: [
      ['keep', 'the instance of this folder'],
      ['keep app-run-1a2b3c4d -m "tests are missing"', 'another one, with a note'],
    ],
    exits: [0, 3, 4, 8],
  });
}

async function keepOutcome(
  { snap, next }: Context,
  instance: string | undefined,
  note: string | undefined,
): Promise<Outcome> {
  const kept = await snap.keep({ instance, note });
  const [{ keepData }, { keptText, keptWarnings }] = await Promise.all([
    import('../views/json-assess.js'),
    import('../views/text-assess.js'),
  ]);
  return {
    data: () => keepData(kept),
    text: () => keptText(kept, next),
    report: true,
    warnings: keptWarnings(kept, next),
  };
}
