import type { Command } from 'commander';
import type { InstanceSummary, JackinSnap } from '../../index.js';
import { addNotes } from '../help.js';
import { parseCount, parseKeyValues } from '../options.js';
import type { Context, Outcome, Session } from '../session.js';
import { defineImport } from './instance-import.js';
import { instancesOutcome } from './list.js';

export function define(command: Command, session: Session): void {
  command.enablePositionalOptions().helpCommand(false);
  command.description('Lifecycle and settings of instances. Which one: -i NAME, or that of the current folder.');
  defineLooking(command, session);
  defineActivity(command, session);
  defineSettings(command, session);
  defineImport(command, session);
}

function defineLooking(parent: Command, session: Session): void {
  const list = parent.command('list').summary('all instances, with their folders and sizes');
  list.action(() => session.run(list, instancesOutcome));
  addNotes(list, { examples: [['instance list', 'every instance there is']], exits: [0] });

  const show = parent.command('show').summary('state, folders and settings of one');
  show.action(() => session.run(show, (context) => instanceOutcome(context, ({ instance }) => instance.show())));
  addNotes(show, { examples: [['instance show', 'that of this folder']], exits: [0, 3] });
}

function defineActivity(parent: Command, session: Session): void {
  const activate = parent.command('activate').summary('mark it active: restores are refused');
  activate
    .option('--pid <pid>', 'the process that owns it; once dead, it no longer blocks', parseCount)
    .action(({ pid }: { readonly pid?: number }) =>
      session.run(activate, (context) => instanceOutcome(context, ({ instance }) => instance.activate({ pid }))),
    );
  addNotes(activate, {
    examples: [['instance activate --pid $$', 'for as long as this shell lives']],
    exits: [0, 3, 4],
  });

  const deactivate = parent.command('deactivate').summary('mark it no longer active');
  deactivate.action(() =>
    session.run(deactivate, (context) => instanceOutcome(context, ({ instance }) => instance.deactivate())),
  );
  addNotes(deactivate, { examples: [['instance deactivate', 'restores are allowed again']], exits: [0, 3] });

  const close = parent.command('close').summary('no more saves, for good; the snapshots stay');
  close.action(() => session.run(close, closeOutcome));
  addNotes(close, { examples: [['instance close -i old', 'that one']], exits: [0, 3, 4] });
}

const settings = (words: readonly string[]): Readonly<Record<string, string>> =>
  parseKeyValues(words, (next) => `See the settings: ${next('instance show')}`);

function defineSettings(parent: Command, session: Session): void {
  const set = parent.command('set').summary('change settings');
  set
    .argument('<key=value...>', 'settings, as "instance show" lists them')
    .action((words: string[]) =>
      session.run(set, (context) => instanceOutcome(context, ({ instance }) => instance.set(settings(words)))),
    );
  addNotes(set, {
    examples: [
      ['instance set keep_last=10 auto_prune=false', 'how many snapshots stay'],
      ['instance set exclude=dist,*.log', 'what saves leave out'],
    ],
    exits: [0, 3],
  });
}

async function instanceOutcome(
  context: Context,
  act: (snap: JackinSnap) => Promise<InstanceSummary>,
): Promise<Outcome> {
  const instance = await act(context.snap);
  const [{ instanceData }, { instanceText }] = await Promise.all([
    import('../views/json.js'),
    import('../views/text-list.js'),
  ]);
  return {
    data: () => ({ instance: instanceData(instance) }),
    text: async () => instanceText(instance, await context.style()),
  };
}

async function closeOutcome({ snap, style, next }: Context): Promise<Outcome> {
  const instance = await snap.instance.close();
  const [{ instanceData }, { closedText }] = await Promise.all([
    import('../views/json.js'),
    import('../views/text-list.js'),
  ]);
  return {
    data: () => ({ instance: instanceData(instance) }),
    text: async () => closedText(instance, await style(), next),
  };
}
