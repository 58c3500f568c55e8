import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HostPath } from '../../../src/core/entry-path.js';
import type { WritableDirectory } from '../../../src/core/ports.js';
import { openMount } from '../../../src/fs/held-directory.js';
import type { Applied, ApplyRequest } from '../../../src/operations/restore/apply.js';
import { directory, file, symlink } from '../../support/tree-plan.js';
import { ApplyScene, asNobody, canBecomeNobody, nobody } from '../apply-scene.js';

// Names can be made and not be taken away: a file system that turns read-only in between, append-only directories.

const then = [file('a', '1'), file('d/b', '2'), file('new/c', '3'), file('new/e', '4'), symlink('l', 'then')];
const now = [file('d/b', 'now'), symlink('l', 'now')];

const ways = [
  { how: 'one by one', syncs: null },
  { how: 'together', syncs: 0 },
];

describe.each(ways)('temporary names of files that are written $how', ({ syncs }) => {
  test.each(['EROFS', 'EPERM', 'EACCES', 'EIO'])('are told when they cannot be taken away: %s', async (code) => {
    const scene = await ApplyScene.make(then, now);
    scene.syncs = syncs;
    const left = await leftBy(scene, code);
    expect(left).toEqual(scene.temporaries().map((path) => ({ path, problem: code })));
    expect(left.length).toBeGreaterThan(0);
  });

  test('are gone when a later look finds that they can be', async () => {
    const scene = await ApplyScene.make(then, now);
    scene.syncs = syncs;
    let failures = 2;
    const applied = await applyWith(scene, () => (failures-- > 0 ? 'EROFS' : undefined));
    expect([applied.skipped, applied.left, scene.unlikeThen()]).toEqual([[], [], []]);
  });

  test('are no more than one in a folder, unless they may be left', async () => {
    const scene = await ApplyScene.make([file('d/a', '1'), file('d/b', '2'), file('d/c', '3')], [directory('d')]);
    scene.syncs = null;
    const applied = await applyWith(scene, () => 'EPERM');
    expect(applied.skipped.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      'd/b not_permitted',
      'd/c not_permitted',
    ]);
    expect(scene.temporaries()).toHaveLength(1);
    const forced = await applyWith(scene, () => 'EPERM', { resumed: true, mayLeaveTemporaries: true });
    expect(forced.skipped).toEqual([]);
    expect(forced.left.map(({ path }) => path).sort()).toEqual(scene.temporaries());
    const wholly = await scene.apply({ resumed: true });
    expect([wholly.left, wholly.skipped, scene.unlikeThen()]).toEqual([[], [], []]);
  });
});

describe('temporary names of a run that was interrupted', () => {
  test.each([
    { direction: 'finished', forwards: true },
    { direction: 'taken back', forwards: false },
  ])('are taken away before it is $direction', async ({ forwards }) => {
    const scene = await ApplyScene.make(then, now);
    scene.syncs = 0;
    expect(await leftBy(scene, 'EROFS')).not.toEqual([]);
    const changes = forwards ? scene.changes : scene.inverses;
    const { skipped, left } = await scene.apply({ changes, resumed: true });
    expect([skipped, left, forwards ? scene.unlikeThen() : scene.unlikeNow()]).toEqual([[], [], []]);
  });

  test('stay where they are none of ours: a directory, another number, a filled staging directory', async () => {
    const scene = await ApplyScene.make(then, now);
    for (const name of ['d/.jackin-TEST-7', '.jackin-TEST-0']) mkdirSync(join(scene.mount, name));
    for (const name of ['.jackin-TEST-0/mine', '.jackin-TEST-x', '.jackin-TEST-8'])
      writeFileSync(join(scene.mount, name), '');
    const { skipped, left } = await scene.apply({ resumed: true });
    expect([skipped, left]).toEqual([[], []]);
    expect(scene.temporaries()).toEqual([
      '.jackin-TEST-0',
      '.jackin-TEST-0/mine',
      '.jackin-TEST-x',
      'd/.jackin-TEST-7',
    ]);
  });

  test('do not take the name of a new one', async () => {
    const scene = await ApplyScene.make(then, now);
    writeFileSync(join(scene.mount, 'd/.jackin-TEST-1'), 'left');
    const request = { resumed: true, mayLeaveTemporaries: true };
    const applied = await applyWith(scene, (name) => (name === '.jackin-TEST-1' ? 'EPERM' : undefined), request);
    expect([applied.skipped, applied.left.map(({ path }) => path)]).toEqual([[], ['d/.jackin-TEST-1']]);
  });
});

test.skipIf(!canBecomeNobody)('a staging directory goes from a root that the restore locks', async () => {
  const scene = await ApplyScene.make([...then, directory('', 0o555)], [...now, directory('', 0o755)], nobody);
  scene.syncs = 0;
  const applied = await asNobody(() => scene.apply());
  expect([applied.skipped, applied.left, scene.unlikeThen()]).toEqual([[], [], []]);
});

test('a sync that fails on the way to a temporary name ends the restore', async () => {
  const scene = await ApplyScene.make([file('d/a', '1'), file('e/b', '2')], [directory('d'), directory('e')]);
  const applied = applyWith(scene, () => 'EROFS', {}, 'sync');
  await expect(applied).rejects.toMatchObject({ code: 'EIO' });
});

async function leftBy(scene: ApplyScene, code: string): Promise<Applied['left']> {
  const { left } = await applyWith(scene, () => code).catch((error: unknown) => {
    // A disk error ends it where the next name would be needed.
    if (code !== 'EIO') throw error;
    return { left: scene.temporaries().map((path) => ({ path: path as never, problem: code })) };
  });
  return [...left].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Applies where taking away a name of ours fails with the error that is answered, if any. */
async function applyWith(
  scene: ApplyScene,
  failure: (name: string) => string | undefined,
  more: Partial<ApplyRequest> = {},
  fails?: 'sync',
): Promise<Applied> {
  const root = openMount(scene.mount as HostPath);
  const wrap = (held: WritableDirectory): WritableDirectory =>
    new Proxy(held, {
      get(target, member): unknown {
        const own: unknown = Reflect.get(target, member, target);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]): unknown => {
          if (member === fails) throw failed('EIO');
          const code = isTakenAway(member, args) ? failure(String(args[0])) : undefined;
          if (code !== undefined) throw failed(code);
          const result: unknown = Reflect.apply(own, target, args);
          return member === 'enter' ? wrap(result as WritableDirectory) : result;
        };
      },
    });
  try {
    return await scene.apply({ root: wrap(root), ...more });
  } finally {
    root.close();
  }
}

function isTakenAway(member: string | symbol, [name]: unknown[]): boolean {
  return (member === 'unlink' || member === 'removeDirectory') && String(name).startsWith('.jackin-');
}

function failed(code: string): Error {
  return Object.assign(new Error(code), { code });
}
