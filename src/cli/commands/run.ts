import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Session } from '../session.js';

export function define(command: Command, session: Session): void {
  command
    .argument('<cmd...>', 'the command and its arguments')
    .usage('[options] -- CMD [ARGUMENT...]')
    .option('--force', 'although the instance is active')
    .passThroughOptions()
    .action(([program = '', ...rest]: string[], { force }: { readonly force?: true }) =>
      session.run(command, async ({ snap, surroundings, globals, next }) => {
        // From here on signals are for the command; the snapshot after it is made all the same.
        surroundings.beDeafToSignals();
        const stdout = globals.json ? 'stderr' : 'stdout';
        const result = await snap.run({ command: [program, ...rest], force, stdout });
        const [{ runData }, { runText }] = await Promise.all([
          import('../views/json-change.js'),
          import('../views/text-save.js'),
        ]);
        // The command's output is the answer; ours stands beside it.
        if (!globals.json && !globals.quiet) await surroundings.output.stderr.write(runText(result, next));
        return {
          data: () => runData(result),
          text: () => '',
          warnings:
            result.complete || result.after === null
              ? result.messages
              : [`Snapshot ${result.after.seq} is partial: ${next(`show ${result.after.seq}`)}`],
          exitCode: result.exitCode,
        };
      }),
    );
  addNotes(command, {
    about:
      'Mark the instance active, take a snapshot, run CMD, take another, and say what changed. The exit code is that of ' +
      'CMD; 126 or 127 when it cannot be started.',
    examples: [
      ['run -- make test', 'a snapshot before and one after'],
      ['run -- sh -c "npm update && npm test"', 'several commands'],
    ],
    exits: [0, 4, 8],
  });
}
