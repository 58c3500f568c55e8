import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRepository } from '../support/user-git.js';
import { Scene, expectSame, keptReasons, planned, rememberUntouched, said } from './scene.js';

/** What a snapshot only saw: each path, and why. */
const notStored = { 'b/f': 'ignored', 'b/nosuch': 'ignored', b: 'ignored', big: 'too_large', '.env': 'secret' };

async function saved(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ '.gitignore': 'b/\n', a: 'then', 'b/f': 'then', big: 'x'.repeat(5000), '.env': 'k' });
  await scene.save(['--max-file-size', '4000']);
  return scene;
}

describe('a path that was seen and not stored, asked for by name', () => {
  test.each([
    {
      what: 'changed',
      become: (scene: Scene) => {
        scene.write({ 'b/f': 'now', big: 'now', '.env': 'k2' });
      },
    },
    {
      what: 'gone',
      become: (scene: Scene) => {
        scene.remove('b', 'big', '.env');
      },
    },
  ])('and $what since: the restore is partial, says why, and does nothing', async ({ become }) => {
    const scene = await saved();
    become(scene);
    const untouched = rememberUntouched(scene.mount);
    for (const [path, reason] of Object.entries(notStored)) {
      for (const args of [['--dry-run'], []]) {
        const restored = await scene.restore(1, [...args, '--', path], { code: 6 });
        expect(keptReasons(restored)).toEqual({ [path]: reason });
        expect(planned(restored)).toEqual([]);
        expect(restored.data.rollback_summary.emergency_snapshot).toBe(null);
        expect(restored.data.post_rollback_state.active_snapshot).toBe(null);
      }
      const text = said(await scene.run(['restore', '1', '--yes', '--', path], { code: 6 }));
      expect(text).toContain(`${path} was seen and not stored (${reason}): it stays as it is.`);
      expect(text).not.toMatch(/Nothing differs|as (it|they) (was|were)\b/);
    }
    expectSame(untouched);
    expect(await scene.numbers()).toEqual([1]);
  });

  test('beside others, which are restored, and the undo of that is whole', async () => {
    const scene = await saved();
    scene.write({ a: 'now' });
    scene.remove('big');
    const text = said(await scene.run(['restore', '1', '--yes', '--', 'a', 'big'], { code: 6 }));
    expect(text).toContain('big was seen and not stored (too_large)');
    expect([scene.read('a'), scene.read('big')]).toEqual(['then', null]);
    expect(keptReasons(await scene.undo())).toEqual({});
    expect(scene.read('a')).toBe('now');
    // A folder that is stored is put back as far as it is.
    expect(keptReasons(await scene.restore(1, ['--', '.']))).toEqual({});
    expect(scene.read('a')).toBe('then');
  });

  test('is named with its mount where there are several', async () => {
    const scene = await saved();
    const other = scene.folder('two', { '.env': 'k' });
    await scene.run(['save', '--mount', `one=${scene.mount}`, '--mount', `two=${other}`], { instance: 'both' });
    const both = { instance: 'both', code: 6 };
    const text = said(await scene.run(['restore', '1', '--yes', '--', 'two:.env', 'one:.env'], both));
    expect(text).toContain('two:.env was seen and not stored (secret)');
    expect(text).toContain('one:.env was seen and not stored (secret)');
  });

  test('is no reason for a copy elsewhere, which says why', async () => {
    const scene = await saved();
    const copy = join(scene.area, 'copy');
    for (const [path, reason] of Object.entries(notStored)) {
      const refused = await scene.run(['restore', '1', '--yes', '--to', copy, '--', path], { code: 3 });
      expect(said(refused)).toContain(`${path} was seen and not stored (${reason})`);
    }
    expect(said(await scene.run(['restore', '1', '--yes', '--to', copy, '--', 'nosuch'], { code: 3 }))).toContain(
      'nosuch is not in the snapshot',
    );
    expect(existsSync(copy)).toBe(false);
  });

  test('may be a repository, unless that is put back too', async () => {
    const scene = new Scene();
    createRepository(scene.mount);
    scene.write({ a: 'then' });
    await scene.save(['--protect-commits']);
    expect(keptReasons(await scene.restore(1, ['--', '.git'], { code: 6 }))).toEqual({ '.git': 'git_dir' });
    expect(keptReasons(await scene.restore(1, ['--git-state', '--', '.git']))).toEqual({});
  });
});
