import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRepository } from '../support/user-git.js';
import { Scene, expectSame, observedReason, remember, said } from './scene.js';

describe('rules that cannot be read', () => {
  test('protect what they might ignore, and are told about', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'arch/a': 'a\n', '.gitignore': 'arch/\n', k: 'k\n', 'sub/.gitignore': 'x\n', 'sub/k': 'k\n' });
    await scene.save();
    scene.write({ 'arch/b': 'b\n', 'gen/x': 'g\n', '.gitignore': 'arch/\ngen/\n', k: 'z\n', 'sub/new': 'n\n' });
    for (const path of ['.gitignore', 'sub/.gitignore']) chmodSync(scene.at(path), 0);
    const restored = await scene.restore(1, [], { code: [0, 6] });
    if (restored.code === 6) expect(said(restored)).toContain('.gitignore');
    expect([
      scene.read('k'),
      scene.read('arch/a'),
      scene.read('arch/b'),
      scene.read('gen/x'),
      scene.read('sub/new'),
    ]).toEqual(['k\n', 'a\n', 'b\n', 'g\n', 'n\n']);

    for (const path of ['.gitignore', 'sub/.gitignore']) chmodSync(scene.at(path), 0);
    const saved = await scene.save([], { code: 6 });
    expect(observedReason(saved, '.gitignore')).toBe('unreadable');
    expect(observedReason(saved, 'sub/.gitignore')).toBe('unreadable');
    expect(saved.data.complete).toBe(false);
    // What was unreadable then may be readable by now: it proves nothing still.
    for (const path of ['.gitignore', 'sub/.gitignore']) chmodSync(scene.at(path), 0o644);
    scene.write({ 'later/x': 'l\n', 'sub/later': 'l\n' });
    await scene.restore(saved.data.snapshot.seq, [], { code: [0, 6] });
    expect([scene.read('later/x'), scene.read('sub/later')]).toEqual(['l\n', 'l\n']);
  });

  test('in the user repository count too, and so does a repository that hides what it tracks', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.asUser(() => {
      createRepository(scene.mount);
      createRepository(scene.at('hidden'));
    });
    scene.write({ '.git/info/exclude': 'kept\n', k: 'k\n', 'hidden/a': 'a\n' });
    await scene.save();
    scene.write({ kept: 'x', 'other new': 'x', k: 'z\n', 'hidden/new': 'x' });
    chmodSync(scene.at('.git/info/exclude'), 0);
    chmodSync(scene.at('hidden/.git'), 0);
    await scene.restore(1, [], { code: [0, 6] });
    expect([scene.read('k'), scene.read('kept'), scene.read('other new')]).toEqual(['k\n', 'x', 'x']);
    chmodSync(scene.at('.git'), 0);
    scene.write({ k: 'z\n', more: 'x' });
    await scene.restore(1, [], { code: [0, 6] });
    expect([scene.read('k'), scene.read('kept'), scene.read('more')]).toEqual(['k\n', 'x', 'x']);
    chmodSync(scene.at('.git'), 0o755);
  });

  test('are a folder, a link or a pipe: no rules, no hang, no harm', async () => {
    const scene = new Scene();
    scene.write({ 'd/.gitignore/x': 'x', 'l/a': 'a', 'p/a': 'a', rules: '*\n' });
    symlinkSync('../rules', scene.at('l/.gitignore'));
    spawnSync('mkfifo', [scene.at('p/.gitignore')]);
    const before = remember(scene.mount);
    const saved = await scene.save([], { timeout: 20_000 });
    expect(observedReason(saved, 'p/.gitignore')).toBe('special');
    scene.write({ 'l/a': 'b', 'p/a': 'b', 'd/.gitignore/x': 'y', 'l/new': 'n' });
    await scene.restore(1, [], { timeout: 20_000 });
    expectSame(before);
  });

  test('are those of a folder that was not read: what is in it later stays', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'closed/a': 'a\n', 'closed/sub/b': 'b\n', 'half/a': 'a\n', k: 'k\n' });
    chmodSync(scene.at('closed'), 0);
    chmodSync(scene.at('half'), 0o444);
    const saved = await scene.save([], { code: 6 });
    expect(saved.data.complete).toBe(false);
    for (const folder of ['closed', 'half']) chmodSync(scene.at(folder), 0o755);
    scene.write({ 'closed/new': 'n\n', 'closed/sub/new': 'n\n', 'half/new': 'n\n', k: 'z\n', new: 'n\n' });
    const restored = await scene.restore(1, [], { code: [0, 6] });
    expect([scene.read('k'), scene.has('new')]).toEqual(['k\n', false]);
    for (const folder of ['closed', 'half']) chmodSync(scene.at(folder), 0o755);
    for (const path of ['closed/a', 'closed/sub/b', 'closed/new', 'closed/sub/new', 'half/a'])
      expect(scene.has(path), `${path}: ${JSON.stringify(restored.data.plan)}`).toBe(true);
    // Strict: nothing is published of what cannot be read.
    chmodSync(scene.at('closed'), 0);
    const count = (await scene.numbers()).length;
    await scene.save(['--strict'], { code: 6 });
    expect(await scene.numbers()).toHaveLength(count);
  });
});
