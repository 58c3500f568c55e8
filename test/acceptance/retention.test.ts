import { describe, expect, test } from 'vitest';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { Scene } from './scene.js';

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
    await scene.run(['delete', '2', 'latest', '--yes']);
    expect(await scene.numbers()).toEqual([3, 1]);
    await scene.run(['cat', '2', 'a'], { code: 3 });
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
