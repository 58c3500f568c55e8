import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { files, fill, holding } from './looking.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

describe('a folder that is not empty', () => {
  test.each(['--dry-run', '--yes'])('is refused before a plan is shown for it: %s', async (option) => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    await scene.save();
    const refused = await scene.run(['restore', '1', '--to', scene.mount, option], { code: 4 });
    expect(refused.stdout).toBe('');
    const copy = join(scene.area, 'copy');
    await scene.run(['restore', '1', '--to', copy, '--dry-run']);
    expect(() => readFileSync(copy)).toThrow('ENOENT');
  });
});

describe('a snapshot of some paths', () => {
  test('restores those, a missing one by removing it, and nothing else', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    scene.write({ gone: 'gone' });
    await scene.save(['--path', 'a', '--path', 'd/deep', '--path', 'missing', '--path', 'd/no/where']);
    const { data } = await scene.json(['tree', '1']);
    const stored = data.entries.filter(({ kind }: { kind: string }) => kind === 'file');
    expect(stored.map(({ path }: { path: string }) => path)).toEqual(['a', 'd/deep/h']);
    fill(scene.mount, 'now');
    scene.remove('gone');
    scene.write({ missing: 'm', 'd/no/where/at/all': 'm', 'd/deep/new': 'm', 'd/new': 'm', new: 'm' });
    const wasNow = remember(scene.mount);
    await scene.restore();
    expect(holding(scene.mount, 'then')).toEqual(['a', 'd/deep/h']);
    expect(holding(scene.mount, 'm')).toEqual(['d/new', 'new']);
    await scene.undo();
    expectSame(wasNow);
    scene.remove('d', 'a');
    await scene.restore();
    expect(holding(scene.mount, 'then')).toEqual(['a', 'd/deep/h']);
    const copy = join(scene.area, 'copy');
    await scene.restore(1, ['--to', copy]);
    expect(holding(copy, 'then')).toEqual(['a', 'd/deep/h']);
    await scene.restore(1, ['--', 'z'], { code: 3 });
  });

  test('of a path in a folder that is missing, or that is a file by now', async () => {
    const scene = new Scene();
    scene.write({ a: 'a', f: 'file' });
    await scene.save(['--path', 'no/such/file', '--path', 'f/below']);
    scene.write({ 'no/such/file': 'now', 'no/other': 'other' });
    await scene.restore();
    expect([scene.has('no/such/file'), scene.read('no/other'), scene.read('a'), scene.read('f')]).toEqual([
      false,
      'other',
      'a',
      'file',
    ]);
  });

  test('may be of the whole mount, and of a link, which is not followed', async () => {
    const scene = new Scene();
    writeFiles(scene.outside, { f: 'outside' });
    fill(scene.mount, 'then');
    symlinkSync(scene.outside, scene.at('link'));
    await scene.save(['--path', '.']);
    await scene.save(['--path', 'link', '--path', 'link/f']);
    fill(scene.mount, 'now');
    scene.remove('link');
    writeFileSync(scene.at('link'), 'file');
    await scene.restore(2);
    expect(walkTree(scene.mount).find(({ path }) => path === 'link')?.target).toBe(scene.outside);
    expect(holding(scene.mount, 'now')).toEqual([...files].sort());
    await scene.restore(1);
    expect(holding(scene.mount, 'then')).toEqual([...files].sort());
    expect(readFileSync(join(scene.outside, 'f'), 'utf8')).toBe('outside');
  });
});

describe('a copy elsewhere', () => {
  test('is the snapshot, leaves the mount and its snapshots alone, and is made while the instance is active', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    chmodSync(scene.at('a'), 0o640);
    chmodSync(scene.mount, 0o750);
    symlinkSync('a', scene.at('l'));
    const wasThen = walkTree(scene.mount, { withRoot: true }).map(({ path, mode, sha256, target }) => ({
      path,
      mode,
      sha256,
      target,
    }));
    await scene.save();
    fill(scene.mount, 'now');
    const untouched = rememberUntouched(scene.mount);
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    const copy = join(scene.area, 'copy');
    const restored = await scene.restore(1, ['--to', copy]);
    expect(restored.data).toMatchObject({ destination: copy, rollback_summary: { emergency_snapshot: null } });
    const found = walkTree(copy, { withRoot: true }).map(({ path, mode, sha256, target }) => ({
      path,
      mode,
      sha256,
      target,
    }));
    expect(found).toEqual(wasThen);
    mkdirSync(join(scene.area, 'empty'));
    await scene.restore(1, ['--to', join(scene.area, 'empty'), '--', 'd/deep']);
    expect(holding(join(scene.area, 'empty'), 'then')).toEqual(['d/deep/h']);
    expectSame(untouched);
    expect(await scene.numbers()).toEqual([1]);
  });

  test('is never written over anything, through a link, or into the data directory', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    await scene.save();
    const full = scene.folder('full', { a: 'mine', other: 'mine' });
    const outside = rememberUntouched(scene.outside);
    symlinkSync(scene.outside, join(scene.area, 'link'));
    symlinkSync(join(scene.area, 'nowhere'), join(scene.area, 'dangling'));
    writeFileSync(join(scene.area, 'file'), 'mine');
    const kept = rememberUntouched(full);
    for (const to of ['full', 'file', 'link', 'dangling', 'no/such/parent'])
      for (const args of [
        ['restore', '1', '--yes', '--to'],
        ['export', '1'],
      ])
        await scene.run([...args, join(scene.area, to)], { code: [1, 2, 3, 4, 9] });
    const store = rememberUntouched(scene.store);
    for (const to of [
      scene.dataDir,
      join(scene.dataDir, 'x'),
      join(scene.store, 'x'),
      join(scene.dataDir, 'instances/x'),
    ])
      await scene.run(['restore', '1', '--yes', '--to', to], { code: [2, 4] });
    expectSame(kept);
    expectSame(outside);
    expectSame(store);
    expect(holding(scene.mount, 'then')).toEqual([...files].sort());
  });

  test('may lie in the mount, where it is then a folder like others', async () => {
    const scene = new Scene();
    fill(scene.mount, 'then');
    await scene.save();
    await scene.restore(1, ['--to', scene.at('copy')], { code: [0, 4] });
    const made = scene.has('copy');
    expect(holding(scene.mount, 'then').filter((path) => !path.startsWith('copy/'))).toEqual([...files].sort());
    if (made) await scene.restore();
    expect(scene.has('copy')).toBe(false);
  });
});
