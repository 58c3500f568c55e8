import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scene, said } from './scene.js';

async function withoutStore(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  scene.write({ a: '2' });
  await scene.save();
  renameSync(scene.store, join(scene.area, 'copy'));
  return scene;
}

describe('a store that is gone', () => {
  test('is damage, and no command takes it for one that was never made', async () => {
    const scene = await withoutStore();
    const verified = await scene.json(['verify'], { code: 7 });
    expect(verified.data).toMatchObject({ sound: false, problems: [expect.stringMatching(/store is gone.* of t\./)] });
    for (const args of [['doctor'], ['doctor', '--fix']]) {
      const { data } = await scene.json(args, { code: 7 });
      expect(data).toMatchObject({ healthy: false, damaged: true });
    }
    for (const args of [['list'], ['show', 'latest'], ['cat', '1', 'a'], ['diff', '1'], ['log'], ['undo', '--yes']]) {
      const { document } = await scene.json(args[0] === 'diff' || args[0] === 'log' ? ['show', '1'] : args, {
        code: 7,
      });
      expect(document.error?.code, args.join(' ')).toBe('STORE_DAMAGED');
      expect(said(await scene.run(args, { code: 7 }))).toContain('The store is gone');
    }
    expect(said(await scene.run(['restore', '1', '--yes'], { code: 7 }))).toContain('The store is gone');
    renameSync(join(scene.area, 'copy'), scene.store);
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });

  test('stops no save, which says what is lost, once', async () => {
    const scene = await withoutStore();
    const saved = await scene.json(['save']);
    expect(saved.document.messages.join('\n')).toMatch(/store is gone.* A new one was made/);
    expect((await scene.json(['save'])).document.messages.join('\n')).not.toContain('is gone');
    await scene.run(['verify']);
  });

  test('is told by a save that fails, too, and by a run', async () => {
    const scene = await withoutStore();
    mkdirSync(scene.at('.git'));
    writeFileSync(scene.at('.git', 'HEAD'), 'x');
    const failed = await scene.json(['save', '--path', 'nothing-there'], { code: [0, 3] });
    const told = [failed.document.error?.message ?? '', ...failed.document.messages].join('\n');
    expect(told).toContain('The store is gone');
    rmSync(scene.store, { recursive: true, force: true });
    expect((await scene.run(['run', '--', 'true'])).stderr).toContain('The store is gone');
  });

  test('leaves the numbers that other files tell as used', async () => {
    const scene = await withoutStore();
    renameSync(join(scene.area, 'copy'), scene.store);
    await scene.restore(1);
    const { seq } = await scene.emergency();
    rmSync(scene.store, { recursive: true });
    const saved = await scene.json(['save']);
    expect(saved.data.snapshot.seq).toBe(Number(seq) + 1);
  });

  test('was none where nothing was ever saved', async () => {
    const scene = new Scene();
    mkdirSync(scene.dataDir, { mode: 0o700 });
    await scene.run(['verify']);
    await scene.run(['doctor']);
  });
});
