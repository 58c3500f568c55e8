import type { Command } from 'commander';
import { addNotes } from '../help.js';
import type { Context, Outcome, Session } from '../session.js';
import { orPathWasMeant } from './path-for-snapshot.js';
import { carryOutRestore } from './restoring.js';

export interface RestoreOptions {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly mount?: string;
  readonly to?: string;
  readonly delete: boolean;
  readonly deleteNewRepos?: true;
  readonly force?: true;
  readonly allowLarge?: true;
  readonly gitState?: true;
  readonly state?: true;
  readonly pathsFrom?: string;
  readonly verbose?: true;
}

export function define(command: Command, session: Session): void {
  addRestoreOptions(
    command.argument('<snap>', 'the snapshot').argument('[path...]', 'only these paths; default: everything'),
  ).action((snapshot: string, words: string[], options: RestoreOptions) =>
    session.run(command, (context) => restoreOutcome(context, snapshot, words, options)),
  );
  addNotes(command, {
    about:
      'Put the mounts, or only PATHs, back to what they were in the snapshot. What is overwritten or deleted is saved in ' +
      'an emergency snapshot first, so that "undo" takes the restore back.',
    examples: [
      ['restore latest --dry-run', 'what would change'],
      ['restore 3', 'show the plan, ask, do it'],
      ['restore 3 -- src/main.c docs', 'one file and one folder'],
      ['restore 3 --to ../as-it-was', 'a copy elsewhere'],
    ],
    exits: [0, 3, 4, 5, 6, 7, 8],
  });
}

/** What restores and recoveries are told alike. */
export function addRestoreOptions(command: Command): Command {
  return command
    .option('-n, --dry-run', 'show the plan, change nothing')
    .option('-y, --yes', 'do not ask')
    .option('--mount <name>', 'only this mount')
    .option('--to <dir>', 'write into a new folder, leave the mounts alone')
    .option('--git-state', 'also branches, HEAD, what is staged and stashes, as protected by the save')
    .option('--state', "with --to: also what is stored of a session's state, into a folder of its own")
    .option('--no-delete', 'delete nothing')
    .option('--delete-new-repos', 'also delete repositories made since')
    .option('--allow-large', 'although most of what a folder holds is deleted')
    .option('--force', 'although the instance is active or the folder is another one')
    .option('--paths-from <file>', 'more paths, NUL-separated; - is stdin')
    .option('--verbose', 'show long plans in full');
}

/** Puts a snapshot back under all guards: shows the plan, asks, and tells what came of it. */
export async function restoreOutcome(
  context: Context,
  snapshot: string,
  words: readonly string[],
  options: RestoreOptions,
): Promise<Outcome> {
  const request = await restoreRequest(snapshot, words, options, context);
  const { dryRun = false, yes = false, verbose = false, allowLarge = false } = options;
  const instance = /^([^/]+)\/[^/]+$/.exec(snapshot)?.[1];
  const undo = context.next('undo', instance);
  const manner = { dryRun, yes, verbose, allowLarge, what: 'restore', undo } as const;
  return orPathWasMeant(
    (word) => `restore latest -- ${word}`,
    () => carryOutRestore(context, manner, (consent) => context.snap.restore({ ...request, ...consent })),
  );
}

async function restoreRequest(
  snapshot: string,
  words: readonly string[],
  options: RestoreOptions,
  { surroundings, pathsAfterDashes }: Context,
) {
  const { gatherPaths, hostPath } = await import('../paths.js');
  const { parseMountName } = await import('../library.js');
  const given = { words: [...words, ...pathsAfterDashes], from: options.pathsFrom };
  const paths = await gatherPaths(given, surroundings);
  return {
    snapshot,
    paths: paths.length === 0 ? undefined : paths,
    mount: options.mount === undefined ? undefined : parseMountName(options.mount),
    dryRun: options.dryRun,
    noDelete: options.delete ? undefined : true,
    deleteNewRepositories: options.deleteNewRepos,
    force: options.force,
    gitState: options.gitState,
    state: options.state,
    to: options.to === undefined ? undefined : hostPath(options.to, surroundings.cwd),
  };
}
