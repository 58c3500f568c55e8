import { chmodSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { createRepository, commitFiles } from '../support/user-git.js';
import { Scene, expectSame, keptReasons, remember, said } from './scene.js';

let scene: Scene;

beforeEach(() => {
  scene = new Scene({ as: 'ordinary user' });
});

describe('folders that their owner locked', () => {
  test('are opened for the moment of a restore, and locked again, whatever is done in them', async () => {
    scene.write({ 'ro/edited': 'e\n', 'ro/gone': 'g\n', 'ro/deep/ro/a': 'a\n', 'was/open': 'o\n', 'now/a': 'a\n' });
    for (const path of ['ro/deep/ro', 'ro/deep', 'ro', 'was']) chmodSync(scene.at(path), 0o555);
    const before = remember(scene.mount);
    await scene.save();
    for (const path of ['ro', 'ro/deep', 'ro/deep/ro', 'was']) chmodSync(scene.at(path), 0o755);
    scene.write({ 'ro/edited': 'x\n', 'ro/new': 'n\n', 'ro/deep/ro/a': 'x\n', 'was/new/er': 'n\n', 'now/new': 'n\n' });
    scene.remove('ro/gone');
    chmodSync(scene.at('ro/edited'), 0o400);
    for (const path of ['ro/deep/ro', 'ro/deep', 'ro', 'was/new', 'now']) chmodSync(scene.at(path), 0o555);
    const later = remember(scene.mount);
    const restored = await scene.restore();
    expect(restored.data.post_rollback_state.verified).toBe(true);
    expectSame(before);
    await scene.undo();
    expectSame(later);
  });

  test('so that nobody may look are named, and nothing in them is changed or deleted', async () => {
    scene.write({ 'shut/a': 'a\n', 'shut/b': 'b\n', 'half/a': 'a\n', 'blind/a': 'a\n', f: 'f\n' });
    await scene.save();
    scene.write({ 'shut/a': 'x\n', 'shut/new': 'n\n', 'half/a': 'x\n', 'blind/a': 'x\n', f: 'x\n' });
    const before = remember(scene.mount);
    const modes = { shut: 0, half: 0o444, blind: 0o311 };
    for (const [path, mode] of Object.entries(modes)) chmodSync(scene.at(path), mode);
    const restored = await scene.restore(1, [], { code: [0, 6] });
    for (const path of Object.keys(modes)) chmodSync(scene.at(path), 0o755);
    expect(scene.read('f')).toBe('f\n');
    if (restored.code === 6) {
      for (const path of Object.keys(modes)) expect(said(restored)).toContain(path);
      scene.write({ f: 'x\n' });
      expectSame(before);
    } else {
      expect([scene.read('shut/a'), scene.read('half/a'), scene.read('blind/a')]).toEqual(['a\n', 'a\n', 'a\n']);
    }
    // Open again, they are restored as usual.
    const again = await scene.restore();
    expect([scene.read('shut/a'), scene.read('half/a'), scene.read('blind/a')]).toEqual(['a\n', 'a\n', 'a\n']);
    expect([scene.has('shut/new'), keptReasons(again)]).toEqual([false, {}]);
  });

  test('are those of the mount itself', async () => {
    scene.write({ a: 'a\n', b: 'b\n' });
    chmodSync(scene.mount, 0o555);
    const before = remember(scene.mount);
    await scene.save();
    chmodSync(scene.mount, 0o755);
    scene.write({ a: 'x\n', new: 'n\n' });
    scene.remove('b');
    chmodSync(scene.mount, 0o500);
    await scene.restore();
    expectSame(before);
    chmodSync(scene.mount, 0);
    await scene.restore(1, [], { code: [0, 4, 6, 9], cwd: scene.area });
    await scene.save([], { code: [4, 6, 9], cwd: scene.area });
    chmodSync(scene.mount, 0o755);
    await scene.restore();
    expectSame(before);
  });

  test('hold clones, whose .git is locked too', async () => {
    scene.asUser(() => {
      createRepository(scene.at('clone'));
      commitFiles(scene.at('clone'), { a: 'a\n' });
    });
    await scene.save();
    scene.write({ 'clone/a': 'x\n', 'clone/new': 'n\n' });
    for (const path of ['clone/.git/refs', 'clone/.git']) chmodSync(scene.at(path), 0);
    const restored = await scene.restore(1, [], { code: [0, 6] });
    for (const path of ['clone/.git', 'clone/.git/refs']) chmodSync(scene.at(path), 0o755);
    expect(scene.read('clone/a')).toBe('a\n');
    expect(keptReasons(restored)).toHaveProperty(['clone/new']);
  });
});

describe('files that may not be read', () => {
  test('are no reason to lose them, or what stands in their place', async () => {
    scene.write({ then: 'then\n', now: 'now\n', both: 'both\n', f: 'f\n' });
    for (const path of ['then', 'both']) chmodSync(scene.at(path), 0);
    const saved = await scene.save([], { code: 6 });
    expect(saved.data.complete).toBe(false);
    chmodSync(scene.at('then'), 0o644);
    scene.write({ now: 'edited\n', f: 'x\n', new: 'n\n', then: 'edited\n' });
    for (const path of ['now', 'new']) chmodSync(scene.at(path), 0);
    const restored = await scene.restore(1, [], { code: 6 });
    expect(said(restored)).toContain('now');
    for (const path of ['now', 'new', 'both']) chmodSync(scene.at(path), 0o644);
    // What no emergency snapshot can hold is neither overwritten nor deleted.
    const found = ['f', 'then', 'now', 'both', 'new'].map((path) => scene.read(path));
    expect(found).toEqual(['f\n', 'edited\n', 'edited\n', 'both\n', 'n\n']);
  });
});
