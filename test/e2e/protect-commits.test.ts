import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSnapJson } from '../support/cli.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';
import {
  expectFsck,
  expectSound,
  ownGit,
  protectedSave,
  restored,
  scene,
  sceneAt,
  stateOf,
  work,
} from './protect-scene.js';

test('what only the repository holds is in the snapshot, once', async () => {
  const place = scene();
  work(place.mount);
  expect(await protectedSave(place)).toMatchObject({
    code: 0,
    complete: true,
    // Both stashes share the commit of what was staged.
    commits: 5,
    branches: 2,
    stashes: 2,
    staged: true,
    operation: null,
    missing: [],
    missing_total: 0,
    problems: [],
  });
  rmSync(join(place.mount, 'new'), { recursive: true });
  await protectedSave(place);
  const list = ownGit(place.dataDir, ['for-each-ref', '--format=%(refname)', 'refs/jackin']).stdout.trim().split('\n');
  const [first, second] = list.map(
    (ref) => ownGit(place.dataDir, ['rev-parse', `${ref}:meta/mounts/mount/git`]).stdout,
  );
  expect(second).toBe(first);
  expectSound(place);
});

test('nothing is protected unless it is asked for', async () => {
  const { options } = scene();
  const saved = await runSnapJson(['save'], options);
  expect(saved.document.data.mounts[0].protected).toBeUndefined();
  const refused = await runSnapJson(['restore', '1', '--git-state', '--yes'], options);
  expect([refused.code, refused.document.error?.code]).toEqual([3, 'GIT_STATE_ABSENT']);
});

describe('a repository that was deleted is made anew', () => {
  test('with branches, HEAD, index and stashes', async () => {
    const place = scene();
    work(place.mount);
    const before = stateOf(place.mount);
    await protectedSave(place);
    rmSync(join(place.mount, '.git'), { recursive: true });
    await restored(place);
    expect(stateOf(place.mount)).toEqual(before);
    expectFsck(place.mount);
  });

  test('with a whole history where there is no remote', async () => {
    const area = tempDir();
    const mount = join(area, 'mount');
    user.createHistory(mount);
    user.userGit(mount, ['tag', '-a', '-m', 'a tag', 'v1']);
    user.userGit(mount, ['switch', '--quiet', '--detach']);
    user.commitFiles(mount, { 'detached.txt': 'd\n' }, 'detached');
    const place = sceneAt(area, mount);
    const before = { ...stateOf(mount), tag: user.userGitText(mount, ['rev-parse', 'v1']) };
    await protectedSave(place);
    rmSync(join(mount, '.git'), { recursive: true });
    await restored(place);
    expect({ ...stateOf(mount), tag: user.userGitText(mount, ['rev-parse', 'v1']) }).toEqual(before);
    expectFsck(mount);
  });

  test('elsewhere, too', async () => {
    const place = scene();
    work(place.mount);
    const before = stateOf(place.mount);
    await protectedSave(place);
    const copy = join(place.area, 'copy');
    await restored(place, '--to', copy);
    expect(stateOf(copy)).toEqual(before);
    expectFsck(copy);
  });

  test('with a committed secret that is still in its place, and not without', async () => {
    const place = scene();
    user.commitFiles(place.mount, { '.env': 'TOKEN=1\n', 'a.txt': 'a\n' }, 'with a secret');
    const before = stateOf(place.mount);
    const saved = await protectedSave(place);
    expect(saved.missing.map(({ path, reason }: { path: string; reason: string }) => [path, reason])).toEqual([
      ['.env', 'secret'],
    ]);
    expect(saved.messages.join('\n')).toContain('--include-secrets');
    const all = ownGit(place.dataDir, ['cat-file', '--batch-all-objects', '--batch']);
    expect(all.stdout).not.toContain('TOKEN=1');
    rmSync(join(place.mount, '.git'), { recursive: true });
    await restored(place);
    expect(stateOf(place.mount)).toEqual(before);
    expectFsck(place.mount);

    rmSync(join(place.mount, '.git'), { recursive: true });
    rmSync(join(place.mount, '.env'));
    const lacking = await runSnapJson(['restore', '1', '--git-state', '--yes'], place.options);
    expect(lacking.code).toBe(6);
  });
});

describe('into a repository that is there', () => {
  test('branches, HEAD, index and stashes go back, and undo takes that back', async () => {
    const place = scene();
    work(place.mount);
    const before = stateOf(place.mount);
    await protectedSave(place);
    user.userGit(place.mount, ['stash', 'drop', '--quiet']);
    user.userGit(place.mount, ['reset', '--quiet', '--hard', 'origin/main']);
    user.userGit(place.mount, ['branch', '--quiet', '-D', 'topic']);
    user.userGit(place.mount, ['switch', '--quiet', '-c', 'elsewhere']);
    user.commitFiles(place.mount, { 'later.txt': 'later\n' }, 'later');
    const after = stateOf(place.mount);
    await restored(place);
    const now = stateOf(place.mount);
    expect({ ...now, branches: '', unpushed: '' }).toEqual({ ...before, branches: '', unpushed: '' });
    expect(now['branches']).toContain('refs/heads/elsewhere');
    expectFsck(place.mount);
    const undone = await runSnapJson(['undo', '--yes'], place.options);
    expect([undone.code, undone.document.error]).toEqual([0, undefined]);
    expect(stateOf(place.mount)).toEqual(after);
    expectFsck(place.mount);
    expectSound(place);
  });

  test('an operation in progress stands in the way', async () => {
    const place = scene();
    work(place.mount);
    await protectedSave(place);
    user.userGit(place.mount, ['reset', '--quiet', '--hard']);
    user.userGit(place.mount, ['merge', '--quiet', 'origin/other'], { mayFail: true });
    const before = stateOf(place.mount);
    const run = await runSnapJson(['restore', '1', '--git-state', '--yes'], place.options);
    expect(run.code).toBe(6);
    expect(stateOf(place.mount)['head']).toBe(before['head']);
    expect(readFileSync(join(place.mount, '.git/MERGE_HEAD'), 'utf8')).not.toBe('');
  });
});

test('conflicts, flags and submodules are part of what is staged', async () => {
  const place = scene();
  user.userGit(place.mount, ['merge', '--quiet', 'origin/other'], { mayFail: true });
  writeFileSync(join(place.mount, 'intended.txt'), 'i\n');
  user.userGit(place.mount, ['add', '-N', 'intended.txt']);
  user.userGit(place.mount, ['update-index', '--assume-unchanged', 'README.md']);
  user.userGit(place.mount, ['update-index', '--skip-worktree', 'src/main.c']);
  const commit = user.userGitText(place.mount, ['rev-parse', 'HEAD']);
  user.userGit(place.mount, ['update-index', '--add', '--cacheinfo', `160000,${commit},module`]);
  mkdirSync(join(place.mount, 'module'));
  const before = stateOf(place.mount);
  expect(await protectedSave(place)).toMatchObject({ operation: 'merge', complete: true });
  rmSync(join(place.mount, '.git'), { recursive: true });
  await restored(place);
  const after = stateOf(place.mount);
  expect([after['index'], after['flags']]).toEqual([before['index'], before['flags']]);
  expectFsck(place.mount);
  expectSound(place);
});

test('trees that git questions are kept as they are', async () => {
  const place = scene();
  const blob = user.userGit(place.mount, ['hash-object', '-w', '--stdin'], { stdin: 'x\n' }).stdout.trim();
  const inner = user.userGit(place.mount, ['mktree', '-z', '--missing'], { stdin: `100644 blob ${blob}\tok.txt\0` });
  const raw = Buffer.concat([
    Buffer.from('100664 z\0'),
    Buffer.from(blob, 'hex'),
    Buffer.from('40000 .git\0'),
    Buffer.from(inner.stdout.trim(), 'hex'),
  ]);
  const tree = user.userGit(place.mount, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], { stdin: raw });
  const commit = user.userGitText(place.mount, ['commit-tree', '-m', 'odd', '-p', 'HEAD', tree.stdout.trim()]);
  user.userGit(place.mount, ['update-ref', 'refs/heads/odd', commit]);
  expect(await protectedSave(place)).toMatchObject({ complete: true, missing: [] });
  expectSound(place);
  rmSync(join(place.mount, '.git'), { recursive: true });
  await restored(place);
  expect(user.userGitText(place.mount, ['rev-parse', 'odd'])).toBe(commit);
  expect(user.userGitText(place.mount, ['cat-file', '-p', 'odd^{tree}'])).toContain(blob);
});

test('a linked worktree: its own branch goes back, those of others stay', async () => {
  const area = tempDir();
  const main = join(area, 'main');
  user.createHistory(main);
  const mount = join(area, 'mount');
  user.addWorktree(main, mount, 'agent');
  user.commitFiles(mount, { 'a.txt': 'a\n' }, 'by the agent');
  const place = sceneAt(area, mount);
  const before = stateOf(mount);
  await protectedSave(place);
  user.userGit(mount, ['reset', '--quiet', '--hard', 'HEAD~1']);
  user.commitFiles(main, { 'm.txt': 'm\n' }, 'in the main checkout');
  const mainBefore = user.userGitText(main, ['rev-parse', 'main']);
  await restored(place);
  expect(stateOf(mount)['commit']).toBe(before['commit']);
  expect(user.userGitText(main, ['rev-parse', 'main'])).toBe(mainBefore);
  expect(user.userGitText(main, ['status', '--porcelain'])).toBe('');
  expectFsck(main);
});
