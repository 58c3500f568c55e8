import { type Command, Option } from 'commander';
import type { RunRequest, RunResult } from '../../index.js';
import { addNotes } from '../help.js';
import type { NextCommand } from '../next-command.js';
import type { Context, Outcome, Session } from '../session.js';

interface RunOptions {
  readonly force?: true;
  readonly onSaveFailure: 'abort' | 'warn';
}

export function define(command: Command, session: Session): void {
  command
    .argument('<cmd...>', 'the command and its arguments')
    .usage('[options] -- CMD [ARGUMENT...]')
    .addOption(
      new Option('--on-save-failure <what>', 'when the first snapshot fails: do not start CMD, or say so and start it')
        .choices(['abort', 'warn'])
        .default('abort'),
    )
    .option('--force', 'although the instance is active')
    .passThroughOptions()
    .action((words: string[], options: RunOptions) =>
      session.run(command, (context) => runOutcome(words, options, context)),
    );
  addNotes(command, {
    about:
      'Mark the instance active, take a snapshot, run CMD, take another, and say what changed: files and lines, new ' +
      'executables, and what runs by itself, such as hooks, CI and editor tasks. The exit code is that of CMD; 126 or 127 ' +
      'when it cannot be started.',
    examples: [
      ['run -- make test', 'a snapshot before and one after'],
      ['run -- sh -c "npm update && npm test"', 'several commands'],
      ['run --on-save-failure warn -- make', 'also when no snapshot can be made'],
    ],
    exits: [0, 4, 8],
  });
}

async function runOutcome(words: readonly string[], options: RunOptions, context: Context): Promise<Outcome> {
  const { snap, surroundings, globals, next } = context;
  // From here on signals are for the command; the snapshot after it is made all the same.
  surroundings.beDeafToSignals();
  const result = await snap.run(requestOf(words, options, context));
  const [{ runData }, { runText }] = await Promise.all([
    import('../views/json-run.js'),
    import('../views/text-run.js'),
  ]);
  // The command's output is the answer; ours stands beside it.
  if (!globals.json && !globals.quiet) await surroundings.output.stderr.write(runText(result, next));
  return {
    data: () => runData(result, next),
    text: () => '',
    warnings: warningsOf(result, next),
    exitCode: result.exitCode,
  };
}

function requestOf(words: readonly string[], options: RunOptions, { surroundings, globals }: Context): RunRequest {
  const [program = '', ...rest] = words;
  const warn = async (message: string): Promise<void> => {
    const { displayPath, bytesOfText } = await import('../library.js');
    await surroundings.output.stderr.write(`warning: ${displayPath(bytesOfText(message))}\n`);
  };
  return {
    command: [program, ...rest],
    force: options.force,
    onSaveFailure: options.onSaveFailure,
    // In a document it is one of the messages.
    onWarning: globals.json ? undefined : warn,
    stdout: globals.json ? 'stderr' : 'stdout',
  };
}

function warningsOf({ after, before, complete, messages }: RunResult, next: NextCommand): string[] {
  if (after === null) return [...messages, `What the command did is in the folder alone. Try again: ${next('save')}`];
  const isPartial = !complete && before !== null;
  return isPartial ? [...messages, `See what is missing: ${next(`show ${after.seq}`)}`] : [...messages];
}
