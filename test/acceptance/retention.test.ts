import { describe, expect, test } from 'vitest';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { createSnap } from '../../src/index.js';
import { Scene } from './scene.js';
import { randomBytes } from 'node:crypto';
import { bytesBelow } from '../../src/git/garbage/disk-usage.js';

async function snapshots(count: number): Promise<Scene> {
  const scene = new Scene();
  for (let seq = 1; seq <= count; seq++) {
    scene.write({ a: String(seq), [`own-${seq}`]: `only in ${seq}` });
    await scene.save();
  }
  return scene;
}

describe('pruning', () => {
  test('keeps pinned snapshots, the first and the latest; a dry run keeps all', async () => {
    const scene = await snapshots(5);
    await scene.run(['pin', '3']);
    expect((await scene.list()).filter(({ pinned }) => pinned as boolean).map(({ seq }) => seq as number)).toEqual([3]);
    await scene.run(['instance', 'set', 'keep_last=1', 'auto_prune=false']);
    const dry = await scene.json(['prune', '--dry-run']);
    expect(dry.data.removed.map(({ seq }: { seq: number }) => seq)).toEqual([2, 4]);
    expect(await scene.numbers()).toEqual([5, 4, 3, 2, 1]);
    await scene.run(['prune'], { code: 5 });
    expect(await scene.numbers()).toEqual([5, 4, 3, 2, 1]);
    const pruned = await scene.json(['prune', '--yes']);
    expect(pruned.data.removed).toEqual(dry.data.removed);
    expect(await scene.numbers()).toEqual([5, 3, 1]);
    for (const seq of [1, 3, 5]) expect(await scene.content(seq, `own-${seq}`)).toBe(`only in ${seq}`);
    expect((await scene.json(['prune', '--yes'])).data.removed).toEqual([]);
    await scene.run(['unpin', '3']);
    await scene.run(['unpin', '3']);
    await scene.run(['prune', '--yes']);
    expect(await scene.numbers()).toEqual([5, 1]);
    expect(
      (await scene.json(['list'])).data.snapshots.map(({ parent_seq }: { parent_seq: number }) => parent_seq),
    ).toEqual([1, null]);
    await scene.run(['verify', '--full']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
  });

  test('takes no more than was shown, whatever came while the question waited', async () => {
    const scene = await snapshots(4);
    await scene.run(['instance', 'set', 'keep_last=2', 'auto_prune=false']);
    const env = { HOME: scene.home, PATH: process.env['PATH'] };
    const snap = createSnap({ dataDir: scene.dataDir, instance: 't', cwd: scene.mount, env });
    const shown: number[] = [];
    const { removed } = await snap.prune({
      confirm: async (what) => {
        shown.push(...what.map(({ seq }) => seq));
        for (let more = 0; more < 2; more++) await scene.save();
        return true;
      },
    });
    expect([shown, removed.map(({ seq }) => seq)]).toEqual([[2], [2]]);
    expect(await scene.numbers()).toEqual([6, 5, 4, 3, 1]);
  });

  test('happens after a save unless that is turned off, and counts emergency snapshots apart', async () => {
    const scene = await snapshots(1);
    await scene.run(['instance', 'set', 'keep_last=2', 'keep_emergency=1']);
    for (let seq = 2; seq <= 4; seq++) {
      scene.write({ a: String(seq) });
      await scene.save();
    }
    expect(await scene.numbers()).toEqual([4, 3, 1]);
    for (const target of [1, 3, 4]) await scene.restore(target);
    const numbers = await scene.numbers();
    await scene.save();
    const kept = await scene.list();
    expect(kept.filter(({ trigger }) => trigger === 'emergency')).toHaveLength(1);
    expect(kept.map(({ seq }) => seq as number)).toEqual([numbers[0]! + 1, numbers[0]!, 4, 1]);
    await scene.run(['instance', 'set', 'auto_prune=false']);
    for (let more = 0; more < 3; more++) await scene.save();
    expect(await scene.numbers()).toHaveLength(7);
  });

  test('leaves the snapshot before the last run, however many came in it', async () => {
    const scene = new Scene();
    scene.write({ a: 'first' });
    await scene.save();
    await scene.run(['instance', 'set', 'keep_last=1']);
    scene.write({ a: 'hours of work' });
    await scene.run(['run', '--', 'sh', '-c', 'echo ruined > a']);
    for (const text of ['1', '2', '3']) {
      scene.write({ a: text });
      await scene.save();
    }
    expect((await scene.list()).map(({ seq }) => seq)).toEqual([6, 2, 1]);
    await scene.restore(2);
    expect(scene.read('a')).toBe('hours of work');
  });

  test('never takes the emergency snapshot that an undo would need right after', async () => {
    const scene = await snapshots(2);
    await scene.run(['instance', 'set', 'keep_emergency=0', 'keep_last=1']);
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
    await scene.undo();
    expect(scene.read('a')).toBe('2');
  });

  test('of one instance leaves another alone, and one whose folder is gone keeps all', async () => {
    const scene = await snapshots(3);
    const other = scene.folder('other', { a: 'other' });
    for (let more = 0; more < 3; more++) await scene.save([], { instance: 'o', dirs: [other] });
    await scene.run(['instance', 'set', 'keep_last=1']);
    await scene.run(['prune', '--yes']);
    expect(await scene.numbers()).toEqual([3, 1]);
    expect(await scene.numbers({ instance: 'o' })).toEqual([3, 2, 1]);
    scene.remove('.');
    await scene.run(['gc'], { cwd: scene.area });
    expect(await scene.numbers({ cwd: scene.area })).toEqual([3, 1]);
    expect((await scene.run(['cat', '3', 'a'], { cwd: scene.area })).stdout).toBe('3');
  });
});

describe('deletion', () => {
  test('takes what is named and not pinned, frees its objects, and uses no number twice', async () => {
    const scene = await snapshots(4);
    await scene.run(['pin', '2']);
    const blob = storeGit(scene.dataDir, ['rev-parse', 'refs/jackin/t/2:mounts/m/a']).stdout.trim();
    await scene.run(['delete', '2', 'latest', '--yes'], { code: 4 });
    expect(await scene.numbers()).toEqual([4, 3, 2, 1]);
    await scene.run(['unpin', '2']);
    const young = await scene.run(['delete', '2', 'latest', '--yes']);
    expect(young.stderr).toContain('a later gc frees them');
    expect(await scene.numbers()).toEqual([3, 1]);
    await scene.run(['cat', '2', 'a'], { code: 3 });
    expect(storeGit(scene.dataDir, ['cat-file', '-e', blob], { mayFail: true }).code).toBe(0);
    scene.ageObjects();
    expect((await scene.json(['gc'])).document.messages).toEqual([]);
    expect(storeGit(scene.dataDir, ['cat-file', '-e', blob], { mayFail: true }).code).not.toBe(0);
    expect((await scene.save()).data.snapshot.seq).toBe(5);
    await scene.run(['delete', '1', '3', '5', '--yes']);
    await scene.run(['list'], { code: [0, 3] });
    const again = await scene.save();
    expect(again.data.snapshot).toMatchObject({ seq: 6, parent_seq: null });
    await scene.run(['delete', 'first', '--yes']);
    expect((await scene.save()).data.snapshot.seq).toBe(7);
    await scene.run(['verify']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
  });

  test('of the same one twice, or of instances together, is no accident', async () => {
    const scene = await snapshots(2);
    const other = scene.folder('other');
    await scene.save([], { instance: 'o', dirs: [other] });
    const twice = await scene.json(['delete', '1', '1', 'first', '--yes']);
    expect(twice.data.removed).toHaveLength(1);
    await scene.run(['delete', 't/2', 'o/1', '--yes'], { code: 2 });
    expect(await scene.numbers()).toEqual([2]);
    await scene.run(['delete', 'o/1', '--yes']);
    expect((await scene.json(['list'], { instance: 'o', code: [0, 3] })).document.data?.snapshots ?? []).toEqual([]);
  });

  test('survives gc in either order, and gc keeps everything that is there', async () => {
    const scene = await snapshots(3);
    await scene.run(['gc']);
    await scene.run(['delete', '2', '--yes']);
    await scene.run(['gc']);
    await scene.run(['gc', '--dry-run']);
    for (const seq of [1, 3]) expect(await scene.content(seq, 'a')).toBe(String(seq));
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });
});

const mebibyte = 1024 * 1024;

/** Snapshots of a file that is another one each time. */
async function bigSnapshots(count: number, scene = new Scene()): Promise<Scene> {
  await scene.save();
  await scene.run(['instance', 'set', 'auto_prune=false']);
  for (let seq = 2; seq <= count; seq++) {
    scene.write({ big: randomBytes(2 * mebibyte), [`own-${seq}`]: `only in ${seq}` });
    await scene.save();
  }
  return scene;
}

describe('a ceiling for the store', () => {
  test('takes the oldest of the others until it is met, and no more', async () => {
    const scene = await bigSnapshots(7);
    await scene.run(['pin', '3']);
    await scene.run(['instance', 'set', 'max_store_bytes=9M']);
    scene.ageObjects();
    const dry = await scene.json(['prune', '--dry-run']);
    expect(dry.data.removed.map(({ seq }: { seq: number }) => seq)).toEqual([2, 4]);
    expect(await scene.numbers()).toHaveLength(7);
    const before = bytesBelow(scene.store);
    const { data, document } = await scene.json(['prune', '--yes']);
    expect(data.removed).toEqual(dry.data.removed);
    expect(document.messages).toEqual([]);
    expect(await scene.numbers()).toEqual([7, 6, 5, 3, 1]);
    expect(bytesBelow(scene.store)).toBeLessThanOrEqual(9 * mebibyte);
    expect(before - bytesBelow(scene.store)).toBe(data.freed_bytes);
    expect((await scene.json(['prune', '--yes'])).data.removed).toEqual([]);
    for (const seq of [3, 5, 6, 7]) expect(await scene.content(seq, `own-${seq}`)).toBe(`only in ${seq}`);
    await scene.run(['verify', '--full']);
  });

  test('that cannot be met is told, with the reason', async () => {
    const scene = await bigSnapshots(4);
    await scene.run(['instance', 'set', 'max_store_bytes=1M']);
    scene.ageObjects();
    const { data, document } = await scene.json(['prune', '--yes']);
    expect(data.removed.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3]);
    expect(document.messages.join()).toMatch(
      /cannot be kept to max_store_bytes \(1\.0 MiB\): what is kept takes 2\.\d MiB/,
    );
    const other = scene.folder('other', { a: 'other' });
    await scene.save([], { instance: 'o', dirs: [other] });
    await scene.save([], { instance: 'o' });
    await scene.save([], { instance: 'o' });
    await scene.run(['instance', 'set', 'max_store_bytes=1M'], { instance: 'o' });
    const told = await scene.json(['prune', '--yes'], { instance: 'o' });
    expect(told.data.removed).toEqual([]);
    expect(told.document.messages.join()).toMatch(/other instances alone take 2\.\d MiB/);
    expect(await scene.numbers({ instance: 'o' })).toEqual([3, 2, 1]);
  });

  test('is met first by packing anew: what fits then stays', async () => {
    const scene = new Scene();
    const big = randomBytes(2 * mebibyte);
    for (let seq = 1; seq <= 6; seq++) {
      big[seq]! ^= 0xff;
      scene.write({ big });
      await scene.save();
    }
    await scene.run(['instance', 'set', 'max_store_bytes=5M']);
    scene.ageObjects();
    expect((await scene.json(['prune', '--dry-run'])).data.removed).not.toEqual([]);
    const { data } = await scene.json(['prune', '--yes']);
    expect(data.removed).toEqual([]);
    expect(await scene.numbers()).toHaveLength(6);
    expect(bytesBelow(scene.store)).toBeLessThan(3 * mebibyte);
  });

  test('holds after each save too, and garbage that waits to be freed costs no snapshot', async () => {
    const scene = await bigSnapshots(3);
    await scene.run(['instance', 'set', 'max_store_bytes=7M', 'auto_prune=true']);
    for (let seq = 4; seq <= 8; seq++) {
      scene.write({ big: randomBytes(2 * mebibyte) });
      const { document } = await scene.save();
      if (seq > 4) expect(document.messages.join()).toContain(`Retention removed snapshot ${seq - 3}`);
      expect(await scene.numbers()).toEqual([...(seq === 4 ? [4, 3, 2] : [seq, seq - 1, seq - 2]), 1]);
    }
    scene.ageObjects();
    await scene.run(['gc']);
    expect(bytesBelow(scene.store)).toBeLessThanOrEqual(7 * mebibyte);
    await scene.run(['verify', '--full']);
  });
});

test('the newest of each day and week stays, by UTC, wherever the user is', async () => {
  const scene = new Scene();
  let now = new Date(0);
  const options = { dataDir: scene.dataDir, cwd: scene.mount, instance: 't', now: () => now };
  const snap = createSnap({ ...options, env: { ...process.env, TZ: 'Pacific/Auckland' } });
  await snap.save({});
  await snap.instance.set({ keep_last: '1', keep_daily: '3', keep_weekly: '3' });
  const kept = [];
  for (const day of ['05-03T09', '05-03T10', '05-04T23', '05-05T00', '05-05T11', '05-06T01', '05-12T01', '05-12T02']) {
    now = new Date(`2026-${day}:00Z`);
    await snap.save({});
    kept.push((await snap.list({})).snapshots.map(({ seq }) => seq).join(' '));
  }
  expect(kept).toEqual(['2 1', '3 1', '4 3 1', '5 4 3 1', '6 4 3 1', '7 6 4 3 1', '8 7 6 3 1', '9 7 6 3 1']);
});
