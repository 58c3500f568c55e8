import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { treeFingerprint } from '../support/compare.js';
import { ApplyScene, asNobody, canBecomeNobody, countSteps, nobody } from './apply-scene.js';
import { allPairs, scenes } from './apply-scenes.js';

async function isCarriedOut(scene: ApplyScene): Promise<void> {
  const applied = await scene.apply();
  expect([applied.skipped, scene.unlikeThen(), scene.temporaries()]).toEqual([[], [], []]);
  expect(applied.done).toEqual(scene.changes);
}

describe('a plan that is carried out', () => {
  test('leads from any form of a path to any other', async () => {
    const { then, now } = allPairs();
    const scene = await ApplyScene.make(then, now);
    await isCarriedOut(scene);
  });

  test('may be taken back, from any form to any other', async () => {
    const { then, now } = allPairs();
    const scene = await ApplyScene.make(then, now);
    await scene.apply();
    const back = await scene.apply({ changes: scene.inverses });
    expect([back.skipped, scene.unlikeNow(), scene.temporaries()]).toEqual([[], [], []]);
  });

  test.each(scenes)('$what', async ({ then, now }) => {
    await isCarriedOut(await ApplyScene.make(then, now));
  });

  test.each(scenes)('$what: and taken back', async ({ then, now }) => {
    const scene = await ApplyScene.make(then, now);
    await scene.apply();
    const back = await scene.apply({ changes: scene.inverses });
    expect([back.skipped, scene.unlikeNow()]).toEqual([[], []]);
  });

  test.each(scenes)('$what: twice is once, and the second time changes nothing on disk', async ({ then, now }) => {
    const scene = await ApplyScene.make(then, now);
    await scene.apply();
    const before = treeFingerprint(scene.mount);
    const again = await scene.apply();
    expect([again.skipped, again.bytesWritten]).toEqual([[], 0]);
    expect(treeFingerprint(scene.mount)).toBe(before);
  });

  test('counts what it wrote', async () => {
    const { then, now } = scenes[0]!;
    const scene = await ApplyScene.make(then, now);
    const sizes: number[] = [];
    const { bytesWritten } = await scene.apply({ onFile: (bytes) => sizes.push(bytes) });
    expect([bytesWritten, sizes]).toEqual([2, [1, 1]]);
  });

  test('leaves holes where there were holes', async () => {
    const { then, now } = scenes.at(-1)!;
    const scene = await ApplyScene.make(then, now);
    await scene.apply();
    expect(lstatSync(join(scene.mount, 's')).blocks * 512).toBeLessThan(100_000);
    expect(lstatSync(join(scene.mount, 'z')).blocks * 512).toBeLessThan(100_000);
  });

  test('of nothing touches nothing', async () => {
    const { then } = scenes[1]!;
    const scene = await ApplyScene.make(then, then);
    const before = treeFingerprint(scene.mount);
    expect(scene.changes).toEqual([]);
    await scene.apply();
    expect(treeFingerprint(scene.mount)).toBe(before);
  });
});

const directions = [
  { ends: 'is finished', forwards: true },
  { ends: 'is taken back', forwards: false },
] as const;

describe.each(directions)('killed at any step, it $ends', ({ forwards }) => {
  test.each(scenes)('$what', async ({ then, now }) => {
    await fromEveryStep(await ApplyScene.make(then, now), forwards, (act) => act());
  });

  test('and killed once more on that way, it still does', async () => {
    const { then, now } = scenes[1]!;
    const scene = await ApplyScene.make(then, now);
    const steps = await countSteps(scene);
    for (let step = 1; step < steps; step += 3) {
      const way = forwards ? scene.changes : scene.inverses;
      for (let second = 0; second < steps; second += 4) {
        await scene.build(now);
        await scene.applyUntilKilled(step);
        scene.removeTemporaries();
        await scene.applyUntilKilled(second, way);
        scene.removeTemporaries();
        const { skipped } = await scene.apply({ changes: way, lentBefore: scene.lent });
        expect([skipped, unlike(scene, forwards)], `steps ${step}, ${second}`).toEqual([[], []]);
      }
    }
  });

  const lending = scenes.filter(({ what }) => what.includes('folder'));
  test.runIf(canBecomeNobody).each(lending)('$what, for an ordinary user', async ({ then, now }) => {
    const scene = await ApplyScene.make(then, now, nobody);
    await fromEveryStep(scene, forwards, asNobody);
  });
});

function unlike(scene: ApplyScene, forwards: boolean): string[] {
  return forwards ? scene.unlikeThen() : scene.unlikeNow();
}

async function fromEveryStep(
  scene: ApplyScene,
  forwards: boolean,
  as: <T>(act: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const steps = await as(() => countSteps(scene));
  expect(scene.unlikeThen()).toEqual([]);
  for (let step = 0; step <= steps; step++) {
    await scene.build(scene.now);
    scene.lent.clear();
    const end = await as(() => scene.applyUntilKilled(step));
    expect(end).toBe(step === steps ? 'done' : 'killed');
    scene.removeTemporaries();
    const changes = forwards ? scene.changes : scene.inverses;
    const lentBefore = new Map(scene.lent);
    const { skipped } = await as(() => scene.apply({ changes, lentBefore }));
    expect([skipped, unlike(scene, forwards), scene.temporaries()], `step ${step} of ${steps}`).toEqual([[], [], []]);
  }
}

describe.runIf(canBecomeNobody)('for an ordinary user', () => {
  test('permissions are lent, written down first, and given back', async () => {
    const { then, now } = scenes.find(({ what }) => what.startsWith('modes of folders'))!;
    const scene = await ApplyScene.make(then, now, nobody);
    const { skipped } = await asNobody(() => scene.apply());
    expect([skipped, scene.unlikeThen()]).toEqual([[], []]);
    expect([...scene.lent]).toEqual([['e', 0o555]]);
  });

  test.each(scenes)('$what: all of it, without being root', async ({ then, now }) => {
    const scene = await ApplyScene.make(then, now, nobody);
    const { skipped, ownersNotSet } = await asNobody(() => scene.apply());
    expect([skipped, ownersNotSet, scene.unlikeThen()]).toEqual([[], [], []]);
    expect(existsSync(scene.mount)).toBe(true);
  });
});
