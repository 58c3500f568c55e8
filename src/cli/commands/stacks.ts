import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command.helpCommand(false);
  defineLooking(command, session);
  defineValidation(command, session);
  defineApproval(command, session);
  addNotes(command, {
    about:
      'Presets for kinds of projects: how they are found, and what saves leave out there because tools make it again.',
    examples: [
      ['stacks list', 'every preset'],
      ['stacks show node', 'how it is found, and its patterns'],
    ],
    exits: [0],
  });
}

function defineLooking(parent: Command, session: Session): void {
  const list = parent.command('list').summary('every preset, built-in and your own');
  list.action(() =>
    session.run(list, async ({ snap, style }) => {
      const result = await snap.stacks.list();
      const [{ stackListData }, { stackListText }] = await views();
      return { data: () => stackListData(result), text: async () => stackListText(result, await style()) };
    }),
  );
  addNotes(list, { examples: [['stacks list', 'your own are in stacks/ of the data directory']], exits: [0] });

  const show = parent.command('show').summary('how one is found, and what it leaves out');
  show.argument('<name>', 'the preset').action((name: string) =>
    session.run(show, async ({ snap, style }) => {
      const preset = await snap.stacks.show(name);
      const [{ stackData }, { stackText }] = await views();
      return { data: () => ({ preset: stackData(preset) }), text: async () => stackText(preset, await style()) };
    }),
  );
  addNotes(show, { examples: [['stacks show rust', 'that of Rust']], exits: [0] });
}

function defineValidation(parent: Command, session: Session): void {
  const validate = parent.command('validate').summary('would this file be taken as a preset?');
  validate.argument('<file>', 'a TOML file, named for its preset').action((file: string) =>
    session.run(validate, async ({ snap, surroundings, style }) => {
      const { hostPath } = await import('../paths.js');
      const result = await snap.stacks.validate(hostPath(file, surroundings.cwd));
      const [{ validationData }, { validationText }] = await views();
      return {
        data: () => validationData(result),
        text: async () => validationText(file, result, await style()),
        exitCode: result.preset === null ? 2 : 0,
      };
    }),
  );
  addNotes(validate, { examples: [['stacks validate dart.toml', 'prints accepted, or what is wrong']], exits: [0, 2] });
}

function defineApproval(parent: Command, session: Session): void {
  const approve = parent.command('approve').summary('let a folder have the presets that it recommends');
  approve
    .argument('[dir]', 'the folder; default: the current one')
    .action((dir?: string) =>
      session.run(approve, (context) => approvalOutcome(context, dir, ({ stacks }, folder) => stacks.approve(folder))),
    );
  addNotes(approve, {
    about: 'Approve what the .jackin-snap.toml of a folder recommends, for just the content that it has now.',
    examples: [['stacks approve', 'for this folder']],
    exits: [0, 2, 3],
  });

  const revoke = parent.command('revoke').summary('take that back');
  revoke
    .argument('[dir]', 'the folder; default: the current one')
    .action((dir?: string) =>
      session.run(revoke, (context) => approvalOutcome(context, dir, ({ stacks }, folder) => stacks.revoke(folder))),
    );
  addNotes(revoke, { examples: [['stacks revoke ../api', 'for that folder']], exits: [0] });
}

type Snap = Context['snap'];

async function approvalOutcome(
  { snap, surroundings, style }: Context,
  dir: string | undefined,
  act: (snap: Snap, folder: Parameters<Snap['stacks']['approve']>[0]) => ReturnType<Snap['stacks']['approve']>,
): Promise<Outcome> {
  const { hostPath } = await import('../paths.js');
  const result = await act(snap, hostPath(dir ?? '.', surroundings.cwd));
  const [{ approvalData }, { approvalText }] = await views();
  return { data: () => approvalData(result), text: async () => approvalText(result, await style()), report: true };
}

const views = () => Promise.all([import('../views/json-contract.js'), import('../views/text-stacks.js')]);
