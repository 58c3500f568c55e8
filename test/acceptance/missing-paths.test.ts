import { describe, expect, test } from 'vitest';
import { Scene, said } from './scene.js';

async function twoSaves(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ same: 's\n', old: 'o\n', 'd/f': '1\n', '.env': 'secret\n' });
  scene.folder('m/empty');
  await scene.save();
  scene.remove('old');
  scene.write({ young: 'y\n' });
  await scene.save();
  scene.write({ live: 'l\n' });
  return scene;
}

describe('a path that is nowhere is not found, and one that does not differ is', () => {
  test('by diff', async () => {
    const scene = await twoSaves();
    const names = ['same', 'old', 'young', 'd', 'd/f', 'empty', '.'];
    for (const args of [
      ['1', '2'],
      ['2', '1'],
    ]) {
      for (const name of names) await scene.run(['diff', ...args, '--', name]);
      for (const name of ['nope', 'd/nope', 'same/below', 'live', 'Same']) {
        const run = await scene.run(['diff', ...args, '--', name], { code: 3 });
        expect(run.stderr).toContain(`${name} is neither in snapshot ${args[0]!} nor in snapshot ${args[1]!}.`);
      }
    }
    for (const name of ['same', 'old', 'young', 'live', 'empty']) await scene.run(['diff', '1', '--', name]);
    expect(said(await scene.run(['diff', '1', '--', 'same', 'nope'], { code: 3 }))).toMatch(
      /nope is neither in snapshot 1 nor in the folder as it is now[^]*tree t\/1/,
    );
    for (const args of [['1'], ['1', '2']])
      expect(said(await scene.run(['diff', ...args, '--', '.env'], { code: 3 }))).toContain('not stored (secret)');
  });

  test('by log, which finds what was there once', async () => {
    const scene = await twoSaves();
    await scene.save();
    for (const name of ['same', 'old', 'young', 'live', 'd/f', 'empty', '.'])
      expect((await scene.run(['log', '--', name])).stdout === '', name).toBe(name === 'empty');
    for (const name of ['nope', 'd/nope', 'old/below'])
      expect(said(await scene.run(['log', '--', 'same', name], { code: 3 }))).toContain(
        `${name} is in no snapshot of t.`,
      );
    expect(said(await scene.run(['log', '--', '.env'], { code: 3 }))).toContain('not stored (secret)');
    const { document } = await scene.json(['log', '--', 'nope'], { code: 3 });
    expect(document.error).toMatchObject({ code: 'PATH_NOT_FOUND', paths: ['nope'] });
  });
});

describe('after a restore of one mount', () => {
  async function restoredOne(): Promise<Scene> {
    const scene = new Scene();
    const web = scene.folder('web', { f: '1\n' });
    const api = scene.folder('api', { g: '1\n' });
    await scene.save([], { dirs: [web, api] });
    scene.folder('web', { f: '2\n' });
    await scene.run(['restore', '1', '--mount', 'web', '--yes']);
    return scene;
  }

  test('what is missing in "latest" is explained: it is the emergency snapshot, and which is the one before', async () => {
    const scene = await restoredOne();
    for (const args of [
      ['restore', 'latest', '--yes', '--mount', 'api'],
      ['restore', 'latest', '--yes', 'api:g'],
      ['cat', 'latest', 'api:g'],
      ['tree', 'latest', 'api:g'],
      ['diff', 'latest', '--', 'api:g'],
    ]) {
      const run = await scene.run(args, { code: 3 });
      expect(run.stderr).toContain(
        '"latest" is the emergency snapshot 2, taken before the restore to snapshot 1; the one before it is 1.',
      );
      expect(run.stderr).toMatch(/jackin-snap .*(tree|show) t\/1/);
    }
    expect((await scene.run(['cat', '2', 'api:g'], { code: 3 })).stderr).not.toContain('emergency');
    await scene.run(['cat', 'latest~1', 'api:g']);
  });

  test('log still knows the mounts of older snapshots', async () => {
    const scene = await restoredOne();
    expect((await scene.run(['log', '--name-only', '--format=', '--', 'api:g'])).stdout).toContain('api/g');
  });
});

test('a folder that is not there to be saved is no matter for a restore', async () => {
  const scene = new Scene();
  scene.write({ file: '' });
  for (const name of ['nope', 'file']) {
    const run = await scene.run(['save', name], { code: 4, instance: null });
    expect(run.stderr).toContain(scene.at(name));
    expect(run.stderr).toContain('list --all');
    expect(run.stderr).not.toContain('restore');
  }
});
