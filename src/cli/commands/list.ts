import type { Command } from 'commander';
import type { InstanceSummary, ListRequest, ListResult, Trigger } from '../../index.js';
import { addNotes } from '../help.js';
import { parseChoice, parseCount, parseSince } from '../options.js';
import type { Context, Outcome, Session } from '../session.js';
import { triggerList } from '../triggers.js';
import { UsageError } from '../usage-error.js';

interface ListOptions {
  readonly all?: true;
  readonly trigger?: Trigger;
  readonly since?: Date;
  readonly limit?: number;
}

export function define(command: Command, session: Session): void {
  command
    .option('--all', 'all instances, with their folders and sizes')
    .option('--trigger <name>', `only those of one trigger: ${triggerList.join(', ')}`, parseChoice(triggerList))
    .option('--since <time>', 'not older than 2h, 3d, or a date', (text) =>
      parseSince(text, session.surroundings.now()),
    )
    .option('--limit <count>', 'at most so many, the newest', parseCount)
    .action((options: ListOptions) =>
      session.run(command, (context) => (options.all ? listAll(options, context) : listOne(options, context))),
    );
  addNotes(command, {
    about: 'The snapshots of an instance, newest first.',
    examples: [
      ['list', 'the snapshots of this folder'],
      ['list --since 2h --trigger pre_write', 'only some of them'],
      ['list --all', 'every instance there is'],
    ],
    exits: [0, 3],
  });
}

async function listOne({ trigger, since, limit }: ListOptions, context: Context): Promise<Outcome> {
  const request: ListRequest = {
    ...(trigger === undefined ? {} : { trigger }),
    ...(since === undefined ? {} : { since }),
    ...(limit === undefined ? {} : { limit }),
  };
  return listOutcome(await context.snap.list(request), context);
}

/** What `list` and `recovery list` both show of an instance. */
export async function listOutcome(result: ListResult, { style }: Pick<Context, 'style'>): Promise<Outcome> {
  const [{ listData }, { listText }] = await Promise.all([import('../views/json.js'), import('../views/text-list.js')]);
  return {
    data: () => listData(result),
    text: async () => listText(result, await style()),
    messages: result.messages,
  };
}

async function listAll({ trigger, since, limit }: ListOptions, context: Context): Promise<Outcome> {
  if (trigger !== undefined || since !== undefined || limit !== undefined) {
    throw new UsageError(
      '--all lists instances; --trigger, --since and --limit choose snapshots.',
      (next) => `See all instances: ${next('list --all', null)}; the snapshots of one: ${next('list', 'NAME')}`,
    );
  }
  return instancesOutcome(context);
}

/** What `list --all` and `instance list` both show. */
export async function instancesOutcome({ snap, style, next }: Context): Promise<Outcome> {
  return instanceListOutcome(await snap.listAll(), { style, next });
}

export async function instanceListOutcome(
  instances: readonly InstanceSummary[],
  { style, next }: Pick<Context, 'style' | 'next'>,
): Promise<Outcome> {
  const [{ instanceData }, { instancesText }] = await Promise.all([
    import('../views/json.js'),
    import('../views/text-list.js'),
  ]);
  return {
    data: () => ({ instances: instances.map(instanceData) }),
    text: async () => instancesText(instances, await style(), next),
  };
}
