import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  addSubmodule,
  addWorktree,
  cloneRepository,
  commitFiles,
  createHistory,
  createRepository,
  makeDirty,
  stageChanges,
  startMerge,
  startRebase,
  userGit,
  userGitText,
  writeFiles,
} from '../support/user-git.js';
import { Scene, expectSame, keptReasons, observedReason, planned, remember, rememberUntouched } from './scene.js';

describe('repositories inside the mount', () => {
  test('dirty and untracked files of clones come back, their .git is never touched', async () => {
    const scene = new Scene();
    const clones = ['api', 'web', 'deep/er/tool'];
    for (const clone of clones) {
      commitAt(scene.at(clone), { a: 'v1\n', 'src/b': 'v1\n' });
      writeFiles(scene.at(clone), { a: 'dirty\n', untracked: 'new\n', 'new folder/x': 'x\n' });
    }
    const heads = clones.map((clone) => userGitText(scene.at(clone), ['rev-parse', 'HEAD']));
    const before = remember(scene.mount);
    const repositories = clones.map((clone) => rememberUntouched(scene.at(clone, '.git')));

    const saved = await scene.save();
    expect(saved.data.complete).toBe(true);
    for (const clone of clones) expect(observedReason(saved, `${clone}/.git`)).toBe('git_dir');
    scene.write({ 'api/a': 'broken', 'deep/er/tool/later': 'x' });
    scene.remove('web/untracked', 'deep/er/tool/new folder', 'deep/er/tool/src');
    await scene.restore();

    expectSame(before);
    for (const repository of repositories) expectSame(repository, 'a .git');
    expect(clones.map((clone) => userGitText(scene.at(clone), ['rev-parse', 'HEAD']))).toEqual(heads);
    for (const clone of clones) userGit(scene.at(clone), ['fsck']);
  });

  test('submodules, linked worktrees and repositories within repositories are folders like others', async () => {
    const scene = new Scene();
    const library = join(scene.area, 'library');
    createHistory(library);
    cloneRepository(library, scene.at('project'));
    addSubmodule(scene.at('project'), library, 'sub/module');
    addWorktree(scene.at('project'), scene.at('linked'), 'linked');
    addWorktree(scene.at('project'), scene.at('project', 'inside'), 'inside');
    commitAt(scene.at('project', 'vendored'), { v: '1\n' });
    for (const path of ['project', 'project/sub/module', 'linked', 'project/inside']) makeDirty(scene.at(path));
    writeFiles(scene.at('project/vendored'), { v: 'dirty\n' });
    const before = remember(scene.mount);
    const repository = rememberUntouched(scene.at('project/.git'));

    await scene.save();
    for (const path of ['project/sub/module', 'linked', 'project/inside']) {
      scene.write({ [`${path}/shared.txt`]: 'broken', [`${path}/added`]: 'x' });
      scene.remove(`${path}/new`);
    }
    scene.remove('linked/.git');
    scene.write({ 'project/vendored/v': 'broken', 'project/inside/.git': 'gitdir: /nowhere\n' });
    await scene.restore();

    expectSame(before);
    expectSame(repository, 'the shared .git');
    expect(userGit(scene.at('linked'), ['status', '--short']).stdout).toContain('shared.txt');
  });

  test('the mount itself may be a clone, a linked worktree or a submodule', async () => {
    const scene = new Scene();
    const library = join(scene.area, 'library');
    const project = join(scene.area, 'project');
    createHistory(library);
    cloneRepository(library, project);
    addSubmodule(project, library, 'module');
    addWorktree(project, join(scene.area, 'linked'), 'linked');
    const folders = [project, join(project, 'module'), join(scene.area, 'linked')];
    for (const folder of folders) makeDirty(folder);
    const kinds: unknown[] = [];
    for (const [at, folder] of folders.entries()) {
      const instance = `kind-${at}`;
      const before = remember(folder);
      const saved = await scene.save([], { instance, dirs: [folder] });
      kinds.push(saved.data.mounts[0].kind);
      expect(saved.data.mounts[0]).toMatchObject({ base_commit: userGitText(folder, ['rev-parse', 'HEAD']) });
      writeFiles(folder, { 'shared.txt': 'broken', 'new/dir/file': 'broken', 'src/later': 'x' });
      await scene.restore(1, [], { instance });
      expectSame(before, folder);
    }
    expect(kinds).toEqual(['clone', 'worktree', 'worktree']);
  });

  test('a merge and a rebase that wait for their user keep waiting', async () => {
    const scene = new Scene();
    for (const [name, start] of [
      ['merging', startMerge],
      ['rebasing', startRebase],
    ] as const) {
      createHistory(scene.at(name));
      start(scene.at(name));
    }
    createHistory(scene.at('staging'));
    stageChanges(scene.at('staging'));
    const before = remember(scene.mount);
    const repositories = ['merging', 'rebasing', 'staging'].map((name) => rememberUntouched(scene.at(name, '.git')));

    await scene.save();
    for (const name of ['merging', 'rebasing', 'staging']) scene.write({ [`${name}/shared.txt`]: 'resolved' });
    await scene.restore();
    expectSame(before);
    for (const repository of repositories) expectSame(repository, 'a .git');
  });

  test('repositories that are odd or broken do not stop a save, and are in it', async () => {
    const scene = new Scene();
    scene.write({ f: 'v1\n' });
    const first = await scene.save();
    scene.write({ f: 'v2\n' });
    createRepository(scene.at('unborn'));
    createHistory(scene.at('orphan'));
    userGit(scene.at('orphan'), ['switch', '--quiet', '--orphan', 'unborn']);
    createRepository(scene.at('sha256'), { objectFormat: 'sha256' });
    commitAt(scene.at('cut'), { t: 't' });
    const broken = { 'cut/.git/index': 'DIRC\0\0', 'head/.git/HEAD': '\0garbage', 'lost/.git': 'gitdir: /nowhere\n' };
    scene.write({ ...broken, 'self/.git': 'gitdir: .\n', 'blank/.git': '' });
    mkdirSync(scene.at('hollow/.git'), { recursive: true });
    const names = ['unborn', 'orphan', 'sha256', 'cut', 'head', 'lost', 'self', 'blank', 'hollow'];
    for (const name of names) writeFiles(scene.at(name), { x: `${name}\n`, 'sub/y': 'y\n' });
    const before = remember(scene.mount, { withGit: true });

    const second = await scene.save();
    expect(second.data.snapshot.tree).not.toBe(first.data.snapshot.tree);
    expect(second.data.snapshot.seq).toBe(2);
    expect(second.data.complete).toBe(true);
    expect(await scene.content(2, 'unborn/x')).toBe('unborn\n');
    scene.write({ f: 'v3\n', ...Object.fromEntries(names.map((name) => [`${name}/sub/y`, 'broken'])) });
    scene.remove(...names.map((name) => `${name}/x`));
    await scene.restore(2);
    expectSame(before);
  });
});

describe('a clone made after the snapshot', () => {
  test('stays with its history, is reported, and goes only on request, when the emergency snapshot holds it', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'packages/b': 'b\n' });
    await scene.save();
    const clones = ['clone', 'packages/inner/clone'];
    for (const clone of clones) {
      commitAt(scene.at(clone), { w: 'work\n', '.gitignore': 'ignored\n' });
      writeFiles(scene.at(clone), { untracked: 'u', ignored: 'i', '.env': 'SECRET=1\n' });
    }
    scene.write({ a: 'b\n' });
    const made = clones.map((clone) => remember(scene.at(clone), { withGit: true }));
    const kept = await scene.restore();

    expect(scene.read('a')).toBe('a\n');
    for (const memory of made) expectSame(memory, 'the clone');
    expect(Object.keys(keptReasons(kept))).toEqual(expect.arrayContaining(clones));
    for (const clone of clones) expect(userGitText(scene.at(clone), ['log', '--oneline'])).toContain('work');
    expect(planned(kept)).toEqual(['overwrite a']);

    await scene.restore(1, ['--delete-new-repos']);
    // A secret is in no snapshot, so that what holds it stays.
    for (const clone of clones) expect(scene.has(`${clone}/w`) || scene.has(`${clone}/.git`)).toBe(false);
    for (const clone of clones) expect(scene.read(`${clone}/.env`)).toBe('SECRET=1\n');
    await scene.undo();
    for (const memory of made) expectSame(memory, 'the clone, after undo');
    for (const clone of clones) userGit(scene.at(clone), ['fsck']);
  });

  test('is kept too where it is a worktree, has no commit, or was made in a folder of the snapshot', async () => {
    const scene = new Scene();
    const elsewhere = join(scene.area, 'elsewhere');
    createHistory(elsewhere);
    scene.write({ 'known/a': 'a\n' });
    await scene.save();
    addWorktree(elsewhere, scene.at('linked'), 'linked');
    createRepository(scene.at('unborn'));
    writeFiles(scene.at('unborn'), { only: 'copy\n' });
    userGit(scene.at('known'), ['init', '--quiet']);
    commitFiles(scene.at('known'), { a: 'changed\n' });
    const repository = rememberUntouched(scene.at('known/.git'));
    const made = ['linked', 'unborn'].map((name) => rememberUntouched(scene.at(name)));

    const restored = await scene.restore();
    for (const memory of made) expectSame(memory, 'a new repository');
    expectSame(repository, 'the new .git');
    expect(scene.read('known/a')).toBe('a\n');
    expect(Object.keys(keptReasons(restored))).toEqual(expect.arrayContaining(['linked', 'unborn', 'known/.git']));
  });

  test('is kept when a restore is limited to its folder, and when the mount itself became a repository', async () => {
    const scene = new Scene();
    scene.write({ 'd/a': 'a\n' });
    await scene.save();
    commitAt(scene.at('d/clone'), { w: 'work\n' });
    commitAt(scene.mount, { 'd/a': 'changed\n' });
    const repositories = ['d/clone', '.git'].map((name) => rememberUntouched(scene.at(name)));
    await scene.restore(1, ['--', 'd']);
    await scene.restore(1);
    await scene.restore(1, ['--delete-new-repos', '--', 'd/a']);
    for (const memory of repositories) expectSame(memory, 'a new repository');
    expect(scene.read('d/a')).toBe('a\n');
  });

  test('is kept although it was moved in from a place that the snapshot knows', async () => {
    const scene = new Scene();
    commitAt(scene.at('old'), { w: 'work\n' });
    await scene.save();
    renameSync(scene.at('old'), scene.at('new'));
    const moved = rememberUntouched(scene.at('new'));
    const restored = await scene.restore();
    expect(keptReasons(restored)).toHaveProperty('new');
    expectSame(moved, 'the moved repository');
    expect(userGitText(scene.at('new'), ['log', '--oneline'])).toContain('work');
    expect(scene.read('old/w')).toBe('work\n');
  });
});

describe('a save that is killed', () => {
  test('at any moment leaves the mount and its repositories alone, and the next one works', async () => {
    const scene = new Scene();
    commitAt(scene.at('n'), { a: 'a\n' });
    await scene.save();
    scene.write(Object.fromEntries(Array.from({ length: 800 }, (_, at) => [`f${at}`, `${at}\n`])));
    const mount = rememberUntouched(scene.mount);
    const start = Date.now();
    await scene.save(['--full']);
    const whole = Date.now() - start;
    expectSame(mount, 'the mount, after a save');
    let killed = 0;
    for (const [at, part] of [0.3, 0.6, 0.8, 0.95].entries()) {
      const { child, done } = scene.start(['save', '--full']);
      await elapsed(whole * part);
      const group = at % 2 === 0;
      try {
        process.kill(group ? -child.pid! : child.pid!, 'SIGKILL');
      } catch {
        // It was done before.
      }
      if ((await done).code !== 0) killed += 1;
      expectSame(mount, `the mount, after a kill at ${part} of its time`);
    }
    expect(killed).toBeGreaterThan(0);
    expect(userGit(scene.at('n'), ['--no-optional-locks', 'status', '--short']).stdout).toBe('');
    const saved = await scene.save();
    expect(saved.data.complete).toBe(true);
    expect(await scene.content('latest', 'f799')).toBe('799\n');
    expect(await scene.content('latest', 'n/a')).toBe('a\n');
    await scene.run(['verify']);
  });
});

function commitAt(path: string, files: Readonly<Record<string, string>>): void {
  createRepository(path);
  commitFiles(path, files);
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
