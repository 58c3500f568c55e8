import { type Command, Option } from 'commander';
import { shellWord } from '../../core/command-text.js';
import type { RunRequest, RunResult, WorktreeEnd } from '../../index.js';
import { addNotes } from '../help.js';
import type { NextCommand } from '../next-command.js';
import type { Context, Outcome, Session } from '../session.js';
import type { Surroundings } from '../surroundings.js';

interface RunOptions {
  readonly force?: true;
  readonly onSaveFailure: 'abort' | 'warn';
  readonly worktree?: true;
  readonly keep?: 'ask' | 'keep' | 'discard';
}

export function define(command: Command, session: Session): void {
  if (session.line.subcommand !== undefined) defineSubcommands(command, session);
  else defineRun(command, session);
}

/** What stands first after `run` is ours only without `--` before it: `run -- list` runs a program. */
function defineSubcommands(command: Command, session: Session): void {
  command.enablePositionalOptions().helpCommand(false);
  const list = command.command('list').summary('the worktrees that run made');
  list
    .option('--all', 'also those that were removed')
    .action(({ all }: { readonly all?: true }) => session.run(list, (context) => listOutcome(context, all ?? false)));
  addNotes(list, { examples: [['run list', 'branch, base and state of each']], exits: [0] });

  const remove = command.command('remove').summary('remove a worktree, after a snapshot of it');
  remove
    .argument('<name>', 'the worktree, as "run list" names it')
    .option('-y, --yes', 'do not ask')
    .option('--force', 'although something would be lost that neither a snapshot nor a commit has')
    .action((name: string, options: RemoveOptions) =>
      session.run(remove, (context) => removeOutcome(context, name, options)),
    );
  addNotes(remove, {
    about:
      'Take a snapshot of the worktree, then remove its folder, what its repository has of it, and its branch if that has ' +
      'no commit of its own. Its snapshots stay.',
    examples: [['run remove app-run-1a2b3c4d', 'asks first']],
    exits: [0, 3, 4, 5, 8],
  });
}

interface RemoveOptions {
  readonly yes?: boolean;
  readonly force?: true;
}

async function listOutcome({ snap, next }: Context, all: boolean): Promise<Outcome> {
  const worktrees = await snap.worktrees.list({ all });
  const [{ runListData }, { runListText }] = await Promise.all([
    import('../views/json-run.js'),
    import('../views/text-run.js'),
  ]);
  return { data: () => runListData(worktrees), text: () => runListText(worktrees, next) };
}

async function removeOutcome(context: Context, name: string, { yes = false, force }: RemoveOptions): Promise<Outcome> {
  const { snap, surroundings, stopProgress, next } = context;
  const [{ parseInstanceName }, { agreeTo }, { runRemoveData }, { runRemoveText }] = await Promise.all([
    import('../library.js'),
    import('../confirm.js'),
    import('../views/json-run.js'),
    import('../views/text-run.js'),
  ]);
  const removed = await snap.worktrees.remove({
    name: parseInstanceName(name),
    force,
    confirm: (worktree) => {
      stopProgress();
      const command = `run remove ${worktree.name} --yes${force === true ? ' --force' : ''}`;
      const consent = { yes, what: 'remove', command, notes: worktree.whatGoes };
      return agreeTo(`remove the worktree ${worktree.name}`, consent, surroundings);
    },
  });
  return {
    data: () => runRemoveData(removed),
    text: () => runRemoveText(removed, next),
    messages: removed.messages,
    report: true,
  };
}

function defineRun(command: Command, session: Session): void {
  command
    .argument('<cmd...>', 'the command and its arguments')
    .usage('[options] -- CMD [ARGUMENT...]')
    .option('--worktree', 'in a new git worktree on a new branch off HEAD; the folder itself is not touched')
    .addOption(
      new Option(
        '--keep <what>',
        'what becomes of the worktree; default: as exit_policy says, or kept if CMD succeeds',
      ).choices(['ask', 'keep', 'discard']),
    )
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
      'when it cannot be started. Worktrees: run list, run remove NAME.',
    examples: [
      ['run -- make test', 'a snapshot before and one after'],
      ['run -- sh -c "npm update && npm test"', 'several commands'],
      ['run --worktree -- agent', 'apart from the folder, on a branch of its own'],
      ['run --on-save-failure warn -- make', 'also when no snapshot can be made'],
    ],
    exits: [0, 4, 8],
  });
}

async function runOutcome(words: readonly string[], options: RunOptions, context: Context): Promise<Outcome> {
  const { snap, surroundings, globals, next } = context;
  // From here on signals are for the command; the snapshot after it is made all the same.
  surroundings.beDeafToSignals();
  const result = await snap.run(await requestOf(words, options, context));
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

async function requestOf(
  words: readonly string[],
  options: RunOptions,
  { surroundings, globals }: Context,
): Promise<RunRequest> {
  const { canAsk } = await import('../confirm.js');
  const [program = '', ...rest] = words;
  const warn = async (message: string): Promise<void> => {
    const { displayPath, bytesOfText } = await import('../library.js');
    await surroundings.output.stderr.write(`warning: ${displayPath(bytesOfText(message))}\n`);
  };
  return {
    command: [program, ...rest],
    force: options.force,
    onSaveFailure: options.onSaveFailure,
    worktree: options.worktree,
    keep: options.keep,
    askKeep: canAsk(surroundings.output) ? (ended) => askKeep(surroundings, ended) : undefined,
    confirmDiscard: canAsk(surroundings.output)
      ? async ({ instance }, risks, whatGoes) => {
          const { askAboutRisks } = await import('../ask-about-risks.js');
          return unlessInterrupted(askAboutRisks(surroundings, instance, risks, await whatGoes()), false);
        }
      : undefined,
    // In a document it is one of the messages.
    onWarning: globals.json ? undefined : warn,
    stdout: globals.json ? 'stderr' : 'stdout',
  };
}

/** It is kept when the question is not answered. */
async function askKeep(surroundings: Surroundings, { name, exitCode, whatGoes }: WorktreeEnd): Promise<boolean> {
  for (const note of await whatGoes()) await surroundings.output.stderr.write(`${note}\n`);
  const question = `The command ended with ${exitCode}. Remove the worktree ${name}?`;
  return !(await unlessInterrupted(surroundings.ask(question), false));
}

async function unlessInterrupted(answer: Promise<boolean>, otherwise: boolean): Promise<boolean> {
  try {
    return await answer;
  } catch (error) {
    const { isSnapError } = await import('../library.js');
    if (!isSnapError(error, 'INTERRUPTED')) throw error;
    return otherwise;
  }
}

function warningsOf(result: RunResult, next: NextCommand): string[] {
  const { after, before, complete, messages, snapshotLevel, worktree, instance, blocked } = result;
  const unsaved = (worktree?.unsaved ?? []).map((why) => `The worktree was not removed: ${why}.`);
  const names = (worktree?.unacknowledged ?? []).map((name) => ` --acknowledge ${shellWord(name)}`).join('');
  if (names !== '') unsaved.push(`If all of that may go: ${next(`discard ${instance} --yes${names}`, null)}`);
  const spell = (words: string): string => (worktree === null ? next(words) : next(words, instance));
  const said = [...messages, ...unsaved];
  if (snapshotLevel === 'off') return said;
  if (after === null) return [...said, ...unsavedText(blocked, spell)];
  const isPartial = !complete && before !== null;
  return isPartial ? [...said, `See what is missing: ${spell(`show ${after.seq}`)}`] : said;
}

/** Of a folder that is gone there is nothing to save, and of a closed instance there are no more snapshots. */
function unsavedText(blocked: RunResult['blocked'], spell: (words: string) => string): string[] {
  const alone = 'What the command did is in the folder alone.';
  if (blocked === 'gone') return [];
  return blocked === 'closed' ? [alone] : [`${alone} Try again: ${spell('save')}`];
}
