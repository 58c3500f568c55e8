import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { whose } from './assess.js';

export function define(command: Command, session: Session): void {
  command
    .argument('[instance]', whose)
    .action((instance: string | undefined) => session.run(command, (context) => resumeOutcome(context, instance)));
  addNotes(command, {
    about:
      'Go on with a session that was kept: says which folders it has, whether they are as its last snapshot has them, and ' +
      'the commands to go on with. Nothing is restored.',
    examples: [['resume app-run-1a2b3c4d', 'that one']],
    exits: [0, 3, 4, 8],
  });
}

async function resumeOutcome({ snap, next }: Context, instance: string | undefined): Promise<Outcome> {
  const resumed = await snap.resume(instance);
  const [{ resumeData }, { resumeText }] = await Promise.all([
    import('../views/json-assess.js'),
    import('../views/text-assess.js'),
  ]);
  return { data: () => resumeData(resumed), text: () => resumeText(resumed, next) };
}
