import type { Command } from 'commander';
import { addNotes } from '../help.js';
import { collect } from '../options.js';
import type { Session } from '../session.js';
import { type RuleOptions, addRuleOptions, foldersOf, overridesOf } from './save.js';

interface PlanOptions extends RuleOptions {
  readonly mount?: readonly string[];
  readonly allowUnsafeMount?: true;
}

export function define(command: Command, session: Session): void {
  command
    .argument('[dir...]', 'the folders of a new instance; default: the current one')
    .option('--mount <name=dir>', 'a folder under a name of its own (repeatable)', collect)
    .option('--allow-unsafe-mount', 'also for /, a home or a secret folder');
  addRuleOptions(command).action((dirs: string[], options: PlanOptions) =>
    session.run(command, async ({ snap, surroundings, style, next }) => {
      const result = await snap.plan({
        folders: await foldersOf(dirs, options.mount ?? [], surroundings.cwd),
        allowUnsafeMount: options.allowUnsafeMount,
        overrides: overridesOf(options),
      });
      const [{ planData }, { planText }] = await Promise.all([
        import('../views/json-contract.js'),
        import('../views/text-contract.js'),
      ]);
      return {
        data: () => planData(result),
        text: async () => planText(result, next, await style()),
        messages: result.messages,
        exitCode: result.refusal === null ? 0 : 4,
      };
    }),
  );
  addNotes(command, {
    about:
      'Say what a session would get, and write nothing: whether a save makes a snapshot, of what and under which rules, where it is kept, and what restores of the first and the latest snapshot would change.',
    examples: [
      ['plan', 'for this folder'],
      ['plan ../api --exclude "*.log" --json', 'for another one, for scripts'],
    ],
    exits: [0, 4],
  });
}
