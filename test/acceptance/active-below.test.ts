import { describe, expect, test } from 'vitest';
import { Scene, canMount, expectSame, mountTmpfs, rememberUntouched } from './scene.js';

describe('another session that is active', () => {
  test('in a folder of the mount stops just a restore that changes something there', async () => {
    const scene = new Scene();
    scene.write({ a: '0\n', 'sub/deep/f': '0\n', 'subway/f': '0\n', 'other/f': '0\n' });
    await scene.save();
    await scene.save([], { instance: 'below', dirs: [scene.at('sub/deep')] });
    scene.write({ a: '1\n', 'sub/deep/f': '1\n', 'sub/f': '1\n', 'subway/f': '1\n', 'other/f': '1\n' });
    await scene.run(['instance', 'activate', '--pid', String(process.pid)], { instance: 'below' });
    const still = rememberUntouched(scene.mount);
    for (const args of [[], ['--', 'a', 'sub/deep/f'], ['--', 'sub']]) {
      const refused = await scene.restore(1, args, { code: 4 });
      expect(refused.document.error?.code).toBe('INSTANCE_ACTIVE');
    }
    const dry = await scene.restore(1, ['--dry-run', '--', 'a', 'sub/deep/f']);
    expect(JSON.stringify(dry.document.messages)).toContain('below');
    expectSame(still);
    expect(await scene.numbers()).toEqual([1]);
    const restored = await scene.restore(1, ['--', 'a', 'subway', 'other/f', 'sub/f']);
    expect(JSON.stringify(restored.document.messages)).not.toContain('below');
    expect(['a', 'subway/f', 'other/f', 'sub/f'].map((path) => scene.read(path))).toEqual(['0\n', '0\n', '0\n', null]);
    expect(scene.read('sub/deep/f')).toBe('1\n');
    await scene.undo();
    expect([scene.read('a'), scene.read('sub/f')]).toEqual(['1\n', '1\n']);
  });

  test('in a folder that came since stops a restore that would take it away', async () => {
    const scene = new Scene();
    scene.write({ a: '0\n' });
    await scene.save();
    scene.write({ a: '1\n', 'new/work/f': 'f\n' });
    await scene.save([], { instance: 'below', dirs: [scene.at('new/work')] });
    await scene.run(['instance', 'activate', '--pid', String(process.pid)], { instance: 'below' });
    await scene.restore(1, [], { code: 4 });
    await scene.restore(1, ['--', 'new'], { code: 4 });
    await scene.restore(1, ['--no-delete']);
    expect([scene.read('a'), scene.read('new/work/f')]).toEqual(['0\n', 'f\n']);
  });

  test.runIf(canMount())('in what is mounted in the mount stops any restore of it', async () => {
    const scene = new Scene();
    scene.write({ a: '0\n' });
    await scene.save();
    mountTmpfs(scene.at('sub'), '1m');
    scene.write({ a: '1\n', 'sub/f': 'f\n' });
    await scene.save([], { instance: 'below', dirs: [scene.at('sub')] });
    await scene.run(['instance', 'activate', '--pid', String(process.pid)], { instance: 'below' });
    await scene.restore(1, ['--', 'a'], { code: 4 });
    expect(scene.read('a')).toBe('1\n');
  });
});
