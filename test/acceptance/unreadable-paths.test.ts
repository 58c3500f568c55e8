import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonRun } from './scene.js';
import { Scene, expectSame, leftovers, observedReason, remember, rememberUntouched, said } from './scene.js';

// What permissions stop is not what was deleted. Root is stopped by none, so these scenes belong to somebody else.

function mode(scene: Scene, bits: number, ...paths: string[]): void {
  scene.asUser(() => {
    for (const path of paths) chmodSync(scene.at(path), bits);
  });
}

function failedPaths(run: JsonRun): unknown[] {
  return run.data.failed.map(({ path }: { path: unknown }) => path).sort();
}

describe('an unreadable file or folder', () => {
  test('is named in a partial snapshot that holds everything else', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ ok: 'ok', no: 'no', 'nd/h': 'h', 'nd/deep/i': 'i' });
    await scene.save();
    mode(scene, 0, 'no', 'nd');
    scene.write({ ok: 'ok2' });
    const untouched = rememberUntouched(scene.mount);
    const saved = await scene.save([], { code: 6 });
    expectSame(untouched);
    expect(saved.document.ok).toBe(true);
    expect([saved.data.complete, saved.data.snapshot.seq]).toEqual([false, 2]);
    expect([observedReason(saved, 'no'), observedReason(saved, 'nd')]).toEqual(['unreadable', 'unreadable']);
    expect(await scene.content(2, 'ok')).toBe('ok2');
    for (const path of ['no', 'nd/h']) await scene.run(['cat', '2', '--', path], { code: 3 });
    expect((await scene.json(['show', '2'])).data.complete).toBe(false);
    const told = await scene.run(['save'], { code: 6 });
    expect(said(told)).toMatch(/\bno\b[^]*\bnd\b|\bnd\b[^]*\bno\b/);
  });

  test.each([
    { what: 'listed, not entered', bits: 0o400 },
    { what: 'entered, not listed', bits: 0o100 },
    { what: 'written only', bits: 0o200 },
  ])('may be a folder that may be $what', async ({ bits }) => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'd/f': 'f', 'd/e/g': 'g', ok: 'ok' });
    await scene.save();
    mode(scene, bits, 'd');
    const wasNow = remember(scene.mount);
    const saved = await scene.save([], { code: 6 });
    expect(saved.data.complete).toBe(false);
    scene.write({ ok: 'changed' });
    await scene.restore(2, [], { code: [0, 6] });
    expectSame(wasNow);
    mode(scene, 0o755, 'd');
    expect([scene.read('d/f'), scene.read('d/e/g')]).toEqual(['f', 'g']);
    await scene.restore(2, [], { code: [0, 6] });
    expect([scene.read('d/f'), scene.read('d/e/g')]).toEqual(['f', 'g']);
  });

  test('that is new stays, and is named as a part of the restore that is missing', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ ok: 'then' });
    await scene.save();
    scene.write({ ok: 'now', 'new/no': 'no', 'new/yes': 'yes' });
    mode(scene, 0, 'new/no');
    const restored = await scene.restore(1, [], { code: 6 });
    expect(failedPaths(restored)).toEqual(['new/no']);
    mode(scene, 0o644, 'new/no');
    expect([scene.read('ok'), scene.read('new/no'), existsSync(scene.at('new/yes'))]).toEqual(['then', 'no', false]);
    await scene.restore();
    expect(existsSync(scene.at('new'))).toBe(false);
  });

  test('is left alone by a restore of the snapshot that could not hold it, readable or not', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ ok: 'ok2', no: 'no', 'nd/h': 'h' });
    mode(scene, 0, 'no', 'nd');
    await scene.save([], { code: 6 });
    const wasThen = remember(scene.mount);
    scene.write({ ok: 'b' });
    await scene.restore(1, [], { code: [0, 6] });
    expectSame(wasThen);
    mode(scene, 0o755, 'nd');
    mode(scene, 0o644, 'no');
    scene.write({ 'nd/later': 'later', 'nd/deep/later': 'later', ok: 'b', no: 'edited' });
    await scene.restore(1, [], { code: [0, 6] });
    expect(['ok', 'nd/later', 'nd/deep/later', 'nd/h', 'no'].map((path) => scene.read(path))).toEqual([
      'ok2',
      'later',
      'later',
      'h',
      'edited',
    ]);
  });

  test('since the snapshot is not overwritten or deleted unseen, and is named', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ f: 'then', 'd/f': 'then', 'd/g': 'then', other: 'then' });
    await scene.save();
    scene.write({ f: 'now', 'd/f': 'now', other: 'now', new: 'new', 'newd/f': 'new' });
    mode(scene, 0, 'f', 'd', 'new', 'newd');
    const restored = await scene.restore(1, [], { code: 6 });
    expect(failedPaths(restored)).toEqual(expect.arrayContaining(['f']));
    expect(scene.read('other')).toBe('then');
    mode(scene, 0o755, 'd', 'newd');
    mode(scene, 0o644, 'f', 'new');
    const contents = ['f', 'd/f', 'new', 'newd/f'].map((path) => scene.read(path));
    expect(contents).toEqual(['now', 'now', 'new', 'new']);
    await scene.restore();
    expect(['f', 'd/f', 'new', 'newd/f'].map((path) => scene.read(path))).toEqual(['then', 'then', null, null]);
  });

  test('in a folder that is gone is not taken for deleted', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'd/no': 'no', 'd/ok': 'ok' });
    mode(scene, 0, 'd/no');
    await scene.save([], { code: 6 });
    scene.remove('d');
    scene.write({ 'd/no': 'mine' });
    await scene.restore(1, [], { code: [0, 6] });
    expect([scene.read('d/ok'), scene.read('d/no')]).toEqual(['ok', 'mine']);
  });
});

describe('a save that must be complete', () => {
  test.each([
    { what: 'an unreadable file', path: 'no', make: (scene: Scene) => mode(scene, 0, 'no') },
    { what: 'an unreadable folder', path: 'nd', make: (scene: Scene) => mode(scene, 0, 'nd') },
    { what: 'a folder that may not be entered', path: 'nd', make: (scene: Scene) => mode(scene, 0o600, 'nd') },
  ])('publishes nothing beside $what, uses no number, and leaves nothing', async ({ path, make }) => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: 'a', no: 'no', 'nd/h': 'h' });
    await scene.save(['--strict']);
    make(scene);
    scene.write({ a: 'b' });
    const refused = await scene.json(['save', '--strict'], { code: 6 });
    expect(refused.document).toMatchObject({ ok: false, error: { code: 'INCOMPLETE_REFUSED' } });
    expect(refused.document).not.toHaveProperty('data');
    expect(refused.document.error?.paths?.some((one) => String(one).startsWith(path))).toBe(true);
    expect(await scene.numbers()).toEqual([1]);
    expect(leftovers(scene.dataDir)).toEqual([]);
    expect((await scene.save([], { code: 6 })).data).toMatchObject({ complete: false, snapshot: { seq: 2 } });
    mode(scene, 0o755, 'nd');
    mode(scene, 0o644, 'no');
    expect((await scene.save(['--strict'])).data).toMatchObject({ complete: true, snapshot: { seq: 3 } });
  });

  test('makes no instance of a folder that it could not save', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ no: 'no' });
    mode(scene, 0, 'no');
    await scene.run(['save', '--strict', scene.mount], { code: 6 });
    await scene.run(['list'], { code: 3 });
    expect((await scene.json(['instance', 'list'])).data.instances).toEqual([]);
  });

  test('is not disturbed by what was left out on purpose', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ '.gitignore': 'ignored\n', ignored: 'x', '.env': 'x', a: 'a' });
    mode(scene, 0, 'ignored', '.env');
    const saved = await scene.save(['--strict']);
    expect(saved.data.complete).toBe(true);
    expect([observedReason(saved, 'ignored'), observedReason(saved, '.env')]).toEqual(['ignored', 'secret']);
  });
});

describe('a folder without write permission', () => {
  test('is restored within and keeps its mode, and so it does when undone', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'ro/f': 'then', 'ro/gone': 'then', 'ro/deep/f': 'then', 'ro/deep/rox/f': 'then' });
    mode(scene, 0o555, 'ro/deep/rox', 'ro/deep', 'ro');
    await scene.save();
    const wasThen = remember(scene.mount);
    mode(scene, 0o755, 'ro', 'ro/deep', 'ro/deep/rox');
    scene.write({ 'ro/f': 'now', 'ro/new': 'now', 'ro/deep/f': 'now', 'ro/deep/new/f': 'now', 'ro/deep/rox/g': 'now' });
    scene.remove('ro/gone', 'ro/deep/rox/f');
    mode(scene, 0o500, 'ro/deep/rox', 'ro/deep/new', 'ro/deep', 'ro');
    const wasNow = remember(scene.mount);
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
  });

  test('may be the root of the mount', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ f: 'then', 'd/f': 'then' });
    mode(scene, 0o555, '.');
    await scene.save();
    const wasThen = remember(scene.mount);
    mode(scene, 0o755, '.');
    scene.write({ f: 'now', new: 'new' });
    scene.remove('d');
    mode(scene, 0o511, '.');
    const wasNow = remember(scene.mount, { ignore: ['unreadable'] });
    mode(scene, 0o511, '.');
    await scene.restore();
    expectSame(wasThen);
    await scene.undo();
    expectSame(wasNow);
    mode(scene, 0o755, '.');
  });

  test('gets its mode back also when something in it cannot be restored', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'ro/f': 'then', 'ro/g': 'then' });
    await scene.save();
    scene.write({ 'ro/f': 'now', 'ro/g': 'now' });
    scene.asUser(() => mkdirSync(scene.at('ro/held')));
    mode(scene, 0, 'ro/g');
    mode(scene, 0o555, 'ro');
    await scene.restore(1, ['--', 'ro/f', 'ro/g'], { code: 6 });
    expect(lstatSync(scene.at('ro')).mode & 0o777).toBe(0o555);
    expect(scene.read('ro/f')).toBe('then');
  });

  test('takes an export and a copy elsewhere as it was', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ 'ro/f': 'then', 'ro/deep/g': 'then' });
    mode(scene, 0o555, 'ro/deep', 'ro');
    await scene.save();
    const wasThen = remember(scene.mount);
    const copies = [join(scene.area, 'copy'), join(scene.area, 'export')];
    await scene.restore(1, ['--to', copies[0]!]);
    await scene.run(['export', '1', copies[1]!]);
    for (const copy of copies) expect(lstatSync(join(copy, 'ro')).mode & 0o777).toBe(0o555);
    expectSame(wasThen);
  });
});

test('a file of another user that may be read is saved, and what cannot be given to them again is said', async () => {
  const scene = new Scene({ as: 'ordinary user' });
  scene.write({ mine: 'mine' });
  writeFileSync(scene.at('theirs'), 'theirs', { mode: 0o644 });
  const owner = lstatSync(scene.at('theirs')).uid;
  await scene.save();
  scene.asUser(() => chmodSync(scene.at('mine'), 0o600));
  scene.remove('theirs');
  const restored = await scene.restore(1, [], { code: [0, 6] });
  expect(scene.read('theirs')).toBe('theirs');
  const given = lstatSync(scene.at('theirs')).uid === owner;
  expect(given || restored.document.messages.some((message) => String(message).includes('owner'))).toBe(true);
});
