import type { Command } from 'commander';
import type { PolicyOverrides, SaveRequest, SaveResult, Trigger } from '../../index.js';
import { addNotes } from '../help.js';
import type { Hint, NextCommand } from '../next-command.js';
import { collect, parseChoice, parseKeyValue, parseKeyValues, parseSize } from '../options.js';
import type { Context, Outcome, Session } from '../session.js';
import type { Surroundings } from '../surroundings.js';
import { triggerList } from '../triggers.js';
import { UsageError } from '../usage-error.js';

/** What decides what is stored, for this call only. */
export interface RuleOptions {
  readonly exclude?: readonly string[];
  readonly include?: readonly string[];
  readonly gitignore: boolean;
  readonly stacks: boolean;
  readonly includeSecrets?: true;
  readonly maxFileSize?: number;
  readonly protectCommits?: boolean;
}

interface SaveOptions extends RuleOptions {
  readonly message?: string;
  readonly mount?: readonly string[];
  readonly ifChanged?: true;
  readonly strict?: true;
  readonly full?: true;
  readonly path?: readonly string[];
  readonly pathsFrom?: string;
  readonly trigger?: Trigger;
  readonly sourceTool?: string;
  readonly phase?: string;
  readonly decision?: string;
  readonly resource?: string;
  readonly meta?: readonly string[];
  readonly allowUnsafeMount?: true;
}

export function define(command: Command, session: Session): void {
  command
    .argument('[dir...]', 'the folders of a new instance; default: the current one')
    .option('-m, --message <text>', 'why this snapshot is made')
    .option('--mount <name=dir>', 'a folder under a name of its own (repeatable)', collect)
    .option('--if-changed', 'make none when nothing changed')
    .option('--strict', 'publish nothing when anything cannot be read')
    .option('--full', 'read every file, whatever the stat cache says')
    .option('--path <path>', 'only this path; a missing one is recorded as absent (repeatable)', collect)
    .option('--paths-from <file>', 'more of them, NUL-separated; - is stdin')
    .option('--allow-unsafe-mount', 'save /, a home or a secret folder all the same');
  addRuleOptions(command)
    .option('--protect-commits', 'keep unpushed commits, what is staged and stashes too')
    .option('--no-protect-commits', 'do not, although the setting says so')
    .optionsGroup('What is recorded with it:')
    .option('--trigger <name>', triggerList.join(', '), parseChoice(triggerList))
    .option('--source-tool <name>', 'the tool on whose behalf it is made')
    .option('--phase <text>', 'a phase of the work')
    .option('--decision <text>', 'a decision that it belongs to')
    .option('--resource <text>', 'what is about to be changed')
    .option('--meta <key=value>', 'anything else (repeatable)', collect)
    .action((dirs: string[], options: SaveOptions) =>
      session.run(command, async (context) => {
        const result = await context.snap.save(await saveRequest(dirs, options, context.surroundings));
        const elsewhere = dirs.length > 0 || options.mount !== undefined;
        const next: NextCommand = (words) => context.next(words, elsewhere ? result.snapshot.instance : undefined);
        return saveOutcome(result, next, context);
      }),
    );
  addNotes(command, {
    about: 'Take a snapshot of the folder, or of DIRs. The folder itself is only read.',
    examples: [
      ['save -m "before the change"', 'this folder'],
      ['save --mount web=./web --mount api=../api', 'two folders as one instance'],
      ['save --if-changed --json', 'for scripts'],
    ],
    exits: [0, 4, 6, 7, 8],
  });
}

export function addRuleOptions(command: Command): Command {
  return command
    .optionsGroup('What is stored (this save only; see also "instance set"):')
    .option('--exclude <pattern>', 'leave out what matches, as in .gitignore (repeatable)', collect)
    .option('--include <pattern>', 'store what matches in spite of excludes (repeatable)', collect)
    .option('--no-gitignore', 'store what .gitignore files leave out')
    .option('--no-stacks', 'store what is left out for detected stacks, such as node_modules')
    .option('--include-secrets', 'store files that look like secrets')
    .option('--max-file-size <size>', 'leave out larger files, e.g. 100M', parseSize);
}

async function saveRequest(
  dirs: readonly string[],
  options: SaveOptions,
  surroundings: Surroundings,
): Promise<SaveRequest> {
  const { message, trigger, sourceTool, phase, decision, resource, ifChanged, strict, full, allowUnsafeMount } =
    options;
  const { gatherPaths } = await import('../paths.js');
  const limited = options.path !== undefined || options.pathsFrom !== undefined;
  const given = { words: options.path ?? [], from: options.pathsFrom };
  return {
    folders: await foldersOf(dirs, options.mount ?? [], surroundings.cwd),
    message,
    trigger,
    sourceTool,
    phase,
    decision,
    resource,
    meta:
      options.meta === undefined
        ? undefined
        : parseKeyValues(options.meta, (next) => `For example: ${next('save --meta ticket=42')}`),
    ifChanged,
    strict,
    full,
    allowUnsafeMount,
    overrides: overridesOf(options),
    paths: limited ? await gatherPaths(given, surroundings) : undefined,
  };
}

const exampleMount: Hint = (next) => `For example: ${next('save --mount web=./web')}`;

export async function foldersOf(
  dirs: readonly string[],
  mounts: readonly string[],
  cwd: string,
): Promise<NonNullable<SaveRequest['folders']>> {
  const { hostPath } = await import('../paths.js');
  const { parseMountName } = await import('../library.js');
  const named = mounts.map((word) => {
    const [name, dir] = parseKeyValue(word, exampleMount);
    if (dir === '') throw new UsageError(`--mount ${JSON.stringify(word)} names no folder.`, exampleMount);
    return { name: parseMountName(name), path: hostPath(dir, cwd) };
  });
  return [...dirs.map((dir) => ({ name: null, path: hostPath(dir, cwd) })), ...named];
}

export function overridesOf(options: RuleOptions): PolicyOverrides {
  return {
    exclude: options.exclude === undefined ? undefined : [...options.exclude],
    include: options.include === undefined ? undefined : [...options.include],
    gitignore: options.gitignore ? undefined : false,
    stacks: options.stacks ? undefined : false,
    include_secrets: options.includeSecrets,
    max_file_size: options.maxFileSize,
    protect_commits: options.protectCommits === undefined ? undefined : options.protectCommits ? 'true' : 'false',
  };
}

async function saveOutcome(result: SaveResult, next: NextCommand, { style }: Context): Promise<Outcome> {
  const [{ saveData }, { saveText, incompleteLines }] = await Promise.all([
    import('../views/json.js'),
    import('../views/text-save.js'),
  ]);
  return {
    data: () => saveData(result),
    text: async () => saveText(result, next, await style()),
    report: true,
    messages: result.messages,
    warnings: result.complete ? [] : incompleteLines(result),
    exitCode: result.complete ? 0 : 6,
  };
}
