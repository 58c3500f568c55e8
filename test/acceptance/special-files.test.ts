import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildTree, makeFifo } from '../support/build-tree.js';
import { directory, file, special } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { Scene, expectSame, isRoot, keptReasons, observedReason, remember } from './scene.js';

// Whoever opens a pipe waits for its other end, for ever: all commands here have a limit of time.
const soon = { timeout: 30_000 };

function specials(scene: Scene): unknown[] {
  return walkTree(scene.mount)
    .filter(({ type }) => !['file', 'directory', 'symlink'].includes(type))
    .map(({ path, type, ino, mode }) => [path, type, ino, mode]);
}

describe('sockets and pipes', () => {
  test('are named, never opened, and stay where they are', async () => {
    const scene = new Scene();
    await buildTree(scene.mount, [
      special('p', 'fifo'),
      special('s', 'socket'),
      special('d/q', 'fifo', 0),
      directory('only'),
      special('only/t', 'socket'),
      file('a', 'then'),
    ]);
    const saved = await scene.save([], soon);
    expect(saved.data.complete).toBe(true);
    for (const path of ['p', 's', 'd/q', 'only/t']) expect(observedReason(saved, path), path).toBe('special');
    const then = specials(scene);
    scene.write({ a: 'now', 'd/new': 'new', 'only/new': 'new' });
    const restored = await scene.restore(1, [], soon);
    expect(restored.data.failed).toEqual([]);
    expect([scene.read('a'), scene.has('d/new'), scene.has('only/new')]).toEqual(['then', false, false]);
    expect(specials(scene)).toEqual(then);
    for (const args of [
      ['save', '--full'],
      ['diff', '1', '--exit-code'],
      ['save', '--if-changed'],
      ['restore', '1', '--yes'],
    ])
      await scene.run(args, soon);
    await scene.undo([], soon);
    expect(specials(scene)).toEqual(then);
  });

  test('that came to hold the place of something are left there, and that is named', async () => {
    const scene = new Scene();
    scene.write({ a: 'then', 'd/f': 'then', 'e/f': 'then', other: 'then' });
    await scene.save();
    scene.remove('a', 'd');
    makeFifo(scene.at('a'));
    makeFifo(scene.at('d'));
    makeFifo(scene.at('later'));
    mkdirSync(scene.at('new'));
    makeFifo(scene.at('new/pipe'));
    makeFifo(scene.at('e/pipe'));
    scene.write({ other: 'now', 'new/file': 'new', 'e/f': 'now' });
    const now = specials(scene);
    const restored = await scene.restore(1, [], { ...soon, code: 6 });
    expect(restored.data.failed.map(({ path }: { path: string }) => path).sort()).toEqual(['a', 'd']);
    expect(Object.keys(keptReasons(restored))).toEqual(
      expect.arrayContaining(['a', 'd', 'later', 'new/pipe', 'e/pipe']),
    );
    expect([scene.read('other'), scene.read('e/f'), scene.has('new/file')]).toEqual(['then', 'then', false]);
    expect(specials(scene)).toEqual(now);
    expect(restored.data.post_rollback_state.active_snapshot).toBeNull();
    scene.remove('a', 'd', 'later', 'new', 'e/pipe');
    const again = await scene.restore(1, [], soon);
    expect([scene.read('a'), scene.read('d/f'), again.data.failed.length]).toEqual(['then', 'then', 0]);
  });

  test('that are gone are not made again, and a file in their place stays', async () => {
    const scene = new Scene();
    makeFifo(scene.at('gone'));
    makeFifo(scene.at('now-file'));
    makeFifo(scene.at('now-folder'));
    scene.write({ a: 'then' });
    await scene.save([], soon);
    scene.remove('gone', 'now-file', 'now-folder');
    scene.write({ 'now-file': 'mine', 'now-folder/in': 'mine', a: 'now' });
    await scene.restore(1, [], soon);
    expect(['gone', 'now-file', 'now-folder/in', 'a'].map((path) => scene.read(path))).toEqual([
      null,
      'mine',
      'mine',
      'then',
    ]);
  });

  test('do not stop a strict save, and asked for by name are still not stored', async () => {
    const scene = new Scene();
    makeFifo(scene.at('p'));
    scene.write({ a: 'a' });
    await scene.save(['--strict'], soon);
    const limited = await scene.save(['--path', 'p'], { ...soon, instance: 'limited' });
    expect(observedReason(limited, 'p')).toBe('special');
    const included = await scene.save(['--include', 'p', '--no-gitignore', '--include-secrets'], soon);
    expect(observedReason(included, 'p')).toBe('special');
    await scene.run(['cat', '1', 'p'], { ...soon, code: 3 });
    await scene.restore(1, ['--', 'p'], { ...soon, code: [0, 3, 6] });
    expect(lstatSync(scene.at('p')).isFIFO()).toBe(true);
  });

  test('in the place of files that rules are read from stop nothing', async () => {
    const scene = new Scene();
    for (const path of ['.gitignore', 'd/.gitignore', 'd/.git/HEAD', 'd/.git/config', 'd/.git/index', 'package.json']) {
      mkdirSync(scene.at(path, '..'), { recursive: true });
      makeFifo(scene.at(path));
    }
    makeFifo(scene.at('e'));
    scene.write({ 'd/a': 'then' });
    await scene.save([], { ...soon, code: [0, 6] });
    scene.write({ 'd/a': 'now' });
    await scene.restore(1, [], { ...soon, code: [0, 6] });
    expect(scene.read('d/a')).toBe('then');
  });
});

test.skipIf(!isRoot)('devices are named and left alone', async () => {
  const scene = new Scene();
  const made = ['null c 1 3', 'block b 7 200'].map((words) => {
    const [name = '', ...rest] = words.split(' ');
    return spawnSync('mknod', [scene.at(name), ...rest]).status === 0;
  });
  scene.write({ a: 'then' });
  const then = remember(scene.mount);
  const saved = await scene.save([], soon);
  if (made.every(Boolean)) {
    expect([observedReason(saved, 'null'), observedReason(saved, 'block')]).toEqual(['special', 'special']);
  }
  scene.write({ a: 'now' });
  await scene.restore(1, [], soon);
  expectSame(then);
});
