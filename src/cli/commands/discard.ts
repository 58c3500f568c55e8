import type { Command } from 'commander';
import { shellWord } from '../../core/command-text.js';
import type { Assessment, NamedRisk, WhatGoes } from '../../index.js';
import { addNotes } from '../help.js';
import { collect } from '../options.js';
import type { Context, Outcome, Session } from '../session.js';
import { whose } from './assess.js';

interface DiscardOptions {
  readonly yes?: boolean;
  readonly acknowledge?: readonly string[];
}

export function define(command: Command, session: Session): void {
  command
    .argument('[instance]', whose)
    .option('-y, --yes', 'do not ask; what is at risk must be acknowledged all the same')
    .option('--acknowledge <name>', 'this mount, or mount:branch, may go although it is dirty or unpushed', collect)
    .action((instance: string | undefined, options: DiscardOptions) =>
      session.run(command, (context) => discardOutcome(context, instance, options)),
    );
  addNotes(command, {
    about:
      'Give a session up: a snapshot of it, then the worktree that "run" made for it is removed, and the instance is closed ' +
      "for good. Its snapshots stay, and so does every file of your own folders and of jackin's. What is dirty or unpushed " +
      'is listed and asked about; off a terminal each must be named.',
    examples: [
      ['discard app-run-1a2b3c4d', 'asks, and lists what is at risk'],
      ['discard app --yes --acknowledge app --acknowledge app:topic', 'names what may go'],
    ],
    exits: [0, 3, 4, 5, 6, 8],
  });
}

async function discardOutcome(
  context: Context,
  instance: string | undefined,
  { yes = false, acknowledge = [] }: DiscardOptions,
): Promise<Outcome> {
  const discarded = await context.snap.discard({
    instance,
    acknowledge,
    confirm: (assessment, risks, whatGoes) => agree(context, assessment, risks, { yes, acknowledge, whatGoes }),
  });
  const [{ discardData }, { discardText }] = await Promise.all([
    import('../views/json-assess.js'),
    import('../views/text-assess.js'),
  ]);
  return {
    data: () => discardData(discarded),
    text: () => discardText(discarded, context.next),
    messages: discarded.messages,
    report: true,
  };
}

interface Given {
  readonly yes: boolean;
  readonly acknowledge: readonly string[];
  readonly whatGoes: WhatGoes;
}

/** What is at risk is asked about in words on a terminal, also with `--yes`; where nobody can be asked it is refused. */
async function agree(
  { surroundings, stopProgress }: Context,
  { instance }: Assessment,
  risks: readonly NamedRisk[],
  { yes, acknowledge, whatGoes }: Given,
): Promise<boolean> {
  const [{ agreeTo, canAsk }, { SnapError, displayPath }, { riskLines }, { askAboutRisks }] = await Promise.all([
    import('../confirm.js'),
    import('../library.js'),
    import('../views/text-assess.js'),
    import('../ask-about-risks.js'),
  ]);
  stopProgress();
  const given = acknowledge.map((name) => ` --acknowledge ${shellWord(name)}`).join('');
  const command = `discard ${instance} --yes${given}`;
  if (risks.length === 0)
    return agreeTo(`discard ${instance}`, { yes, what: 'discard', command, notes: whatGoes }, surroundings);
  if (!canAsk(surroundings.output)) {
    // All that are to be typed: those that were, too.
    const names = [...new Set([...acknowledge, ...risks.map(({ name }) => displayPath(name))])];
    const message = `Nothing was discarded: ${riskLines(risks).join('; ')}. Each must be acknowledged by its name.`;
    throw new SnapError('ACKNOWLEDGEMENT_NEEDED', message, { instance, names });
  }
  return askAboutRisks(surroundings, instance, risks, await whatGoes());
}
