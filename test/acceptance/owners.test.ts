import { chownSync, lchownSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, createRepository, userGit } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, nobody, remember, rememberUntouched } from './scene.js';

describe.runIf(isRoot)('a mount of another user', () => {
  test('is saved and restored with its owners, and no list of safe folders is edited', async () => {
    const scene = new Scene();
    userGit(scene.area, ['config', '-f', join(scene.home, '.gitconfig'), 'safe.bareRepository', 'explicit']);
    createRepository(scene.mount);
    commitFiles(scene.mount, { a: 'a\n', 'd/n': 'n\n' });
    scene.write({ 'group/shared': 's\n', ours: 'o\n' });
    symlinkSync('a', scene.at('link'));
    mkdirSync(scene.at('empty'));
    for (const { path } of walkTree(scene.mount, { withRoot: true })) lchownSync(scene.at(path), nobody, nobody);
    chownSync(scene.at('group/shared'), 1234, nobody);
    chownSync(scene.at('ours'), 0, 0);
    const home = rememberUntouched(scene.home);
    const before = remember(scene.mount);
    const repository = rememberUntouched(scene.at('.git'));

    await scene.save();
    scene.write({ a: 'b\n', 'd/new': 'n\n' });
    scene.remove('d', 'group', 'ours', 'link', 'empty');
    const restored = await scene.restore();
    expectSame(before);
    expectSame(repository, 'the .git folder');
    expectSame(home, 'the home of the user');
    expect(restored.data.post_rollback_state.verified).toBe(true);
    expect(['a', 'd', 'd/n', 'link'].map((path) => lstatSync(scene.at(path)).uid)).toEqual(Array(4).fill(nobody));
  });

  test('whose files changed hands gets them back, also what came new and goes', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', 'd/n': 'n\n' });
    for (const path of ['', 'a', 'd', 'd/n']) chownSync(scene.at(path), nobody, nobody);
    const before = remember(scene.mount);
    await scene.save();
    for (const path of ['a', 'd']) chownSync(scene.at(path), 1234, 1234);
    scene.write({ 'd/new': 'x\n' });
    chownSync(scene.at('d/new'), 1234, 1234);
    const changed = remember(scene.mount);
    await scene.restore();
    expectSame(before);
    await scene.undo();
    expectSame(changed);
  });

  test('is named where its owners may not be set', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: 'a\n', b: 'b\n' });
    chownSync(scene.at('a'), 1234, 1234);
    await scene.save();
    scene.write({ b: 'c\n' });
    scene.remove('a');
    const restored = await scene.restore();
    expect([scene.read('a'), scene.read('b')]).toEqual(['a\n', 'b\n']);
    expect(JSON.stringify(restored.document.messages)).toMatch(/owner/);
    expect(lstatSync(scene.at('a')).uid).toBe(nobody);
  });

  test('with a store of a third one is refused or works, but changes no owner and no mode in it', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n' });
    await scene.save();
    for (const { path } of walkTree(scene.dataDir, { withRoot: true, hash: false }))
      lchownSync(join(scene.dataDir, path), nobody, nobody);
    scene.write({ a: 'b\n' });
    const saved = await scene.save([], { code: [0, 9] });
    expect(lstatSync(scene.dataDir)).toMatchObject({ uid: nobody, gid: nobody });
    if (saved.code === 0) await scene.restore(1);
    expect(scene.read('a')).toBe(saved.code === 0 ? 'a\n' : 'b\n');
  });
});
