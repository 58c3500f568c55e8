import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refsOf } from '../support/store-git.js';
import { createRepository, writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { files, fill, holding } from './looking.js';
import { Scene, expectSame, keptReasons, planned, remember, rememberUntouched } from './scene.js';

describe('a dry run', () => {
  test('names what would happen, changes nothing, and the real run does just that', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    symlinkSync('a', scene.at('l'));
    await scene.save();
    scene.write({ a: 'now', 'new/n': 'n' });
    chmodSync(scene.at('z'), 0o600);
    scene.remove('l', 'd/deep');
    scene.write({ 'l/in': 'in' });
    const untouched = rememberUntouched(scene.mount);
    const refs = refsOf(scene.store);
    const files = rememberUntouched(scene.store);
    const text = await scene.run(['restore', '1', '--dry-run', '--verbose']);
    for (const { path } of (await scene.json(['restore', '1', '--dry-run'])).data.plan)
      expect(text.stdout).toContain(scene.at(path));
    const dry = await scene.json(['restore', '1', '--dry-run', '--yes']);
    expect(planned(dry).sort()).toEqual(
      [
        'chmod z',
        'create d/deep',
        'create d/deep/h',
        'delete l/in',
        'delete new',
        'delete new/n',
        'overwrite a',
        'retype l',
      ].sort(),
    );
    for (const args of [['delete', '1'], ['prune'], ['gc'], ['undo']])
      await scene.run([...args, '--dry-run'], { code: args[0] === 'undo' ? 3 : 0 });
    await scene.json(['restore', '1', '--dry-run', '--to', join(scene.area, 'copy')]);
    expect(readdirSync(scene.area)).not.toContain('copy');
    expectSame(untouched);
    expect(refsOf(scene.store)).toEqual(refs);
    expect(files.differences()).toEqual([]);
    const restored = await scene.restore();
    expect(planned(restored)).toEqual(planned(dry));
    const undo = await scene.json(['undo', '--dry-run']);
    expect(planned(undo).length).toBe(planned(dry).length);
    expect(planned(await scene.undo())).toEqual(planned(undo));
    expectSame(untouchedButTimes(untouched));
  });

  test('says what would be kept, and works while the instance is active', async () => {
    const scene = new Scene();
    scene.write({ '.gitignore': '*.o\n', a: 'a' });
    await scene.save();
    scene.write({ 'x.o': 'o' });
    createRepository(scene.at('r'));
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    const dry = await scene.json(['restore', '1', '--dry-run']);
    expect(keptReasons(dry)).toEqual({ 'x.o': 'ignored', r: 'new_repository' });
    expect(dry.data.plan).toEqual([]);
  });
});

function untouchedButTimes(memory: ReturnType<typeof rememberUntouched>): ReturnType<typeof rememberUntouched> {
  const strip = (line: string): string => line.slice(2).replace(/ (ino|mtimeNs|ctimeNs|blocks)=\d+/g, '');
  return {
    differences: () => {
      const lines = memory.differences();
      const [gone, come] = ['- ', '+ '].map((sign) =>
        lines
          .filter((line) => line.startsWith(sign))
          .map(strip)
          .sort(),
      );
      return JSON.stringify(gone) === JSON.stringify(come) ? [] : lines;
    },
  };
}

describe('a restore of some paths', () => {
  test.each([
    { paths: ['a'], back: ['a'] },
    { paths: ['d'], back: ['d/deep/h', 'd/f', 'd/g'] },
    { paths: ['d/deep', 'z'], back: ['d/deep/h', 'z'] },
    { paths: ['d', 'd/f'], back: ['d/deep/h', 'd/f', 'd/g'] },
    { paths: ['d/f', 'd/f', './d/f'], back: ['d/f'] },
  ])('$paths changes those and no other', async ({ paths, back }) => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    await scene.save();
    fill(scene.mount, 'now');
    scene.write({ new: 'new', 'd/new': 'new' });
    const wasNow = remember(scene.mount);
    await scene.restore(1, ['--', ...paths]);
    expect(holding(scene.mount, 'then')).toEqual(back);
    expect(holding(scene.mount, 'new')).toEqual(paths.includes('d') ? ['new'] : ['d/new', 'new']);
    await scene.undo();
    expectSame(wasNow);
  });

  test('removes one that was not there then, and says no of one that nobody knows', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    await scene.save();
    scene.write({ new: 'new', 'newd/f': 'new', 'd/new': 'new' });
    expect(planned(await scene.restore(1, ['--', 'new']))).toEqual(['delete new']);
    expect(planned(await scene.restore(1, ['--', 'newd/f', 'd/new']))).toEqual(['delete d/new', 'delete newd/f']);
    const untouched = rememberUntouched(scene.mount);
    await scene.restore(1, ['--', 'never'], { code: 3 });
    await scene.restore(1, ['--', 'a', 'never'], { code: 3 });
    expectSame(untouched);
  });

  test('makes the folders that it needs, with their modes, and nothing in them', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    chmodSync(scene.at('d'), 0o750);
    chmodSync(scene.at('d/deep'), 0o711);
    await scene.save();
    scene.remove('d');
    await scene.restore(1, ['--', 'd/deep/h']);
    expect(walkTree(scene.mount).map(({ path, mode }) => `${path} ${mode.toString(8)}`)).toEqual(
      expect.arrayContaining(['d 750', 'd/deep 711']),
    );
    expect(holding(scene.mount, 'then')).toEqual(['a', 'd/deep/h', 'z']);
  });

  test('takes "mount:path" as such only where that is a mount, with one mount and with several', async () => {
    const scene = new Scene();
    scene.write({ 'm:a': 'then', a: 'then' });
    await scene.save();
    scene.write({ 'm:a': 'now', a: 'now' });
    await scene.restore(1, ['--', 'm:a']);
    expect([scene.read('m:a'), scene.read('a')]).toEqual(['then', 'now']);
    scene.remove('m:a');
    await scene.save();
    scene.write({ a: 'later' });
    await scene.restore('latest', ['--', 'm:a'], { code: 3 });
    expect(scene.read('a')).toBe('later');
  });
});

describe('several mounts', () => {
  async function two(): Promise<{ scene: Scene; other: string }> {
    const scene = new Scene();
    const other = scene.folder('two');
    for (const root of [scene.mount, other]) fill(root, 'then');
    await scene.run(['save', '--mount', `one=${scene.mount}`, '--mount', `two=${other}`]);
    for (const root of [scene.mount, other]) {
      fill(root, 'now');
      writeFiles(root, { new: 'new', 'd/new': 'new' });
    }
    return { scene, other };
  }

  test('are restored one by one, path by path, and all together', async () => {
    const { scene, other } = await two();
    await scene.restore(1, ['--mount', 'one']);
    expect([holding(scene.mount, 'then'), holding(other, 'then')]).toEqual([[...files].sort(), []]);
    await scene.undo();
    expect([holding(scene.mount, 'then'), holding(other, 'then')]).toEqual([[], []]);
    await scene.restore(1, ['--', 'two:d', 'one:a']);
    expect([holding(scene.mount, 'then'), holding(other, 'then')]).toEqual([['a'], ['d/deep/h', 'd/f', 'd/g']]);
    expect([holding(scene.mount, 'new'), holding(other, 'new')]).toEqual([['d/new', 'new'], ['new']]);
    await scene.restore(1, ['--', 'two:']);
    expect([holding(scene.mount, 'then'), holding(other, 'then')]).toEqual([['a'], [...files].sort()]);
    await scene.restore(1, ['--', 'a'], { code: 2 });
    await scene.restore(1, ['--', 'three:a'], { code: [2, 3] });
    await scene.restore(1, ['--mount', 'three'], { code: 3 });
    await scene.restore();
    for (const root of [scene.mount, other]) expect(holding(root, 'then')).toEqual([...files].sort());
    for (const root of [scene.mount, other]) expect(holding(root, 'new')).toEqual([]);
  });

  test('are saved only whole, named by their folders, and gone ones stop a save', async () => {
    const { scene, other } = await two();
    await scene.run(['save', scene.mount], { code: 4 });
    await scene.run(['save', other, scene.mount]);
    await scene.run(['save', '--mount', `wrong=${scene.mount}`, '--mount', `two=${other}`], { code: 4 });
    rmSync(other, { recursive: true });
    await scene.run(['save'], { code: 4 });
    await scene.restore(1, [], { code: 4 });
    expect(holding(scene.mount, 'now')).toEqual([...files].sort());
    await scene.restore(1, ['--mount', 'one']);
    expect(holding(scene.mount, 'then')).toEqual([...files].sort());
  });

  test('go into one folder each in a copy elsewhere, an export and a tar', async () => {
    const { scene } = await two();
    await scene.restore(1, ['--to', join(scene.area, 'copy')]);
    await scene.run(['export', '1', join(scene.area, 'export')]);
    for (const copy of ['copy', 'export']) {
      expect(readdirSync(join(scene.area, copy)).sort()).toEqual(['one', 'two']);
      expect(holding(join(scene.area, copy), 'then')).toHaveLength(2 * files.length);
    }
    await scene.restore(1, ['--mount', 'two', '--to', join(scene.area, 'one-of-them')]);
    expect(holding(join(scene.area, 'one-of-them'), 'then')).toHaveLength(files.length);
    await scene.run(['save', scene.mount, scene.at('d')], { instance: 'overlap', code: [2, 4] });
  });
});

describe('a restore without deletion', () => {
  test('puts everything back and removes nothing', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    await scene.save();
    fill(scene.mount, 'now');
    scene.remove('d');
    scene.write({ new: 'new', 'd/new': 'new', 'newd/f': 'new' });
    mkdirSync(scene.at('empty'));
    const wasNow = remember(scene.mount);
    const restored = await scene.restore(1, ['--no-delete']);
    expect(holding(scene.mount, 'then')).toEqual([...files].sort());
    expect(holding(scene.mount, 'new')).toEqual(['d/new', 'new', 'newd/f']);
    expect(scene.has('empty')).toBe(true);
    expect(Object.values(keptReasons(restored))).toContain('no_delete');
    await scene.undo();
    expectSame(wasNow);
  });
});
