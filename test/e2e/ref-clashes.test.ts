import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runSnapJson } from '../support/cli.js';
import * as user from '../support/user-git.js';
import { expectFsck, protectedSave, restored, scene, stateOf } from './protect-scene.js';

describe('a restore of git state where a ref has another one in its way', () => {
  const scenes = [
    { saved: 'feat/x', there: 'feat', how: [] },
    { saved: 'feat/x', there: 'feat', how: ['pack-refs', '--all'] },
    { saved: 'feat', there: 'feat/x', how: [] },
    { saved: 'feat', there: 'feat/x', how: ['pack-refs', '--all'] },
  ];

  test.each(scenes)('$saved is not made beside $there, $how', async ({ saved, there, how }) => {
    const place = scene();
    const { mount, area, options } = place;
    user.userGit(mount, ['switch', '--quiet', '-c', saved]);
    const commit = user.commitFiles(mount, { 'a.txt': 'a\n' }, 'unpushed');
    await protectedSave(place);
    user.userGit(mount, ['switch', '--quiet', 'main']);
    user.userGit(mount, ['branch', '--quiet', '-D', saved]);
    user.userGit(mount, ['branch', '--quiet', there]);
    if (how.length > 0) user.userGit(mount, how);
    const before = stateOf(mount);
    const failed = [
      [`.git/refs/heads/${saved}`, `refs/heads/${there} is in its way: git has no ref below another`],
      ['.git/HEAD', 'its branch is not made: it is detached at the commit'],
    ];
    for (const more of [['--dry-run'], ['--yes']]) {
      const run = await runSnapJson(['restore', '1', '--git-state', ...more], options);
      const { plan, failed: named } = run.document.data;
      expect(plan.map(({ path }: { path: string }) => path)).not.toContain(`.git/refs/heads/${saved}`);
      expect(named.map(({ path, reason }: Record<string, string>) => [path, reason])).toEqual(failed);
      expect(run.code).toBe(6);
    }
    const now = stateOf(mount);
    expect([now['head'], now['commit'], now['branches']]).toEqual(['exit 1', `${commit}\n`, before['branches']]);
    expectFsck(mount);
    user.userGit(area, ['clone', '--quiet', mount, join(area, 'copy')]);
    expect((await runSnapJson(['undo', '--yes'], options)).code).toBe(0);
    expect(stateOf(mount)).toEqual(before);
  });

  test("what refs that are gone have left is in nobody's way", async () => {
    const place = scene();
    const { mount } = place;
    user.userGit(mount, ['switch', '--quiet', '-c', 'feat']);
    user.commitFiles(mount, { 'a.txt': 'a\n' }, 'unpushed');
    const before = stateOf(mount);
    await protectedSave(place);
    user.userGit(mount, ['switch', '--quiet', 'main']);
    user.userGit(mount, ['branch', '--quiet', '-D', 'feat']);
    for (const left of ['refs', 'logs/refs'])
      mkdirSync(join(mount, '.git', left, 'heads/feat/x/y'), { recursive: true });
    await restored(place);
    expect(stateOf(mount)).toEqual(before);
    expectFsck(mount);
  });

  test('a ref that git itself cannot list is one, too', async () => {
    const place = scene();
    const { mount, options } = place;
    user.userGit(mount, ['switch', '--quiet', '-c', 'feat/x']);
    const commit = user.commitFiles(mount, { 'a.txt': 'a\n' }, 'unpushed');
    await protectedSave(place);
    user.userGit(mount, ['switch', '--quiet', 'main']);
    user.userGit(mount, ['branch', '--quiet', '-D', 'feat/x']);
    user.userGit(mount, ['symbolic-ref', 'refs/heads/feat', 'refs/heads/not-born']);
    const run = await runSnapJson(['restore', '1', '--git-state', '--yes'], options);
    expect(run.code).toBe(6);
    expect(run.document.data.failed.map(({ path }: { path: string }) => path)).toEqual([
      '.git/refs/heads/feat/x',
      '.git/HEAD',
    ]);
    const now = stateOf(mount);
    expect([now['head'], now['commit']]).toEqual(['exit 1', `${commit}\n`]);
  });
});

test('a branch that another worktree has stays there, and HEAD is left at the commit', async () => {
  const place = scene();
  const { mount, area, options } = place;
  user.userGit(mount, ['switch', '--quiet', '-c', 'feat']);
  const commit = user.commitFiles(mount, { 'a.txt': 'a\n' }, 'unpushed');
  const before = stateOf(mount);
  await protectedSave(place);
  user.userGit(mount, ['switch', '--quiet', 'main']);
  const beside = join(area, 'beside');
  user.userGit(mount, ['worktree', 'add', '--quiet', beside, 'feat']);
  user.userGit(beside, ['reset', '--quiet', '--hard', 'main']);
  const run = await runSnapJson(['restore', '1', '--git-state', '--yes'], options);
  expect(run.code).toBe(6);
  const why = 'another worktree has this branch checked out';
  expect(run.document.data.failed.map(({ path, reason }: Record<string, string>) => [path, reason])).toEqual([
    ['.git/refs/heads/feat', why],
    ['.git/HEAD', `${why}: it is detached at the commit`],
  ]);
  const now = stateOf(mount);
  expect([now['head'], now['commit'], now['status']]).toEqual(['exit 1', `${commit}\n`, before['status']]);
  expect(user.userGitText(beside, ['status', '--porcelain'])).toBe('');
  expectFsck(mount);
});
