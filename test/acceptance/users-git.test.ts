import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import {
  addWorktree,
  commitFiles,
  createHistory,
  createRepository,
  makeUnborn,
  packObjects,
  packRefs,
  stageChanges,
  startCherryPick,
  startMerge,
  useIndexVersion,
  useSparseIndex,
  useSplitIndex,
  userGit,
  userGitText,
  writeFiles,
} from '../support/user-git.js';
import { Scene, expectSame, remember, rememberUntouched, said } from './scene.js';

const quiet = { env: { GIT_OPTIONAL_LOCKS: '0' } };

describe('the staging area', () => {
  test('is byte-identical after save and restore, and untracked stays untracked', async () => {
    const scene = new Scene();
    createRepository(scene.mount);
    commitFiles(scene.mount, { f: '1\n2\n', removed: 'r\n' });
    scene.write({ f: '1\nA\n' });
    userGit(scene.mount, ['add', 'f']);
    userGit(scene.mount, ['rm', '--quiet', '--cached', 'removed']);
    scene.write({ f: '1\nA\nB\n', u: 'u\n', intended: 'i\n' });
    userGit(scene.mount, ['add', '--intent-to-add', 'intended']);
    const cached = userGitText(scene.mount, ['diff', '--cached']);
    const status = userGit(scene.mount, ['status', '--porcelain'], quiet).stdout;
    const before = remember(scene.mount);
    const repository = rememberUntouched(scene.at('.git'));

    await scene.save();
    expectSame(repository, 'the .git folder, after save,');
    scene.write({ f: 'z\n', later: 'l\n' });
    scene.remove('u', 'removed');
    await scene.restore();
    expectSame(before);
    expectSame(repository, 'the .git folder, after restore,');
    expect(userGitText(scene.mount, ['diff', '--cached'])).toBe(cached);
    expect(userGit(scene.mount, ['status', '--porcelain'], quiet).stdout).toBe(status);
  });

  test('of every form stays as it is: older and newer versions, split, sparse, locked, in a linked worktree', async () => {
    const scene = new Scene();
    const forms = {
      four: (path: string) => useIndexVersion(path, 4),
      three: (path: string) => useIndexVersion(path, 3),
      split: useSplitIndex,
      sparse: useSparseIndex,
      locked: (path: string) => writeFiles(path, { '.git/index.lock': '' }),
      merging: startMerge,
      picking: startCherryPick,
    };
    for (const [name, form] of Object.entries(forms)) {
      createHistory(scene.at(name));
      form(scene.at(name));
    }
    createHistory(scene.at('main'));
    addWorktree(scene.at('main'), scene.at('linked'), 'linked');
    stageChanges(scene.at('linked'));
    const names = [...Object.keys(forms), 'main'];
    const before = remember(scene.mount);
    const repositories = names.map((name) => rememberUntouched(scene.at(name, '.git')));
    await scene.save();
    for (const name of [...names, 'linked']) scene.write({ [`${name}/src/main.c`]: 'broken', [`${name}/new`]: 'n' });
    const restored = await scene.restore(1, [], { code: [0, 6] });
    expectSame(before);
    for (const [at, repository] of repositories.entries()) expectSame(repository, `.git of ${names[at]}`);
    expect(restored.code, 'all of it could be restored').toBe(0);
  });
});

describe('the branch', () => {
  test('stays where it is, and the user is told that HEAD moved', async () => {
    const scene = new Scene();
    createRepository(scene.mount);
    commitFiles(scene.mount, { a: '1\n' }, 'one');
    await scene.save();
    commitFiles(scene.mount, { a: '2\n' }, 'two');
    const head = userGitText(scene.mount, ['rev-parse', 'HEAD']);
    const repository = rememberUntouched(scene.at('.git'));
    const shown = await scene.run(['restore', '1', '--yes', '--dry-run']);
    expect(said(shown)).toMatch(/HEAD/);
    const restored = await scene.restore();
    expect(said(restored)).toMatch(/HEAD/);
    expectSame(repository, 'the .git folder');
    expect(userGitText(scene.mount, ['rev-parse', 'HEAD'])).toBe(head);
    expect(userGitText(scene.mount, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main');
    expect(scene.read('a')).toBe('1\n');
    expect(userGit(scene.mount, ['status', '--porcelain']).stdout).toBe(' M a\n');
  });

  test('may have been switched, detached, made unborn, or moved in a nested clone: that is said, and kept', async () => {
    const scene = new Scene();
    for (const path of ['.', 'nested']) createHistory(scene.at(path));
    await scene.save();
    const moves: (readonly [string, string, () => unknown])[] = [
      ['.', 'HEAD of mount m', () => userGit(scene.mount, ['switch', '--quiet', '--force', 'other'])],
      ['.', 'HEAD of mount m', () => userGit(scene.mount, ['switch', '--quiet', '--force', '--detach', 'main'])],
      ['.', 'HEAD of mount m', () => makeUnborn(scene.mount)],
      ['nested', 'HEAD of m:nested', () => commitFiles(scene.at('nested'), { 'shared.txt': 'more\n' })],
    ];
    for (const [path, words, move] of moves) {
      move();
      const repository = rememberUntouched(scene.at(path, '.git'));
      const restored = await scene.restore();
      expectSame(repository, 'the .git folder');
      expect(said(restored)).toContain(words);
      expect([scene.read('shared.txt'), scene.read('nested/shared.txt')]).toEqual(['ours\n', 'ours\n']);
    }
  });
});

describe('the repository of the user', () => {
  test('gets no refs, objects, configuration or excludes from any command', async () => {
    const scene = new Scene();
    createHistory(scene.mount);
    userGit(scene.mount, ['tag', 'v1']);
    packRefs(scene.mount);
    packObjects(scene.mount);
    const refs = userGitText(scene.mount, ['for-each-ref']);
    const objects = userGitText(scene.mount, ['count-objects', '-v']);
    const repository = rememberUntouched(scene.at('.git'));
    await scene.save();
    scene.write({ 'shared.txt': 'b\n', n: 'n\n' });
    await scene.save();
    await scene.restore(1);
    expect([scene.read('shared.txt'), scene.has('n')]).toEqual(['ours\n', false]);
    const readers = [
      'diff 1 2',
      'diff 1',
      'log -p',
      'show 1',
      'list',
      'tree 1',
      'verify --full',
      'doctor',
      'instance show',
    ];
    for (const command of readers) await scene.run(command.split(' '));
    await scene.run(['export', '1', join(scene.area, 'exported')]);
    await scene.run(['run', '--', 'true']);
    await scene.run(['gc', '--yes'], { code: [0, 2] });
    expectSame(repository, 'the .git folder');
    expect(userGitText(scene.mount, ['for-each-ref'])).toBe(refs);
    expect(userGitText(scene.mount, ['count-objects', '-v'])).toBe(objects);
    userGit(scene.mount, ['fsck']);
  });

  test('may throw its objects away, or be gone: the store stands alone', async () => {
    const scene = new Scene();
    createRepository(scene.mount);
    const big = Uint8Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 251);
    commitFiles(scene.mount, { big, s: 's\n' });
    const before = remember(scene.mount);
    await scene.save();
    scene.remove('big');
    userGit(scene.mount, ['add', '--all']);
    userGit(scene.mount, ['commit', '--quiet', '--amend', '--allow-empty', '-m', 'x']);
    userGit(scene.mount, ['reflog', 'expire', '--expire=now', '--all']);
    userGit(scene.mount, ['gc', '--quiet', '--prune=now']);
    await scene.restore();
    expectSame(before);
    storeGit(scene.dataDir, ['fsck', '--connectivity-only']);
    expect(() => readFileSync(join(scene.store, 'objects/info/alternates'))).toThrow('ENOENT');
    rmSync(scene.at('.git'), { recursive: true });
    scene.remove('big');
    await scene.restore();
    expectSame(before, 'the mount, its repository gone,');
  });
});
