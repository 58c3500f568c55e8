import type { Command } from 'commander';
import type { JackinSnap } from '../index.js';
import type { CommandLine, GlobalOptions } from './command-line.js';
import { nextCommand, type NextCommand } from './next-command.js';
import { noProgress, progressOn, type ProgressDisplay } from './progress.js';
import type { Surroundings } from './surroundings.js';
import type { TextStyle } from './views/style.js';

/** What a command's action works with. */
export interface Context {
  readonly snap: JackinSnap;
  readonly surroundings: Surroundings;
  readonly globals: GlobalOptions;
  /** Everything that stood after `--`. */
  readonly pathsAfterDashes: readonly string[];
  readonly gitOptions: readonly string[];
  readonly next: NextCommand;
  /** Colours on stdout. */
  readonly color: boolean;
  readonly stopProgress: () => void;
  /** How text looks on this stdout. */
  readonly style: () => Promise<TextStyle>;
}

/** What a command found or did. Only one of `data` and `text` is asked for. */
export interface Outcome {
  readonly data: () => unknown;
  /** For stdout; '' where the command wrote it itself. */
  readonly text: () => string | Promise<string>;
  /** The text is a report that `--quiet` silences, not the answer that was asked for. */
  readonly report?: boolean;
  readonly messages?: readonly string[];
  /** What must be said on stderr even when quiet, and is a message in the document. */
  readonly warnings?: readonly string[];
  readonly exitCode?: number;
}

const makesSnapshots: ReadonlySet<string> = new Set(['save', 'run']);

/** One call of the program: joins the command line, the library and the two kinds of reader. */
export class Session {
  readonly line: CommandLine;
  readonly surroundings: Surroundings;
  globals: GlobalOptions;
  commandName: string;
  exitCode = 0;
  /** Said before the outcome is known; part of the document, also of a failure's. */
  readonly notices: string[] = [];

  constructor(line: CommandLine, surroundings: Surroundings) {
    this.line = line;
    this.surroundings = surroundings;
    this.globals = line.globals;
    this.commandName = line.command?.name ?? '';
  }

  /** Runs one command: opens the library, says what is pending, acts, and shows what came of it. */
  async run(command: Command, act: (context: Context) => Promise<Outcome>): Promise<void> {
    this.commandName = nameOf(command);
    this.globals = globalsOf(command);
    const progress = this.progress();
    try {
      const context = await this.open(progress);
      if (this.commandName !== 'recover') await this.sayWhatIsPending(context);
      const outcome = await act(context);
      progress.stop();
      // Known before anything is written: a reader who goes away does not change it.
      this.exitCode = outcome.exitCode ?? 0;
      if (this.globals.json) await this.writeDocument(outcome);
      else await this.writeText(outcome);
      if (makesSnapshots.has(this.commandName)) await this.keepHouse(context);
    } finally {
      progress.stop();
    }
  }

  /** After the answer, without anybody's waiting for it; what goes wrong with it is no matter of the command's. */
  private async keepHouse({ snap }: Context): Promise<void> {
    try {
      if (await snap.housekeeping.isDue()) await snap.housekeeping.start(this.surroundings.program);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }

  private progress(): ProgressDisplay {
    const { output, elapsed } = this.surroundings;
    const { json, quiet, progress } = this.globals;
    if (!output.stderrIsTerminal || json || quiet || !progress) return noProgress;
    return progressOn({ terminal: output.terminal, columns: output.columns, elapsed });
  }

  private async open(progress: ProgressDisplay): Promise<Context> {
    const { surroundings, globals, line } = this;
    if (globals.instance !== undefined) (await import('./library.js')).parseInstanceName(globals.instance);
    const snap = await surroundings.openSnap({
      dataDir: globals.dataDir,
      instance: globals.instance,
      cwd: surroundings.cwd,
      env: surroundings.env,
      now: surroundings.now,
      onProgress: progress.update,
      signal: surroundings.signal,
    });
    const color = colorsOn(surroundings, globals);
    return {
      snap,
      surroundings,
      globals,
      pathsAfterDashes: line.paths,
      gitOptions: line.gitOptions,
      next: nextCommand(globals),
      color,
      stopProgress: progress.stop,
      style: async () => {
        const { textStyle } = await import('./views/style.js');
        const { output, now } = surroundings;
        return textStyle({ terminal: output.stdoutIsTerminal, columns: output.columns, now: now(), color });
      },
    };
  }

  private async sayWhatIsPending({ snap, next }: Context): Promise<void> {
    const { pendingNotices } = await import('./pending.js');
    for (const notice of await pendingNotices(snap, this.globals.instance, next)) {
      this.notices.push(notice);
      if (!this.globals.json) await this.surroundings.output.stderr.write(`jackin-snap: ${notice}\n`);
    }
  }

  private async writeDocument({ data, messages = [], warnings = [] }: Outcome): Promise<void> {
    const { output, elapsed } = this.surroundings;
    const document = {
      schema_version: '1',
      command: this.commandName,
      ok: true,
      data: data(),
      messages: [...this.notices, ...warnings, ...messages],
      timing: { elapsed_seconds: elapsed() },
    };
    await output.stdout.write(`${JSON.stringify(document, null, output.stdoutIsTerminal ? 2 : 0)}\n`);
  }

  private async writeText({ text, report = false, messages = [], warnings = [] }: Outcome): Promise<void> {
    const { output } = this.surroundings;
    const { displayPath, bytesOfText } = await import('./library.js');
    const shown = (line: string): string => displayPath(bytesOfText(line));
    if (!report || !this.globals.quiet) await output.stdout.write(await text());
    for (const warning of warnings) await output.stderr.write(`warning: ${shown(warning)}\n`);
    if (this.globals.quiet) return;
    for (const message of messages) await output.stderr.write(`note: ${shown(message)}\n`);
  }
}

/** `save`, or `instance set`. */
export function nameOf(command: Command): string {
  const parent = command.parent;
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
}

/** The global options may stand at any level; the one nearest to the command's own words counts. */
function globalsOf(command: Command): GlobalOptions {
  const levels: Record<string, unknown>[] = [];
  for (let level: Command | null = command; level !== null; level = level.parent) levels.push(level.opts());
  const text = (key: string): string | undefined => {
    const value = levels.map((options) => options[key]).find((found) => typeof found === 'string');
    return typeof value === 'string' ? value : undefined;
  };
  const said = (key: string): boolean => levels.some((options) => options[key] === true);
  const denied = (key: string): boolean => levels.some((options) => options[key] === false);
  return {
    instance: text('instance'),
    dataDir: text('dataDir'),
    json: said('json'),
    quiet: said('quiet'),
    color: !denied('color'),
    progress: !denied('progress'),
  };
}

function colorsOn({ output, env }: Surroundings, globals: GlobalOptions): boolean {
  const { NO_COLOR: noColor, TERM: term } = env;
  return output.stdoutIsTerminal && globals.color && !noColor && term !== 'dumb';
}
