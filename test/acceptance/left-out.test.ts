import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeFifo } from '../support/build-tree.js';
import { commitFiles, createRepository } from '../support/user-git.js';
import { reasons, stored } from './looking.js';
import { Scene, expectSame, keptReasons, remember, rememberUntouched } from './scene.js';

describe('what is left out', () => {
  test('is named with its reason, and what is tracked is never ignored', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.asUser(() => {
      createRepository(scene.mount);
      commitFiles(scene.mount, { 'in/tracked.log': 't', 'build/tracked': 't' });
    });
    scene.write({
      '.gitignore': '*.log\nbuild/\n!in/deep/\n',
      'in/deep/.gitignore': '!back.log\n/only-here\n',
      'a.log': 'x',
      'in/deep/back.log': 'x',
      'in/deep/only-here': 'x',
      'in/only-here/f': 'x',
      'build/o': 'x',
      local: 'x',
      '.git/info/exclude': 'local\n',
      'mine.cfg': 'x',
      '.npmrc': 'x',
      large: 'x'.repeat(3000),
      no: 'x',
      'keep/.keep': 'k',
      'out/deep/o.log': 'x',
    });
    scene.asUser(() => {
      makeFifo(scene.at('pipe'));
      chmodSync(scene.at('no'), 0);
    });
    const saved = await scene.save(['--exclude', '*.cfg', '--max-file-size', '2000'], { code: 6 });
    const expected = {
      '.git': 'git_dir',
      '.npmrc': 'secret',
      'a.log': 'ignored',
      'build/o': 'ignored',
      'in/deep/only-here': 'ignored',
      large: 'too_large',
      local: 'ignored',
      'mine.cfg': 'excluded',
      no: 'unreadable',
      'out/deep/o.log': 'ignored',
      pipe: 'special',
    };
    expect(reasons(saved)).toEqual(expected);
    expect(reasons(await scene.json(['show', '1']))).toEqual(expected);
    const found = await stored(scene, 1);
    expect(found).toEqual(
      expect.arrayContaining(['in/tracked.log', 'build/tracked', 'in/deep/back.log', 'in/only-here/f', 'keep/.keep']),
    );
    for (const path of ['a.log', 'build/o', 'mine.cfg', '.npmrc', 'large', 'no'])
      await scene.run(['cat', '1', '--', path], { code: 3 });
    await scene.save(['--no-gitignore', '--include-secrets'], { code: 6 });
    expect(await stored(scene, 2)).toEqual(expect.arrayContaining(['a.log', 'build/o', '.npmrc', 'large', 'mine.cfg']));
  });

  test('of a folder is one entry that stands for all below it', async () => {
    const scene = new Scene();
    scene.write({ '.gitignore': 'out/\n', 'out/a': '1', 'out/b/c': '2', 'keep/out/d': '3', 'd/.ssh/a/b': '4' });
    const saved = await scene.save();
    expect(reasons(saved)).toEqual({ out: 'ignored', 'keep/out': 'ignored', 'd/.ssh': 'secret' });
  });

  test('is not restored, changed or deleted, whatever became of it', async () => {
    const scene = new Scene();
    scene.write({
      '.gitignore': 'i\nis/\n',
      i: '1',
      'is/f': '1',
      x: '1',
      big: 'x'.repeat(3000),
      '.env': '1',
      a: 'then',
    });
    await scene.save(['--exclude', 'x', '--max-file-size', '2000']);
    const alone = ['i', 'is/f', 'x', 'big', '.env'];
    scene.write({
      a: 'now',
      ...Object.fromEntries(alone.map((path) => [path, 'changed'])),
      'is/new': 'new',
      '.netrc': 'n',
    });
    await scene.restore();
    expect(alone.map((path) => scene.read(path))).toEqual(alone.map(() => 'changed'));
    expect([scene.read('a'), scene.read('is/new'), scene.read('.netrc')]).toEqual(['then', 'new', 'n']);
    scene.remove('i', 'is', 'x', 'big', '.env');
    await scene.restore();
    expect(alone.map((path) => scene.read(path))).toEqual(alone.map(() => null));
    // Nor when the rules are gone.
    scene.remove('.gitignore');
    scene.write({ i: 'later', 'is/later': 'later', x: 'later' });
    await scene.restore();
    expect([scene.read('i'), scene.read('is/later'), scene.read('x')]).toEqual(['later', 'later', 'later']);
  });

  test('by the rules of today is not deleted either', async () => {
    const scene = new Scene();
    scene.write({ a: 'then' });
    await scene.save();
    scene.write({ '.gitignore': '*.o\n', 'x.o': 'o', 'build/x.o': 'o', new: 'new', conf: 'c' });
    await scene.run(['instance', 'set', 'exclude=conf']);
    const restored = await scene.restore();
    expect(keptReasons(restored)).toMatchObject({ 'x.o': 'ignored', 'build/x.o': 'ignored', conf: 'excluded' });
    expect([scene.has('new'), scene.has('x.o'), scene.has('build/x.o'), scene.has('conf')]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test('by an option holds for that save and is recorded; by a setting it lasts', async () => {
    const scene = new Scene();
    scene.write({ 'a.cfg': '1', 'b.tmp': '2', 'c.log': '3', keep: '4', '.gitignore': '*.log\n' });
    await scene.save(['--exclude', '*.cfg']);
    expect(await stored(scene, 1)).toEqual(['.gitignore', 'b.tmp', 'keep']);
    expect((await scene.json(['show', '1'])).data.policy.exclude).toEqual(['*.cfg']);
    await scene.run(['instance', 'set', 'exclude=*.tmp', 'include=c.log']);
    await scene.save();
    expect(await stored(scene, 2)).toEqual(['.gitignore', 'a.cfg', 'c.log', 'keep']);
    await scene.run(['instance', 'set', 'exclude=', 'include=', 'gitignore=false', 'max_file_size=1']);
    await scene.save(['--max-file-size', '1K']);
    expect(await stored(scene, 3)).toEqual(['.gitignore', 'a.cfg', 'b.tmp', 'c.log', 'keep']);
    await scene.run(['instance', 'set', 'on_limit=fail', 'max_file_size=3']);
    const failed = await scene.json(['save'], { code: 4 });
    expect(failed.document.error).toMatchObject({ code: 'LIMIT_EXCEEDED', paths: ['.gitignore'] });
    expect(await scene.numbers()).toEqual([3, 2, 1]);
  });
});

describe('a repository that was made after the snapshot', () => {
  test('in the root of the mount stays, with all that its user did', async () => {
    const scene = new Scene();
    scene.write({ a: 'then' });
    await scene.save();
    createRepository(scene.mount);
    commitFiles(scene.mount, { a: 'committed', b: 'committed' });
    const untouched = rememberUntouched(scene.at('.git'));
    for (const args of [[], ['--delete-new-repos']]) {
      scene.write({ a: 'now', b: 'committed' });
      const restored = await scene.restore(1, args);
      expect([scene.read('a'), scene.has('b')]).toEqual(['then', false]);
      expectSame(untouched);
      expect(Object.keys(keptReasons(restored))).toContain('.git');
    }
    await scene.undo();
    expectSame(untouched);
  });

  test('in a folder that was there, or a new one, stays and is named, and goes when that is asked for', async () => {
    const scene = new Scene();
    scene.write({ 'old/a': 'then', a: 'then' });
    await scene.save();
    createRepository(scene.at('old'));
    commitFiles(scene.at('old'), { a: 'now', b: 'now' });
    createRepository(scene.at('new/deep'));
    commitFiles(scene.at('new/deep'), { f: 'f' });
    scene.write({ 'new/deep/.gitignore': '*.o\n', 'new/deep/x.o': 'o', 'new/other': 'other' });
    const [old, deep] = [rememberUntouched(scene.at('old/.git')), rememberUntouched(scene.at('new/deep'))];
    const wasNow = remember(scene.mount, { withGit: true });
    const restored = await scene.restore();
    expect(keptReasons(restored)).toMatchObject({ 'old/.git': 'new_repository', 'new/deep': 'new_repository' });
    expect([scene.read('old/a'), scene.has('old/b'), scene.has('new/other')]).toEqual(['then', false, false]);
    expectSame(old);
    expectSame(deep);
    await scene.undo();
    expectSame(wasNow);
    await scene.restore(1, ['--delete-new-repos']);
    expect([scene.has('old/.git'), scene.has('new'), scene.read('old/a')]).toEqual([false, false, 'then']);
    await scene.undo();
    expectSame(wasNow);
  });
});

test('a folder without git is saved and restored, and none is made in it', async () => {
  const scene = new Scene();
  scene.write({ a: '1', 'd/t': 't' });
  const untouched = rememberUntouched(scene.mount);
  const saved = await scene.save();
  expect(saved.data.mounts).toMatchObject([
    { kind: 'plain', base_commit: null, branch: null, dirty: null, nested: [] },
  ]);
  expectSame(untouched);
  const wasThen = remember(scene.mount, { withGit: true });
  // What counts is the tree, not the tool that changed it.
  scene.write({ a: '2', 'd/u': 't', 'copy/a': '1' });
  scene.remove('d/t');
  chmodSync(scene.at('d'), 0o711);
  symlinkSync('a', scene.at('d/l'));
  await scene.restore();
  expectSame(wasThen);
});
