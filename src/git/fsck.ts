import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import type { ContentProgress } from '../core/ports.js';
import type { GitRunner } from './run-git.js';
import { highLevelGit } from './high-level-git.js';
import { refuseOtherKindsBelow } from './ref-kinds.js';

/**
 * What git's own check finds wrong with the store, line by line as git says it; empty when it is sound. `full`
 * reads and hashes all content, otherwise only links between objects are followed.
 * @throws SnapError STORE_DAMAGED where git could not be let to the refs
 */
export async function checkStore(
  git: GitRunner,
  full: boolean,
  onChecked: (done: ContentProgress) => void,
): Promise<string[]> {
  refuseOtherKindsBelow(git.settings.storeDirectory, 'refs');
  const args = [
    'fsck',
    '--strict',
    '--no-dangling',
    '--no-reflogs',
    ...(full ? ['--full', '--progress'] : ['--connectivity-only', '--no-progress']),
  ];
  const { exitCode, output } = await highLevelGit(git, args, ({ processed, total }) => {
    onChecked({ objects: processed, bytes: 0, of: total });
  });
  const lines = output.split(/[\r\n]/).filter((line) => line !== '' && !aside.test(line));
  if (exitCode === 0) return indexOfPacksProblems(git);
  // git's bits: 1 bad objects, 2 not reachable ones, 4 and 8 bad packs or refs, 16 commit-graph. Others: it was not checked.
  if (exitCode >= 128) return [...lines, brokenOff(git, args, exitCode, output)];
  return lines.length > 0 ? lines : [`git fsck ended with exit code ${String(exitCode)}.`];
}

/** How far git has come, and what it notices besides, such as that no branch is there: no problem. */
const aside = /^(notice: |[A-Z][a-z]+ [a-z ]+: +[0-9]+(% \([0-9]+\/[0-9]+\))?(, done\.)? *$)/;

/** It is read by stock git only, which can do nothing where it is damaged. */
async function indexOfPacksProblems(git: GitRunner): Promise<string[]> {
  const path = join(git.settings.storeDirectory, 'objects', 'pack', 'multi-pack-index');
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const { exitCode } = await git.run({ args: ['multi-pack-index', 'verify', '--no-progress'] });
  return exitCode === 0 ? [] : ['multi-pack-index: damaged. No snapshot is; gc makes stock git read the store again.'];
}

/** git dies over some damage, and then has not looked at the rest. All other failures are none of the store. */
function brokenOff(git: GitRunner, args: readonly string[], exitCode: number, output: string): string {
  const failure = git.failure({ args }, exitCode, output);
  if (failure.code === 'NO_SPACE' || exitCode !== 128) throw failure;
  return 'git fsck broke off: git could not check all of the store.';
}
