import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, createRepository, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

function then(scene: Scene): void {
  scene.write({ '.gitignore': '*.o\n', a: '1', 'd/f': 'd', '.env': 'K=1' });
  symlinkSync('a', scene.at('l'));
}

function now(scene: Scene): void {
  scene.write({ a: '2', 'new/n': 'n', 'x.o': 'o', '.env': 'K=2', 'new/y.o': 'o' });
  chmodSync(scene.at('a'), 0o600);
  scene.remove('d', 'l');
  symlinkSync('elsewhere', scene.at('l'));
  mkdirSync(scene.at('new/empty'));
  mkdirSync(scene.at('l2'));
}

describe('undo', () => {
  test('again and again says what was excluded no more often than once', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save(['--exclude', '*.once']);
    await scene.run(['instance', 'set', 'exclude=*.own']);
    scene.write({ a: '2' });
    await scene.restore();
    await scene.undo();
    await scene.undo();
    const { policy } = (await scene.json(['show', 'latest'])).data;
    expect(policy.exclude).toEqual(['*.own', '*.once']);
  });

  test('brings back the state before the restore, and undone again the state after it', async () => {
    const scene = new Scene();
    then(scene);
    await scene.save();
    now(scene);
    const before = remember(scene.mount);
    await scene.undo([], { code: 3 });
    await scene.restore();
    expect([scene.read('a'), scene.read('.env'), scene.read('x.o')]).toEqual(['1', 'K=2', 'o']);
    const restored = remember(scene.mount);
    await scene.run(['undo'], { code: 5 });
    expectSame(restored);
    await scene.undo();
    expectSame(before);
    await scene.undo();
    expectSame(restored);
    await scene.undo();
    expectSame(before);
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual([
      'emergency',
      'emergency',
      'emergency',
      'emergency',
      'manual',
    ]);
  });

  test('takes back the last restore, not the one before it, with saves in between', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    await scene.restore(1);
    scene.write({ a: '3' });
    await scene.save();
    await scene.restore(1);
    scene.write({ b: 'since' });
    await scene.save();
    await scene.undo();
    expect([scene.read('a'), scene.has('b')]).toEqual(['3', false]);
    await scene.undo();
    expect([scene.read('a'), scene.read('b')]).toEqual(['1', 'since']);
  });

  test('of a restore of some paths touches those alone', async () => {
    const scene = new Scene();
    scene.write({ a: '1', b: '1', 'd/f': '1' });
    await scene.save();
    scene.write({ a: '2', b: '2', 'd/f': '2', 'd/new': '2' });
    await scene.restore(1, ['--', 'a', 'd']);
    scene.write({ b: '3', c: '3' });
    await scene.undo();
    expect(['a', 'b', 'c', 'd/f', 'd/new'].map((path) => scene.read(path))).toEqual(['2', '3', '3', '2', '2']);
    await scene.undo();
    expect(['a', 'b', 'c', 'd/f', 'd/new'].map((path) => scene.read(path))).toEqual(['1', '3', '3', '1', null]);
  });

  test('of a restore of one mount leaves the other', async () => {
    const scene = new Scene();
    const two = scene.folder('two', { f: '1' });
    scene.write({ f: '1' });
    await scene.run(['save', '--mount', `one=${scene.mount}`, '--mount', `two=${two}`]);
    scene.write({ f: '2' });
    writeFileSync(join(two, 'f'), '2');
    await scene.restore(1, ['--mount', 'one']);
    writeFileSync(join(two, 'f'), '3');
    const other = rememberUntouched(two);
    await scene.undo();
    expect(scene.read('f')).toBe('2');
    expectSame(other);
  });

  test('works after what a restore with options did', async () => {
    const scene = new Scene();
    then(scene);
    await scene.save();
    now(scene);
    createRepository(scene.at('repository'));
    commitFiles(scene.at('repository'), { f: 'f' });
    const before = remember(scene.mount, { withGit: true });
    for (const args of [[], ['--no-delete'], ['--delete-new-repos'], ['--force'], ['--', 'a', 'new', 'l2', 'l']]) {
      await scene.restore(1, args);
      await scene.undo();
      expect(before.differences(), args.join(' ')).toEqual([]);
    }
  });

  test('is guarded as the restore is', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    await scene.restore();
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    const active = await scene.json(['undo', '--yes'], { code: 4 });
    expect(active.document.error?.code).toBe('INSTANCE_ACTIVE');
    expect(scene.read('a')).toBe('1');
    await scene.undo(['--force']);
    expect(scene.read('a')).toBe('2');
    expect((await scene.emergency()).message).toMatch(/\bt\b.*active|active.*\bt\b/);
  });

  test('does not take back what was done since where it would be lost: it is in a snapshot of its own', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    await scene.restore();
    writeFiles(scene.mount, { a: 'since', more: 'since' });
    await scene.undo();
    expect(scene.read('a')).toBe('2');
    const { seq } = await scene.emergency();
    expect([await scene.content(seq, 'a'), await scene.content(seq, 'more')]).toEqual(['since', 'since']);
  });

  test.each([
    { how: 'delete', remove: (scene: Scene, seq: number) => scene.run(['delete', String(seq), '--yes']) },
    {
      how: 'retention',
      remove: async (scene: Scene) => {
        await scene.run(['instance', 'set', 'keep_emergency=0']);
        await scene.save();
      },
    },
  ])('refuses when what it would take back was removed by $how, and takes back no earlier one', async ({ remove }) => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    scene.write({ a: '2' });
    await scene.restore(1);
    scene.write({ a: '3' });
    await scene.restore(1);
    const { seq } = await scene.emergency();
    await remove(scene, seq as number);
    scene.write({ a: '4' });
    const refused = await scene.json(['undo', '--yes'], { code: 3 });
    expect(refused.document.error).toMatchObject({
      code: 'NOTHING_TO_UNDO',
      message: expect.stringContaining(`t/${String(seq)} was removed`) as unknown,
    });
    expect(scene.read('a')).toBe('4');
    // The next restore has an undo again.
    await scene.restore(1);
    await scene.undo();
    expect(scene.read('a')).toBe('4');
  });
});
