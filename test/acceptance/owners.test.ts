import { chmodSync, chownSync, lchownSync, linkSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, createRepository, userGit } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, keptReasons, nobody, planned, remember, rememberUntouched, said } from './scene.js';

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

  test('is left alone where nothing but owners differs that may not be set, each time, and no snapshot is made', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ theirs: 't\n', 'd/f': 'f\n', a: 'then\n' });
    symlinkSync('a', scene.at('link'));
    for (const path of ['', 'd', 'theirs', 'link']) lchownSync(scene.at(path), 0, 0);
    for (const path of ['', 'd']) chmodSync(scene.at(path), 0o777);
    await scene.save();
    for (const path of ['', 'd', 'theirs', 'link']) lchownSync(scene.at(path), nobody, nobody);
    const owners = /owners of \., d, link, theirs/;

    const dry = await scene.json(['restore', '1', '--dry-run']);
    expect([planned(dry), dry.data.kept]).toEqual([[], []]);
    expect(JSON.stringify(dry.document.messages)).toMatch(owners);
    const untouched = rememberUntouched(scene.mount);
    for (let time = 0; time < 2; time += 1) {
      const restored = await scene.restore();
      expect([planned(restored), restored.data.changes_reverted]).toEqual([[], []]);
      expect(restored.data.rollback_summary).toMatchObject({ restored_files_count: 0, emergency_snapshot: null });
      expect(JSON.stringify(restored.document.messages)).toMatch(owners);
    }
    expectSame(untouched);
    expect(await scene.numbers()).toEqual([1]);
    expect(said(await scene.run(['restore', '1', '--yes', '--', 'theirs']))).toMatch(/owner of theirs/);

    scene.write({ a: 'now\n' });
    const restored = await scene.restore();
    expect(planned(restored)).toEqual(['overwrite a']);
    expect(restored.data.changes_reverted).toEqual(['a']);
    expect(JSON.stringify(restored.document.messages)).toMatch(owners);
    scene.write({ a: 'now\n' });
    expect(said(await scene.run(['restore', '1', '--yes']))).toMatch(/Restored 1 file \(5 B\), deleted 0/);
    await scene.undo();
    expect(scene.read('a')).toBe('now\n');
  });

  test('has its hard links again, which are left alone then, though their owners may not be set', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: 'a\n', c: 'c\n' });
    linkSync(scene.at('a'), scene.at('b'));
    linkSync(scene.at('c'), scene.at('d'));
    for (const path of ['a', 'c']) chownSync(scene.at(path), 0, 0);
    await scene.save();
    scene.remove('b', 'c', 'd', 'a');
    scene.write({ a: 'a\n' });
    await scene.restore();
    const inodes = ['a', 'b', 'c', 'd'].map((path) => lstatSync(scene.at(path)).ino);
    expect([inodes[0], inodes[2]]).toEqual([inodes[1], inodes[3]]);
    expect(planned(await scene.restore())).toEqual([]);
  });

  test('is not told as restored where its file could not be put in its place', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'd/x': 'then', 'd/own': 'then' });
    await scene.save();
    scene.write({ 'd/x': 'now', 'd/own': 'now' });
    // In a sticky folder nobody replaces what is somebody else's.
    for (const path of ['d', 'd/x']) chownSync(scene.at(path), 0, 0);
    chmodSync(scene.at('d'), 0o1777);
    await scene.restore(1, ['--dry-run', '--', 'd/x']);
    const restored = await scene.restore(1, ['--', 'd/x'], { code: 6 });
    expect(keptReasons(restored)).toEqual({ 'd/x': 'not_permitted' });
    expect(restored.data.changes_reverted).toEqual([]);
    expect(restored.data.rollback_summary.restored_files_count).toBe(0);
    expect(restored.data.impact.bytes_written).toBe(0);
    const both = await scene.restore(1, ['--', 'd/x', 'd/own'], { code: 6 });
    expect(both.data.changes_reverted).toEqual(['d/own']);
    expect(both.data.impact.bytes_written).toBe(4);
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
