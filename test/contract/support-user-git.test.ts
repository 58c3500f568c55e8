import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildThreeClones } from '../../fixtures/trees/three-clones.js';
import { canary, homeNotSecret, homeSecrets, homeTree } from '../../fixtures/trees/home.js';
import { buildTree } from '../support/build-tree.js';
import { tempDir } from '../support/temp.js';
import * as git from '../support/user-git.js';
import { walkTree } from '../support/walk.js';

function history(options: git.RepositoryOptions = {}): string {
  const path = join(tempDir(), 'repository');
  git.createHistory(path, options);
  return path;
}

function indexOf(repository: string): Buffer {
  return readFileSync(join(repository, '.git/index'));
}

test('commits have the same ids in every run', () => {
  expect(git.userGitText(history(), ['rev-parse', 'HEAD'])).toBe(git.userGitText(history(), ['rev-parse', 'HEAD']));
});

test.each([
  { what: 'merge', start: git.startMerge, leaves: 'MERGE_HEAD' },
  { what: 'rebase', start: git.startRebase, leaves: 'rebase-merge' },
  { what: 'cherry-pick', start: git.startCherryPick, leaves: 'CHERRY_PICK_HEAD' },
  { what: 'revert', start: git.startRevert, leaves: 'REVERT_HEAD' },
  { what: 'bisect', start: git.startBisect, leaves: 'BISECT_LOG' },
])('a $what is in progress', ({ start, leaves }) => {
  const repository = history();
  start(repository);
  expect(readdirSync(join(repository, '.git'))).toContain(leaves);
});

test.each([2, 3, 4] as const)('the index has version %i', (version) => {
  const repository = history();
  git.useIndexVersion(repository, version);
  expect(indexOf(repository).readUInt32BE(4)).toBe(version);
});

test('the index is split', () => {
  const repository = history();
  git.useSplitIndex(repository);
  expect(indexOf(repository).includes('link')).toBe(true);
});

test('the index is sparse', () => {
  const repository = history();
  git.useSparseIndex(repository);
  expect(indexOf(repository).includes('sdir')).toBe(true);
  expect(existsSync(join(repository, 'outside'))).toBe(false);
});

test('a repository names its objects by sha256', () => {
  expect(git.userGitText(history({ objectFormat: 'sha256' }), ['rev-parse', 'HEAD'])).toHaveLength(64);
});

test('HEAD is detached, unborn, or all refs are packed', () => {
  const [detached, unborn, packed] = [history(), history(), history()];
  git.detachHead(detached);
  git.makeUnborn(unborn);
  git.packRefs(packed);

  expect(readFileSync(join(detached, '.git/HEAD'), 'utf8')).toMatch(/^[0-9a-f]{40}\n$/);
  expect(git.userGit(unborn, ['rev-parse', '--verify', 'HEAD'], { mayFail: true }).code).not.toBe(0);
  expect(readdirSync(join(packed, '.git/refs/heads'))).toEqual([]);
});

test('a plain folder holds three clones, a submodule and a worktree', () => {
  const tree = buildThreeClones(tempDir());
  const status = (path: string): string[] => git.userGitText(path, ['status', '--porcelain']).split('\n');

  expect(existsSync(join(tree.folder, '.git'))).toBe(false);
  for (const clone of [tree.app, tree.service, tree.docs]) {
    expect(lstatSync(join(clone, '.git')).isDirectory()).toBe(true);
  }
  for (const linked of [tree.worktree, tree.submodule]) expect(lstatSync(join(linked, '.git')).isFile()).toBe(true);
  expect(existsSync(tree.marker)).toBe(false);
  expect(status(tree.service)).toEqual(['D  README.md', 'MM shared.txt', 'A  staged.txt', '?? README.md']);
  expect(status(tree.docs)).toContain('UU shared.txt');
  expect(status(tree.worktree)).toEqual([' M shared.txt', '?? untracked-in-worktree.txt']);
  expect(status(tree.submodule)).toEqual([' M library.c', '?? untracked-in-submodule']);
});

test('a home holds every fake secret, each with the canary, and nothing else holds it', async () => {
  const root = tempDir();
  await buildTree(root, homeTree);
  const files = walkTree(root).filter(({ type }) => type === 'file');
  const leaking = files.filter(({ path }) => readFileSync(Buffer.from(`${root}/${path}`, 'latin1')).includes(canary));

  expect(leaking.map(({ path }) => path)).toEqual(homeSecrets.map(({ path }) => path).sort());
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining([...homeNotSecret]));
});
