import * as fs from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as isomorphic from 'isomorphic-git';
import { describe, expect, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import { openMount } from '../../src/fs/held-directory.js';
import { isDirty } from '../../src/git/user-repo/dirty.js';
import { readUserRepo } from '../../src/git/user-repo/read-user-repo.js';
import { readRepository } from '../../src/git/user-repo/repositories.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';
import { commitAt, history, presentIn, readDirectory } from './user-repo-samples.js';

describe('HEAD, branch and tree', () => {
  test('of a clone, with its upstream', async () => {
    const from = history();
    const path = join(tempDir(), 'clone');
    user.cloneRepository(from, path);
    const repo = await readDirectory(path);
    expect(repo.state).toEqual({
      head: commitAt(path),
      branch: 'main',
      upstream: 'origin/main',
      dirty: null,
      operation: null,
      unknown: [],
    });
    expect(repo.headTree).toBe(commitAt(path, 'HEAD^{tree}'));
    expect(repo.kind).toBe('clone');
    expect(repo.state.head).toBe(await isomorphic.resolveRef({ fs, dir: path, ref: 'HEAD' }));
    expect(repo.state.branch).toBe(await isomorphic.currentBranch({ fs, dir: path }));
  });

  test('of packed refs and packed objects', async () => {
    const path = history();
    user.packRefs(path);
    user.packObjects(path);
    const repo = await readDirectory(path);
    expect([repo.state.head, repo.headTree, repo.state.unknown]).toEqual([
      commitAt(path),
      commitAt(path, 'HEAD^{tree}'),
      [],
    ]);
  });

  test('of a commit that is a delta, by offset and by name', async () => {
    const path = history();
    const text = Array.from({ length: 400 }, (_, line) => `line ${line} of a long message`).join('\n');
    for (let step = 0; step < 12; step += 1)
      user.userGit(path, ['commit', '--quiet', '--allow-empty', '-m', `${text}\n${step}`]);
    for (const byOffset of ['true', 'false']) {
      user.userGit(path, [
        '-c',
        `repack.useDeltaBaseOffset=${byOffset}`,
        'repack',
        '--quiet',
        '-a',
        '-d',
        '-f',
        '--depth=50',
      ]);
      const pack = fs.readdirSync(join(path, '.git/objects/pack')).find((name) => name.endsWith('.idx')) ?? '';
      const chains = user
        .userGitText(path, ['verify-pack', '-v', join(path, '.git/objects/pack', pack)])
        .match(/^\w+ commit \d+ \d+ \d+ \d+ \w+/gm);
      expect(chains?.length ?? 0).toBeGreaterThan(5);
      for (let back = 0; back < 12; back += 1) {
        user.userGit(path, ['update-ref', '--no-deref', 'HEAD', `main~${back}`]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
        user.userGit(path, ['update-ref', 'refs/heads/probe', `main~${back}`]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/probe']);
        const repo = await readDirectory(path);
        expect([repo.headTree, repo.state.unknown]).toEqual([commitAt(path, 'probe^{tree}'), []]);
        user.userGit(path, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
      }
    }
  });

  test('of a detached HEAD and of an unborn branch', async () => {
    const path = history();
    user.detachHead(path);
    expect((await readDirectory(path)).state).toMatchObject({ head: commitAt(path), branch: null, unknown: [] });
    user.makeUnborn(path);
    expect((await readDirectory(path)).state).toMatchObject({ head: null, branch: 'unborn', unknown: [] });
  });

  test('of a linked worktree and a submodule, whose .git is a file', async () => {
    const path = history();
    const linked = join(tempDir(), 'linked');
    user.addWorktree(path, linked, 'side/branch');
    user.addSubmodule(path, history(), 'sub');
    writeFileSync(join(path, '.git/info/exclude'), 'from-common\n');
    const worktree = await readUserRepo(linked, 'file');
    expect(worktree?.state).toMatchObject({ head: commitAt(linked), branch: 'side/branch', unknown: [] });
    expect(worktree?.headTree).toBe(commitAt(linked, 'HEAD^{tree}'));
    expect(worktree?.excludeFile).toBe('from-common\n');
    expect(worktree?.kind).toBe('worktree');
    const submodule = await readUserRepo(join(path, 'sub'), 'file');
    expect(submodule?.state).toMatchObject({
      head: commitAt(join(path, 'sub')),
      branch: 'main',
      upstream: 'origin/main',
      unknown: [],
    });
    expect(submodule?.index?.has('shared.txt')).toBe(true);
  });

  test('through a held directory, after its path is gone', async () => {
    const path = history();
    const mount = openMount(path as HostPath);
    renameSync(path, `${path}-moved`);
    const repo = await readRepository(mount, 'directory');
    mount.close();
    expect(repo?.state.branch).toBe('main');
    expect(repo?.tracked?.has('src/main.c')).toBe(true);
  });

  test.each([
    ['merge', user.startMerge],
    ['rebase', user.startRebase],
    ['cherry-pick', user.startCherryPick],
    ['revert', user.startRevert],
    ['bisect', user.startBisect],
  ] as const)('during a %s', async (operation, start) => {
    const path = history();
    start(path);
    const { state, index } = await readDirectory(path);
    expect(state).toMatchObject({ operation, head: commitAt(path), unknown: [] });
    expect(index?.has('shared.txt')).toBe(true);
  });

  test('while patches are applied', async () => {
    const path = history();
    const patch = user.userGit(path, ['format-patch', '--stdout', 'other~1..other']).stdout;
    user.userGit(path, ['am', '--quiet'], { stdin: patch, mayFail: true });
    expect((await readDirectory(path)).state.operation).toBe('am');
  });

  test('with an upstream that is a local branch, and a name that needs quoting', async () => {
    const path = history();
    const branch = 'we"ird\u00e4;#b';
    user.userGit(path, ['switch', '--quiet', '-c', branch, '--track', 'main']);
    expect((await readDirectory(path)).state).toMatchObject({ branch, upstream: 'main', unknown: [] });
  });
});

describe('what is read as data only', () => {
  test('info/exclude comes as bytes', async () => {
    const path = history();
    writeFileSync(join(path, '.git/info/exclude'), Buffer.from([0x2f, 0xe9, 0x0a]));
    expect(await readDirectory(path)).toMatchObject({ excludeFile: '/\xe9\n', excludeUnreadable: false });
    rmSync(join(path, '.git/info'), { recursive: true });
    expect(await readDirectory(path)).toMatchObject({ excludeFile: null, excludeUnreadable: false });
  });

  test('includes are not followed', async () => {
    const path = history();
    writeFileSync(join(path, 'other-config'), '[branch "main"]\n\tremote = evil\n\tmerge = refs/heads/evil\n');
    user.userGit(path, ['config', 'include.path', '../other-config']);
    expect((await readDirectory(path)).state).toMatchObject({ upstream: null, unknown: [] });
  });

  test('fileMode is known', async () => {
    const path = history();
    expect((await readDirectory(path)).fileMode).toBe(true);
    user.userGit(path, ['config', 'core.fileMode', 'false']);
    expect((await readDirectory(path)).fileMode).toBe(false);
  });
});

describe('forms that are not read', () => {
  test('sha256', async () => {
    const path = history({ objectFormat: 'sha256' });
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, branch: null, unknown: ['object format "sha256"'] });
    expect(repo.index).toBeNull();
  });

  test('reftable', async () => {
    const path = history();
    user.userGit(path, ['config', 'core.repositoryFormatVersion', '1']);
    user.userGit(path, ['config', 'extensions.refStorage', 'reftable']);
    writeFileSync(join(path, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
    const repo = await readDirectory(path);
    expect(repo.state).toMatchObject({ head: null, branch: null, unknown: ['ref storage "reftable"'] });
    expect(repo.index?.has('src/main.c')).toBe(true);
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });

  test.each([
    ['a split index', user.useSplitIndex],
    ['a sparse index', user.useSparseIndex],
  ] as const)('%s', async (words, convert) => {
    const path = history();
    convert(path);
    const repo = await readDirectory(path);
    expect(repo.index).toBeNull();
    expect(repo.state).toMatchObject({ branch: 'main', unknown: [words] });
    expect(isDirty(repo, presentIn(path), false)).toBeNull();
  });
});
