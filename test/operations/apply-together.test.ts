import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { file } from '../support/tree-plan.js';
import { ApplyScene, countSteps } from './apply-scene.js';
import { allPairs, scenes } from './apply-scenes.js';

// Many files are written under temporary names, made durable together, and only then put in place.

async function makeTogether(...[then, now]: Parameters<typeof ApplyScene.make>): Promise<ApplyScene> {
  const scene = await ApplyScene.make(then, now);
  scene.syncs = 0;
  return scene;
}

describe('files that are synced together', () => {
  test('lead from any form of a path to any other, and back', async () => {
    const { then, now } = allPairs();
    const scene = await makeTogether(then, now);
    const applied = await scene.apply();
    expect([applied.skipped, scene.unlikeThen(), scene.temporaries()]).toEqual([[], [], []]);
    expect(applied.done).toEqual(scene.changes);
    const back = await scene.apply({ changes: scene.inverses });
    expect([back.skipped, scene.unlikeNow(), scene.temporaries()]).toEqual([[], [], []]);
  });

  test.each(
    [
      { direction: 'finished', forwards: true },
      { direction: 'taken back', forwards: false },
    ].flatMap((way) => scenes.map((scene) => ({ ...way, ...scene }))),
  )('$what: killed at any step, $direction', async ({ then, now, forwards }) => {
    const scene = await makeTogether(then, now);
    const steps = await countSteps(scene);
    expect(scene.unlikeThen()).toEqual([]);
    for (let step = 0; step <= steps; step++) {
      await scene.build(scene.now);
      scene.lent.clear();
      expect(await scene.applyUntilKilled(step)).toBe(step === steps ? 'done' : 'killed');
      scene.removeTemporaries();
      const changes = forwards ? scene.changes : scene.inverses;
      const { skipped } = await scene.apply({ changes, lentBefore: new Map(scene.lent) });
      const unlike = forwards ? scene.unlikeThen() : scene.unlikeNow();
      expect([skipped, unlike, scene.temporaries()], `step ${step} of ${steps}`).toEqual([[], [], []]);
    }
  });

  test('are synced before the first of them has its name, and once more at the end', async () => {
    const scene = await makeTogether([file('a', '1'), file('d/b', '2'), file('d/c', '3')], []);
    const seen: string[][] = [];
    await scene.apply({
      syncFileSystem: () => {
        seen.push(scene.look().flatMap(({ path, type }) => (type === 'file' ? [path] : [])));
        return Promise.resolve(true);
      },
    });
    const [atFirst, written, atLast] = seen;
    expect([atFirst, written?.length, atLast, seen.length]).toEqual([[], 3, ['a', 'd/b', 'd/c'], 3]);
    expect(written?.filter((path) => ['a', 'd/b', 'd/c'].includes(path))).toEqual([]);
  });

  test('leave alone what changed while they were written', async () => {
    const scene = await makeTogether([file('a', 'then'), file('b', 'then')], [file('a', 'now')]);
    let syncs = 0;
    const { skipped } = await scene.apply({
      syncFileSystem: () => {
        if (++syncs !== 2) return Promise.resolve(true);
        writeFileSync(join(scene.mount, 'a'), 'changed by somebody');
        writeFileSync(join(scene.mount, 'b'), 'made by somebody');
        return Promise.resolve(true);
      },
    });
    expect(skipped.map(({ path }) => path).sort()).toEqual(['a', 'b']);
    expect(scene.temporaries()).toEqual([]);
  });

  test('are written one by one where nothing syncs a file system', async () => {
    const scene = await ApplyScene.make([file('a', '1'), file('b', '2')], []);
    await scene.apply({ syncedTogetherFrom: 1, syncFileSystem: () => Promise.resolve(false) });
    expect([scene.unlikeThen(), scene.temporaries()]).toEqual([[], []]);
  });

  test.each([1, 2])('are no files of the mount when sync number %i fails', async (failing) => {
    const scene = await makeTogether([file('a', '1'), file('b', '2')], []);
    let syncs = 0;
    const failed = scene.apply({ syncFileSystem: () => Promise.resolve(syncs++ !== failing) });
    await expect(failed).rejects.toMatchObject({ code: 'EIO' });
    expect(scene.temporaries()).toEqual([]);
    if (failing === 1) expect(scene.look().map(({ path }) => path)).toEqual(['']);
  });
});
