import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnapJson } from '../support/cli.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

/*
 * A reader of git states that was written from refs-layout.md alone: it knows nothing but git's own commands.
 */

/** Each folder's objects are of one type; files of `trees` are what they are. */
const typeIn: Readonly<Record<string, string>> = {
  commits: 'commit',
  tags: 'tag',
  'raw-trees': 'tree',
  blobs: 'blob',
};

function rebuild(store: string, folder: string, into: string): void {
  user.userGit(join(into, '..'), ['init', '--quiet', into]);
  const own = (args: readonly string[]): string => user.userGitText(store, ['--git-dir', store, ...args]);
  const copy = (type: string, oid: string, from: string, as: string): void => {
    const file = join(into, '.git/object');
    // As bytes: output that is text would not be the same.
    user.userGit(store, ['-c', `alias.copy=!git --git-dir '${store}' cat-file ${as} ${from} > '${file}'`, 'copy']);
    const written = user.userGitText(into, ['hash-object', '-t', type, '-w', '--literally', '--no-filters', file]);
    expect(written).toBe(oid);
  };
  for (const line of own(['ls-tree', '-r', '-t', folder]).split('\n')) {
    const [, type, stored, kind, first, rest] = /^\d+ (\w+) ([0-9a-f]+)\t([^/]*)\/(..)\/(.*)$/.exec(line) ?? [];
    if (type === undefined || stored === undefined || kind === undefined) continue;
    if (kind === 'trees') copy(type, stored, stored, type);
    else copy(typeIn[kind]!, `${first!}${rest!}`, stored, 'blob');
  }
  const state = JSON.parse(own(['show', `${folder}/state.json`])) as {
    head: { branch: string };
    branches: { name: string; commit: string }[];
    shallow: string[];
    stashes: { commit: string }[];
    index: { tree: string };
  };
  writeFileSync(join(into, '.git/shallow'), `${state.shallow.join('\n')}\n`);
  for (const { name, commit } of state.branches) user.userGit(into, ['update-ref', `refs/heads/${name}`, commit]);
  for (const { commit } of state.stashes.toReversed()) user.userGit(into, ['stash', 'store', '-m', 'kept', commit]);
  user.userGit(into, ['symbolic-ref', 'HEAD', `refs/heads/${state.head.branch}`]);
  user.userGit(into, ['read-tree', state.index.tree]);
}

test('a repository is rebuilt by what the format page says', async () => {
  const area = tempDir();
  const origin = join(area, 'origin');
  const mount = join(area, 'mount');
  user.createHistory(origin);
  user.cloneRepository(origin, mount);
  user.commitFiles(mount, { '.gitattributes': '*.c text\n', 'deep/in/file.txt': 'x\n' }, 'unpushed');
  user.writeFiles(mount, { 'shared.txt': 'stashed\n' });
  user.userGit(mount, ['stash', 'push', '--quiet']);
  user.stageChanges(mount);
  const dataDir = join(area, 'data');
  const saved = await runSnapJson(['save', '--protect-commits'], { dataDir, cwd: mount });
  expect(saved.code).toBe(0);
  const copy = join(area, 'copy');
  rebuild(join(dataDir, 'store.git'), `${saved.document.data.snapshot.ref}:meta/mounts/mount/git`, copy);
  for (const args of [
    ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/stash'],
    ['rev-parse', 'HEAD'],
    ['ls-files', '-s'],
    ['stash', 'list', '--format=%H'],
    ['diff', '--cached', 'HEAD'],
  ])
    expect(user.userGitText(copy, args)).toBe(user.userGitText(mount, args));
  expect(user.userGit(copy, ['fsck', '--strict', '--no-dangling']).code).toBe(0);
});
