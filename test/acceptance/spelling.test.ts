import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Scene, expectSame, remember } from './scene.js';

test('a folder is the same folder however it is spelled, and from wherever', async () => {
  const scene = new Scene();
  scene.write({ a: 'a\n', 'sub/deep/b': 'b\n' });
  symlinkSync(scene.mount, join(scene.area, 'link'));
  symlinkSync(scene.area, join(scene.outside, 'way'));
  const spellings: (readonly [string, string])[] = [
    ['.', scene.mount],
    ['..', scene.at('sub')],
    ['m/', scene.area],
    ['./sub/../', scene.mount],
    [join(scene.area, 'link'), '/'],
    ['way/link/.', scene.outside],
    [`${scene.area}//m///`, '/'],
  ];
  const seen: unknown[] = [];
  for (const [dir, cwd] of spellings) {
    const saved = await scene.json(['save', dir], { cwd, instance: null });
    seen.push([saved.data.snapshot.seq, saved.data.mounts[0].path]);
  }
  expect(seen).toEqual(spellings.map((_, at) => [at + 1, scene.mount]));
  const before = remember(scene.mount);
  for (const cwd of [scene.at('sub/deep'), join(scene.area, 'link/sub'), join(scene.outside, 'way/m')]) {
    scene.write({ a: 'x\n', 'sub/new': 'n\n' });
    await scene.restore(1, [], { cwd, instance: null });
    expectSame(before, `the folder, restored from ${cwd},`);
  }
});

test('a path in a restore is relative to the root of the mount, from wherever, and literal', async () => {
  const scene = new Scene();
  const names = ['*', 'a?', '[ab]', ':(top)x', '-y', '--', 'a b', 'm:a', '!z', '#c', '~', '$HOME', 'x\\y'];
  scene.write(Object.fromEntries(['a', 'ab', 'sub/a', ...names].map((name) => [name, `${name}\n`])));
  mkdirSync(scene.at('sub/sub'));
  await scene.save();
  for (const name of ['a', 'ab', 'sub/a', ...names]) scene.write({ [name]: 'edited\n' });
  const restored = await scene.restore(1, ['--', '*', '[ab]', '-y', ':(top)x', './a?', 'sub/a/'], {
    cwd: scene.at('sub'),
  });
  const back = ['a', 'ab', 'sub/a', ...names].filter((name) => scene.read(name) === `${name}\n`);
  expect(back, JSON.stringify(restored.data.plan)).toEqual(['sub/a', '*', 'a?', '[ab]', ':(top)x', '-y']);
  await scene.restore(1, ['--', ...names]);
  expect(names.filter((name) => scene.read(name) !== `${name}\n`)).toEqual([]);
  expect(scene.read('a')).toBe('edited\n');
  await scene.restore(1, ['--', ''], { code: 2 });
  for (const missing of ['nothing', 'sub/*', 'a/x', 'A']) await scene.restore(1, ['--', missing], { code: 3 });
});
