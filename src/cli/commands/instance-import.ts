import type { Command } from 'commander';
import type { ImportRequest } from '../../index.js';
import { addNotes } from '../help.js';
import { collect, parseKeyValue } from '../options.js';
import type { Hint } from '../next-command.js';
import type { Context, Outcome, Session } from '../session.js';
import type { Surroundings } from '../surroundings.js';
import { UsageError } from '../usage-error.js';

interface ImportOptions {
  readonly all?: true;
  readonly mount?: readonly string[];
  readonly plan?: string;
}

/** `instance import jackin [SELECTOR]`. */
export function defineImport(parent: Command, session: Session): void {
  const command = parent.command('import').summary("make instances for jackin's sessions");
  command
    .argument('<source>', 'jackin')
    .argument('[selector]', 'a role key, an instance id or a container; default: list what there is')
    .option('--all', 'all that jackin has')
    .option('--mount <name=dir>', 'the folder of a mount, by name or path in the container (repeatable)', collect)
    .option('--plan <file>', 'what "jackin load ... --dry-run --format json" printed; - is stdin')
    .action((source: string, selector: string | undefined, options: ImportOptions) =>
      session.run(command, (context) => importOutcome(source, selector, options, context)),
    );
  addNotes(command, {
    about:
      "Make or update an instance for a session of jackin's, named as its container, with the folders that it works in. " +
      "jackin's own files are read only.",
    examples: [
      ['instance import jackin', 'what jackin has, and what became of it'],
      ['instance import jackin the-architect', 'all sessions of a role'],
      ['instance import jackin k7p2m9xa --mount /workspace=./shop', 'with a folder that is named'],
    ],
    exits: [0, 3, 4],
  });
}

async function importOutcome(
  source: string,
  selector: string | undefined,
  options: ImportOptions,
  { snap, surroundings, style, next }: Context,
): Promise<Outcome> {
  if (source !== 'jackin')
    throw new UsageError(`Nothing can be imported from ${JSON.stringify(source)}.`, exampleImport);
  const result = await snap.instance.import({
    selector,
    all: options.all,
    named: await namedMounts(options.mount ?? [], surroundings.cwd),
    plan: options.plan === undefined ? undefined : await readPlan(options.plan, surroundings),
  });
  const [{ importData }, { importText }] = await Promise.all([
    import('../views/json-recovery.js'),
    import('../views/text-import.js'),
  ]);
  return {
    data: () => importData(result),
    text: async () => importText(result, await style(), next),
    messages: result.messages,
  };
}

const exampleImport: Hint = (next) => `For example: ${next('instance import jackin', null)}`;
const exampleMount: Hint = (next) =>
  `For example: ${next('instance import jackin ID --mount /workspace=./shop', null)}`;

const examplePlan: Hint = 'Write it there: jackin load ROLE --dry-run --format json > FILE';

async function namedMounts(words: readonly string[], cwd: string): Promise<NonNullable<ImportRequest['named']>> {
  const { hostPath } = await import('../paths.js');
  return words.map((word) => {
    const [which, dir] = parseKeyValue(word, exampleMount);
    if (dir === '') throw new UsageError(`--mount ${JSON.stringify(word)} names no folder.`, exampleMount);
    return { which, path: hostPath(dir, cwd) };
  });
}

async function readPlan(file: string, { readFile }: Surroundings): Promise<NonNullable<ImportRequest['plan']>> {
  const { systemCode } = await import('../library.js');
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new UsageError(`Cannot read the plan from ${JSON.stringify(file)}: ${code}.`, examplePlan);
  });
  return { file: file === '-' ? 'the plan on stdin' : file, text: Buffer.from(bytes).toString('utf8') };
}
