import { Command, CommanderError, Option } from 'commander';
import { readCommandLine } from './command-line.js';
import { commandTable, type CommandEntry } from './command-table.js';
import { overview, overviewStyle } from './help.js';
import { nameOf, Session } from './session.js';
import type { Surroundings } from './surroundings.js';
import { UsageError } from './usage-error.js';
import { hintFor } from './usage-hints.js';

/** Reads the command line and makes the session that it is about. */
export function startSession(argv: readonly string[], surroundings: Surroundings): Session {
  // `help save` is `save --help`.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  return new Session(readCommandLine(words, commandTable), surroundings);
}

/**
 * Runs the command of the session. Only that command's own file is loaded.
 * @throws UsageError, SnapError, or anything else that is a bug.
 */
export async function runProgram(session: Session): Promise<number> {
  const said: Said = { out: '', error: '', by: { name: '', usage: 'COMMAND' } };
  const program = await buildProgram(session, said);
  const { output } = session.surroundings;
  try {
    await program.parseAsync([...session.line.words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for is an answer; help because nothing was asked is a mistake.
    if (error.exitCode !== 0) throw usageError(error, said, session);
    await output.stdout.write(said.out);
  }
  return session.exitCode;
}

/** What commander wanted to print. */
interface Said {
  out: string;
  error: string;
  /** Whose words they were. */
  by: { readonly name: string; readonly usage: string };
}

async function buildProgram(session: Session, said: Said): Promise<Command> {
  const columns = Math.min(100, session.surroundings.output.columns);
  const program = new Command('jackin-snap')
    .usage('[OPTION...] COMMAND [ARGUMENT...]')
    .description(overview.description)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => (said.out += text),
      writeErr: (text) => (said.error += text),
      outputError: () => undefined,
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp(overviewStyle)
    .enablePositionalOptions()
    .helpCommand(false)
    .addHelpText('after', overview.after);
  addGlobalOptions(program, 'Options:');
  program.addOption(new Option('-V, --version', 'print the version').helpGroup('Options:'));
  for (const entry of commandTable) await addCommand(program, entry, session, said);
  return program;
}

async function addCommand(program: Command, entry: CommandEntry, session: Session, said: Said): Promise<void> {
  const { name, summary, group, hidden = false } = entry;
  const command = program.command(name, { hidden }).summary(summary).helpGroup(group);
  if (entry.alias !== undefined) command.alias(entry.alias);
  if (entry !== session.line.command) {
    command.usage(entry.usage);
    return;
  }
  (await entry.load()).define(command, session);
  for (const leaf of [command, ...command.commands]) {
    addGlobalOptions(leaf, 'Global options:');
    leaf.exitOverride((error) => {
      const usage = leaf === command ? entry.usage : leaf.usage().replace('[options]', '').trim();
      said.by = { name: nameOf(leaf), usage };
      throw error;
    });
  }
}

function addGlobalOptions(command: Command, group: string): void {
  const options = [
    new Option('-i, --instance <name>', 'the instance; default: that of this folder'),
    new Option('--data-dir <dir>', 'where it keeps them; or JACKIN_SNAP_DATA_DIR'),
    new Option('--json', 'print one JSON document'),
    new Option('-q, --quiet', 'print answers and errors only'),
    // Each command's help has these two; the overview has no room for them.
    new Option('--no-color', 'no colours (also: NO_COLOR=1)').hideHelp(command.parent === null),
    new Option('--no-progress', 'no progress line').hideHelp(command.parent === null),
  ];
  for (const option of options) command.addOption(option.helpGroup(group));
  command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(group));
}

function usageError(error: CommanderError, said: Said, session: Session): UsageError {
  const hint = hintFor(error.code, error.message, said.by);
  session.commandName = said.by.name;
  if (error.code === 'commander.help') return new UsageError('A command is missing.', hint, `${said.error}\n`);
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const sentence = `${first.slice(0, 1).toUpperCase()}${first.slice(1).replace(/([^.?)])$/, '$1.')}`;
  return new UsageError([sentence, ...rest].join(' ').trim(), hint);
}
