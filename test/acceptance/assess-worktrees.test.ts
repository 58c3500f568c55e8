import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, userGit, writeFiles } from '../support/user-git.js';
import type { Scene } from './scene.js';
import { inTree, none, sample, worktrees } from './worktree-scene.js';

/** A checkout with branches of its own, one in another worktree and one with a stash, and a worktree of `run`. */
async function withWorktree(script = 'true'): Promise<{ scene: Scene; path: string; name: string }> {
  const scene = sample();
  userGit(scene.mount, ['branch', 'topic']);
  userGit(scene.mount, ['worktree', 'add', '--quiet', '-b', 'beside', join(scene.area, 'beside')]);
  commitFiles(join(scene.area, 'beside'), { b: 'b' });
  writeFiles(scene.mount, { 'plan.txt': 'stashed\n' });
  userGit(scene.mount, ['stash', '--quiet']);
  commitFiles(scene.mount, { more: 'm' });
  const { data } = await inTree(scene, script, ['--keep', 'keep']);
  return { scene, path: data.worktree.path as string, name: data.instance as string };
}

async function assessed(scene: Scene, name: string) {
  const { data } = await scene.json(['assess', name], none);
  const [repository] = data.mounts[0].repositories as [{ branches: { name: string; elsewhere: boolean }[] }];
  const own = repository.branches.filter(({ elsewhere }) => !elsewhere).map((branch) => branch.name);
  return { verdict: data.verdict as string, own, atRisk: data.at_risk as { name: string; why: string[] }[] };
}

const identity = '-c user.name=a -c user.email=a@example.com';
const commit = `git ${identity} commit -q --allow-empty -m own`;

describe('what of a repository is at risk with one of its worktrees', () => {
  test('is not what other worktrees and the checkout have', async () => {
    const { scene, name } = await withWorktree();
    expect(await assessed(scene, name)).toEqual({ verdict: 'clean', own: [`jackin-snap/${name}`], atRisk: [] });
    await scene.run(['discard', name, '--yes'], none);
    expect(await worktrees(scene)).toEqual([]);
  });

  const scripts: readonly (readonly [what: string, script: string, own: string])[] = [
    ['its own branch', commit, 'jackin-snap/'],
    ['a branch that was made and left in it', `git switch -q -c fresh; ${commit}; git switch -q -`, 'fresh'],
    [
      'what was committed in it and has another name now',
      `${commit}; git branch away; git reset -q --hard HEAD~1`,
      'away',
    ],
  ];

  test.each(scripts)('is %s', async (_, script, own) => {
    const { scene, name } = await withWorktree(script);
    const { verdict, atRisk } = await assessed(scene, name);
    expect(verdict).toBe('unpushed');
    expect(atRisk).toHaveLength(1);
    expect(atRisk[0]?.name.split(':')[1]).toMatch(new RegExp(`^${own}`));
    await scene.run(['discard', name, '--yes'], { ...none, code: 5 });
  });

  test('is a stash that was made in it, or that says not where', async () => {
    const { scene, name, path } = await withWorktree();
    writeFiles(path, { 'plan.txt': 'own\n' });
    userGit(path, ['stash', '--quiet']);
    expect((await assessed(scene, name)).atRisk).toMatchObject([{ why: ['1 stashed'] }]);
    userGit(scene.mount, ['stash', 'store', '-m', 'anything', 'stash@{0}']);
    expect((await assessed(scene, name)).atRisk).toMatchObject([{ why: [expect.stringMatching(/^[12] stashed$/)] }]);
  });

  test('is all of it where its log tells nothing', async () => {
    const { scene, name, path } = await withWorktree(commit);
    const log = join(scene.mount, '.git/worktrees', name, 'logs/HEAD');
    rmSync(log);
    const all = (await assessed(scene, name)).own;
    expect(all).toEqual(['beside', `jackin-snap/${name}`, 'main', 'topic']);
    userGit(path, ['config', 'core.logAllRefUpdates', 'false']);
    expect((await assessed(scene, name)).own).toEqual(all);
  });

  test('is all of it where its log was expired', async () => {
    const { scene, name, path } = await withWorktree(commit);
    userGit(path, ['reflog', 'expire', '--expire=all', 'HEAD']);
    expect((await assessed(scene, name)).own).toEqual(['beside', `jackin-snap/${name}`, 'main', 'topic']);
  });

  test('is a commit that was made in it on no branch, and left', async () => {
    const { scene, name, path } = await withWorktree(`git switch -q --detach; ${commit}; git switch -q -`);
    const { verdict, atRisk } = await assessed(scene, name);
    expect(verdict).toBe('unpushed');
    expect(atRisk).toMatchObject([{ why: [expect.stringMatching(/^commits at [0-9a-f]{12}, which HEAD left/)] }]);
    await scene.run(['discard', name, '--yes'], { ...none, code: 5 });
    await scene.json(['run', 'remove', name, '--yes'], { ...none, code: 4 });
    userGit(path, ['branch', 'found', 'HEAD@{1}']);
    expect((await assessed(scene, name)).atRisk).toMatchObject([{ name: expect.stringMatching(/:found$/) }]);
    await scene.json(['run', 'remove', name, '--yes'], none);
  });

  test('is not what was amended, reset, or left where a branch has it', async () => {
    const others = 'git switch -q --detach $(git rev-parse main); git switch -q -';
    const script = `${commit}; git ${identity} commit -q --amend --allow-empty -m other; git reset -q --hard HEAD~1; ${others}`;
    const { scene, name } = await withWorktree(script);
    expect((await assessed(scene, name)).atRisk).toEqual([]);
  });

  test('is all of it for the checkout', async () => {
    const { scene } = await withWorktree();
    await scene.run(['save'], none);
    const { data } = await scene.json(['assess'], none);
    expect(data.at_risk.map((risk: { name: string }) => risk.name)).toContain('m:topic');
  });
});
