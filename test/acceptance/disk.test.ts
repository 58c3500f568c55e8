import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, statfsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fsckStrict } from '../support/store-git.js';
import { walkTree } from '../support/walk.js';
import { Scene, canMount, expectSame, leftovers, mountTmpfs, remember, rememberUntouched, said } from './scene.js';

const megabyte = 1 << 20;

describe.runIf(canMount())('a full disk', () => {
  test('under the data directory: said, no snapshot, nothing left over, no number used, and on it goes', async () => {
    const scene = new Scene();
    mountTmpfs(scene.dataDir, '12m');
    scene.write({ s: 'small\n' });
    await scene.save();
    const used = usedBytes(scene.dataDir);
    for (const files of [{ big: 30 }, { 'two/a': 7, 'two/b': 7 }]) {
      for (const [name, size] of Object.entries(files)) scene.write({ [name]: randomBytes(size * megabyte) });
      const failed = await scene.save([], { code: 9 });
      expect(said(failed)).toMatch(/space/i);
      expect(leftovers(scene.dataDir)).toEqual([]);
      expect(usedBytes(scene.dataDir) - used).toBeLessThan(megabyte);
      const listed = await scene.list();
      expect(listed.map(({ seq, restorable }) => [seq, restorable])).toEqual([[1, true]]);
      scene.remove(...new Set(Object.keys(files).map((name) => name.split('/')[0]!)));
    }
    scene.write({ s: 'small2\n' });
    await scene.save();
    expect(await scene.numbers()).toEqual([2, 1]);
    await scene.restore(1);
    expect(scene.read('s')).toBe('small\n');
  });

  test('that leaves no room for the emergency snapshot changes nothing in the mount', async () => {
    const scene = new Scene();
    mountTmpfs(scene.dataDir, '12m');
    scene.write({ s: 'small\n' });
    await scene.save();
    scene.write({ s: 'edited\n', new: randomBytes(20 * megabyte) });
    const still = rememberUntouched(scene.mount);
    const failed = await scene.restore(1, [], { code: 9 });
    expect(said(failed)).toMatch(/space/i);
    expectSame(still);
    expect(await scene.numbers()).toEqual([1]);
    expect(leftovers(scene.dataDir)).toEqual([]);
    // With less to rescue there is room.
    scene.remove('new');
    await scene.restore(1);
    expect(scene.read('s')).toBe('small\n');
  });

  test('under the mount: a restore that does not fit changes nothing', async () => {
    const scene = new Scene();
    const small = join(scene.area, 'small');
    mountTmpfs(small, '12m');
    scene.write({});
    const files = { a: randomBytes(8 * megabyte), s: 's\n' };
    scene.folder('small', files);
    await scene.save([], { dirs: [small] });
    rmSync(join(small, 'a'));
    scene.folder('small', { filling: Buffer.alloc(9 * megabyte), s: 'edited\n' });
    const still = rememberUntouched(small);
    const failed = await scene.restore(1, ['--no-delete'], { code: 9 });
    expect(said(failed)).toMatch(/space/i);
    expectSame(still);
    await scene.restore(1, ['--no-delete', '--', 's']);
    expect(readFileSync(join(small, 's'), 'utf8')).toBe('s\n');
    rmSync(join(small, 'filling'));
    await scene.restore(1);
    expect(readFileSync(join(small, 'a')).equals(files.a)).toBe(true);
  });

  test('without inodes left is told like one without space', async () => {
    const scene = new Scene();
    mountTmpfs(scene.dataDir, '12m,nr_inodes=80');
    scene.write({ s: 'small\n' });
    await scene.save();
    for (let at = 0; readable(() => scene.folder(`data/fill/${at}`)); at++);
    scene.write({ s: 'edited\n' });
    const failed = await scene.save([], { code: 9 });
    expect(said(failed)).toMatch(/space/i);
    rmSync(join(scene.dataDir, 'fill'), { recursive: true });
    await scene.save();
    expect(await scene.numbers()).toEqual([2, 1]);
  });
});

describe('a data directory that may not be written', () => {
  test('is said with exit 9, and one that others can read is refused with the fix', async () => {
    const scene = new Scene({ as: 'ordinary user' });
    scene.write({ a: 'a\n' });
    await scene.save();
    scene.write({ a: 'b\n' });
    for (const [name, mode] of [
      ['', 0],
      ['store.git', 0],
      ['store.git/objects/pack', 0],
      ['store.git/objects/pack', 0o500],
      ['store.git/refs', 0],
      ['store.git/refs/jackin/t', 0],
      ['store.git/refs/jackin/t', 0o500],
      ['instances', 0],
      ['locks', 0],
    ] as const) {
      const path = join(scene.dataDir, name);
      chmodSync(path, mode);
      const failed = await scene.start(['save']).done;
      chmodSync(path, 0o700);
      expect([failed.code, failed.stderr], name).toEqual([9, expect.stringContaining(scene.dataDir)]);
    }
    expect(leftovers(scene.dataDir)).toEqual([]);
    expect(await scene.numbers()).toEqual([1]);
    for (const mode of [0o755, 0o750, 0o704]) {
      chmodSync(scene.dataDir, mode);
      const refused = await scene.run(['list'], { code: 9 });
      expect(said(refused)).toMatch(/chmod/);
    }
    chmodSync(scene.dataDir, 0o700);
    await scene.restore(1);
    expect(scene.read('a')).toBe('a\n');
  });
});

describe('pruning', () => {
  test('frees the space, keeps what the settings say, the first, the latest and the pinned, and asks before', async () => {
    const scene = new Scene();
    for (let at = 1; at <= 7; at++) {
      scene.write({ blob: randomBytes(2 * megabyte) });
      await scene.save();
    }
    const last = readFileSync(scene.at('blob'));
    const other = scene.folder('other', { f: '1\n' });
    for (let at = 1; at <= 3; at++) await scene.save(['-m', `${at}`], { instance: 'u', dirs: [other] });
    await scene.run(['pin', '3']);
    await scene.run(['instance', 'set', 'keep_last=1']);
    for (const { path } of walkTree(scene.store, { from: 'objects', hash: false })) age(join(scene.store, path));
    const before = sizeOf(scene.dataDir);

    await scene.run(['prune'], { code: 5 });
    await scene.run(['prune', '--dry-run']);
    expect(await scene.numbers()).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(sizeOf(scene.dataDir)).toBeGreaterThan(before - megabyte);
    await scene.run(['prune', '--yes']);
    expect(await scene.numbers()).toEqual([7, 3, 1]);
    expect(await scene.numbers({ instance: 'u' })).toEqual([3, 2, 1]);
    expect(sizeOf(scene.dataDir)).toBeLessThan(8 * megabyte);
    await scene.run(['verify', '--full']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    scene.remove('blob');
    await scene.restore('latest');
    expect(readFileSync(scene.at('blob')).equals(last)).toBe(true);
    scene.write({ blob: 'next\n' });
    const next = await scene.save();
    expect(next.data.snapshot.seq, 'numbers are never used again').toBe(9);
  });

  test('keeps everything of an instance whose folder is gone', async () => {
    const scene = new Scene();
    const gone = scene.folder('gone', { f: '1\n' });
    for (let at = 1; at <= 3; at++) await scene.save(['-m', `${at}`], { instance: 'g', dirs: [gone] });
    rmSync(gone, { recursive: true });
    await scene.run(['prune', '--yes'], { instance: 'g' });
    await scene.run(['gc']);
    expect(await scene.numbers({ instance: 'g' })).toEqual([3, 2, 1]);
    expect(await scene.content(1, 'f', { instance: 'g' })).toBe('1\n');
    expect(remember(scene.mount).differences()).toEqual([]);
  });
});

function usedBytes(path: string): number {
  const { blocks, bfree, bsize } = statfsSync(path);
  return (blocks - bfree) * bsize;
}

function sizeOf(path: string): number {
  return walkTree(path, { hash: false }).reduce((sum, { blocks }) => sum + blocks * 512, 0);
}

/** Older than the grace period. */
function age(path: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
}

function readable(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
