import type { Command } from 'commander';
import type { StartingPoint } from '../../index.js';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { diffOutcome } from './diff.js';
import { instanceListOutcome, listOutcome } from './list.js';
import { type RestoreOptions, addRestoreOptions, restoreOutcome } from './restore.js';

const whose = 'an instance, its container, its instance id or its role key';
const fallback = 'default: that before the last run, else the first; of folders that are gone, the newest';

export function define(command: Command, session: Session): void {
  command.enablePositionalOptions().helpCommand(false);
  command.description(
    "What snapshots know of jackin's sessions and of any other instance, also where the session is purged and its record " +
      'is lost. An instance is meant by its name, its container, its instance id or its role key.',
  );
  defineLooking(command, session);
  defineDiff(command, session);
  defineRestore(command, session);
}

function defineLooking(parent: Command, session: Session): void {
  const show = parent.command('show').summary('where its folders are from, and how to launch it again');
  show
    .argument('<instance>', whose)
    .action((instance: string) => session.run(show, (context) => showOutcome(context, instance)));
  addNotes(show, {
    examples: [['recovery show jk-k7p2m9xa-shop-smith', 'by the name of its container']],
    exits: [0, 3],
  });

  const list = parent.command('list').summary('its snapshots; without INSTANCE, all instances that have some');
  list.argument('[instance]', whose).action((instance: string | undefined) =>
    session.run(list, async (context) => {
      const { recovery } = context.snap;
      if (instance === undefined) return instanceListOutcome(await recovery.instances(), context);
      return listOutcome(await recovery.list(instance), context);
    }),
  );
  addNotes(list, { examples: [['recovery list', 'all that can be recovered']], exits: [0, 3] });
}

function defineDiff(parent: Command, session: Session): void {
  const diff = parent.command('diff').summary('what has changed since');
  diff
    .argument('<instance>', whose)
    .argument('[snap]', `the snapshot to start from; ${fallback}`)
    .argument('[snap]', 'the one to compare it with; default: the folders as they are now')
    .usage('[options] INSTANCE [SNAP] [SNAP] [-- PATH...]')
    .option('--paths-from <file>', 'only these paths, NUL-separated; - is stdin')
    .action(
      (instance: string, from: string | undefined, to: string | undefined, options: { readonly pathsFrom?: string }) =>
        session.run(diff, async (context) => {
          const start = await fullName(context, instance, from);
          const end = to === undefined ? undefined : await fullName(context, instance, to);
          return diffOutcome(context, start, end, options);
        }),
    );
  addNotes(diff, {
    examples: [['recovery diff shop --stat', 'since the last run began']],
    more: "git's own options are passed on, as with diff.",
    exits: [0, 3, 7],
  });
}

function defineRestore(parent: Command, session: Session): void {
  const restore = parent.command('restore').summary('put its folders back');
  addRestoreOptions(
    restore
      .argument('<instance>', whose)
      .argument('[snap]', `the snapshot; ${fallback}`)
      .argument('[path...]', 'only these paths; default: everything'),
  ).action((instance: string, snapshot: string | undefined, words: string[], options: RestoreOptions) =>
    session.run(restore, async (context) => {
      const start = await context.snap.recovery.startingPoint(instance, snapshot);
      const said = await sayWhich(context, start);
      const outcome = await restoreOutcome(context, nameOf(start), words, options);
      return { ...outcome, messages: [...said, ...(outcome.messages ?? [])] };
    }),
  );
  addNotes(restore, {
    about:
      'Put the folders of an instance back to what they were, under the same guards as "restore": the plan is shown, what ' +
      'is overwritten or deleted is saved first, and "undo" takes it back.',
    examples: [
      ['recovery restore k7p2m9xa --dry-run', 'what would change'],
      ['recovery restore k7p2m9xa 3 -- src', 'one folder, from number 3'],
    ],
    exits: [0, 3, 4, 5, 6, 7, 8],
  });
}

/** `NAME/3`, which means the same everywhere. */
async function fullName({ snap }: Context, instance: string, snapshot: string | undefined): Promise<string> {
  return nameOf(await snap.recovery.startingPoint(instance, snapshot));
}

function nameOf({ instance, seq }: StartingPoint): string {
  return `${instance}/${seq}`;
}

const reasons: Readonly<Record<Exclude<StartingPoint['chosen'], 'named'>, string>> = {
  newest: 'the newest, since none of its folders is there any more',
  before_last_run: 'that before the last run',
  first: 'the first',
};

/** Before the plan: which snapshot is taken where none was named. @returns what a document has to say of it */
async function sayWhich(
  { surroundings: { output }, globals, next }: Context,
  { instance, seq, chosen, snapshots, latest }: StartingPoint,
): Promise<readonly string[]> {
  if (chosen === 'named' || snapshots === 1) return [];
  const another = next(`recovery restore ${instance} SNAP`, null);
  const note =
    `Snapshot ${seq} of ${instance} is taken, ${reasons[chosen]}. There are ${snapshots}, the latest is ` +
    `${latest}; another one: ${another}`;
  if (globals.json) return [note];
  if (!globals.quiet) await output.stderr.write(`note: ${note}\n`);
  return [];
}

async function showOutcome({ snap, style, next }: Context, instance: string): Promise<Outcome> {
  const result = await snap.recovery.show(instance);
  const [{ recoveryData }, { recoveryText }] = await Promise.all([
    import('../views/json-recovery.js'),
    import('../views/text-recovery.js'),
  ]);
  return {
    data: () => recoveryData(result),
    text: async () => recoveryText(result, await style(), next),
  };
}
