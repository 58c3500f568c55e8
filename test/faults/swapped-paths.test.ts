import { chmodSync, linkSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JackinSnap } from '../../src/index.js';
import { createSnap, isSnapError } from '../../src/index.js';
import { buildTree, makeFifo } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import { randomFrom } from '../support/random.js';
import { removeTree, removeWithin } from '../support/remove-tree.js';
import { testSeed } from '../support/seed.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { withTempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { directory, file, hardLink, symlink } from '../support/tree-plan.js';
import { writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';
import { betweenCalls } from './between-calls.js';

// Somebody swaps a path of the mount for something else while the program is at work: at every moment, the program
// reads, writes and deletes nothing outside of the mount, and never waits for a pipe.

const canary = 'CANARY-of-a-file-outside';

const inside: TreeSpec = [
  file('d/e/one', 'one\n'),
  file('d/e/two', 'two\n', 0o600),
  hardLink('d/e/three', 'd/e/two'),
  file('d/e/run', '#!/bin/sh\n', 0o755),
  symlink('d/e/link', 'one'),
  directory('d/e/empty', 0o700),
  file('d/f/more', 'more\n'),
  file('top', 'top\n'),
];

/** The same names as in the mount, and what is new there after the save: whoever is led here finds work to do. */
const outside: TreeSpec = [
  ...inside.flatMap((entry) =>
    entry.type === 'file' ? [{ ...entry, content: `${canary} ${entry.path}\n`, mode: 0o640 }] : [],
  ),
  file('d/e/new', canary),
  file('d/e/fresh/new', canary),
  file('d/canary-name', canary),
  file('d/f/canary-name', canary),
  directory('d/e/empty', 0o777),
];

interface Swap {
  readonly what: string;
  /** The path that is moved away, and how something else takes its place. */
  readonly path: string;
  readonly put: (there: string, outside: string) => void;
}

const swaps: readonly Swap[] = [
  { what: 'a folder for a link out', path: 'd', put: (there, out) => symlinkSync(join(out, 'd'), there) },
  { what: 'an inner folder for a link out', path: 'd/e', put: (there, out) => symlinkSync(join(out, 'd/e'), there) },
  { what: 'an inner folder for a link up', path: 'd/e', put: (there) => symlinkSync('..', there) },
  { what: 'a file for a link out', path: 'd/e/one', put: (there, out) => symlinkSync(join(out, 'd/e/one'), there) },
  { what: 'a file for a pipe', path: 'd/e/one', put: makeFifo },
  { what: 'a folder for a pipe', path: 'd/e', put: makeFifo },
  {
    what: 'a file of another mode for a link out',
    path: 'd/f/more',
    put: (there, out) => symlinkSync(join(out, 'd/f/more'), there),
  },
  { what: 'a file for a folder', path: 'd/e/two', put: (there) => mkdirSync(there) },
  { what: 'a folder for a file', path: 'd/e', put: (there) => writeFiles(join(there, '..'), { e: 'file\n' }) },
];

class Scene {
  readonly area: string;
  readonly mount: string;
  readonly outside: string;
  readonly dataDir: string;
  readonly snap: JackinSnap;

  constructor(area: string) {
    this.area = area;
    this.mount = join(area, 'mount');
    this.outside = join(area, 'outside');
    this.dataDir = join(area, 'data');
    mkdirSync(this.mount);
    const { PATH, HOME } = process.env;
    this.snap = createSnap({ dataDir: this.dataDir, cwd: this.mount, env: { PATH, HOME } });
  }

  async reset(): Promise<void> {
    for (const { path } of walkTree(this.mount).filter((entry) => !entry.path.includes('/')))
      removeWithin(this.mount, path);
    removeTree(this.outside);
    removeTree(join(this.area, 'away'));
    await buildTree(this.mount, inside);
    await buildTree(this.outside, outside);
  }

  /** Meddles once, at that moment. */
  swapAt({ at, nth }: Moment, { path, put }: Swap): (call: number, paths: readonly string[]) => void {
    let named = 0;
    let swapped = false;
    return (call, paths) => {
      const names = paths.some((argument) => argument.endsWith(nameOf(`/${path}`)));
      const due = { call: call === nth, before: names && named === nth, after: named === nth + 1 }[at];
      if (names) named += 1;
      if (swapped || !due) return;
      swapped = true;
      renameSync(join(this.mount, path), join(this.area, 'away'));
      put(join(this.mount, path), this.outside);
    };
  }

  /** All that is outside, times and inodes included. */
  look(): ReturnType<typeof walkTree> {
    return walkTree(this.outside, { withRoot: true });
  }

  expectUntouchedOutside(before: ReturnType<typeof walkTree>, where: string): void {
    expect(compareTrees(before, this.look(), { also: ['ino', 'mtimeNs', 'ctimeNs', 'nlink'] }), where).toEqual([]);
  }
}

/** Does it, and accepts any refusal that has a code for users; a bug has none. */
async function attempt(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return 'done';
  } catch (error) {
    if (isSnapError(error) && error.code !== 'INTERNAL') return error.code;
    throw error;
  }
}

/** Before or after the n-th call that names the swapped path, or before the n-th of all. */
interface Moment {
  readonly at: 'before' | 'after' | 'call';
  readonly nth: number;
}

const never: Moment = { at: 'call', nth: -1 };

/** As many of the telling moments as there is time for, and a few by chance. */
function moments(calls: readonly (readonly string[])[], { path }: Swap, seed: number): Moment[] {
  expect(calls.length).toBeGreaterThan(100);
  const random = randomFrom(seed);
  const naming = calls.filter((paths) => paths.some((argument) => argument.endsWith(nameOf(`/${path}`))));
  const telling = [...naming.keys()].flatMap((nth): Moment[] => [
    { at: 'before', nth },
    { at: 'after', nth },
  ]);
  while (telling.length > 14) telling.splice(random.below(telling.length), 1);
  return [...telling, { at: 'call', nth: random.below(calls.length) }, { at: 'call', nth: random.below(calls.length) }];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/'));
}

describe.each(swaps)('$what', (swap) => {
  test('swapped in during a save', async () => {
    const seed = testSeed();
    await withTempDir(async (area) => {
      const scene = new Scene(area);
      await scene.reset();
      await scene.snap.save();
      const outcomes = new Set<string>();
      const saveWith = async (at: Moment): Promise<string[][]> => {
        await scene.reset();
        writeFiles(scene.mount, { 'd/e/one': `one, ${at.at} ${at.nth}\n` });
        const before = scene.look();
        const calls = await betweenCalls(scene.swapAt(at, swap), async () => {
          outcomes.add(await attempt(() => scene.snap.save({ full: true })));
        });
        scene.expectUntouchedOutside(before, `swapped ${at.at} ${at.nth} of ${calls.length}`);
        return calls;
      };
      for (const at of moments(await saveWith(never), swap, seed)) await saveWith(at);

      expect(outcomes).toContain('done');
      const objects = storeGit(scene.dataDir, [
        'cat-file',
        '--batch-all-objects',
        '--batch',
        '--unordered',
      ]).stdoutBytes;
      expect(objects.includes(canary)).toBe(false);
      expect(objects.includes('canary-name')).toBe(false);
      expect(fsckStrict(scene.dataDir)).toEqual([]);
    });
  });

  test('swapped in during a restore', async () => {
    const seed = testSeed();
    await withTempDir(async (area) => {
      const scene = new Scene(area);
      await scene.reset();
      await scene.snap.save();
      const saved = walkTree(scene.mount);
      const restoreWith = async (at: Moment): Promise<string[][]> => {
        await scene.reset();
        writeFiles(scene.mount, {
          'd/e/one': 'edited\n',
          'd/e/two': 'edited\n',
          'd/e/new': 'n\n',
          'd/e/fresh/new': 'n\n',
        });
        chmodSync(join(scene.mount, 'd/f/more'), 0o777);
        removeWithin(scene.mount, 'd/e/run');
        removeWithin(scene.mount, 'd/e/empty');
        const before = scene.look();
        const restore = (): Promise<unknown> =>
          scene.snap.restore({ snapshot: '1', confirm: () => Promise.resolve(true) });
        const calls = await betweenCalls(scene.swapAt(at, swap), async () => {
          await attempt(restore);
        });
        const where = `swapped ${at.at} ${at.nth} of ${calls.length}`;
        scene.expectUntouchedOutside(before, where);

        // Once nobody meddles any more, the same restore leads to the end.
        if (walkTree(scene.mount).some(({ type }) => type === 'fifo')) removeWithin(scene.mount, swap.path);
        await restore();
        expect(compareTrees(saved, walkTree(scene.mount)), where).toEqual([]);
        scene.expectUntouchedOutside(before, where);
        return calls;
      };
      for (const at of moments(await restoreWith(never), swap, seed)) await restoreWith(at);
      expect(fsckStrict(scene.dataDir)).toEqual([]);
    });
  });
});

test.each([
  { what: 'content', damage: (there: string) => writeFiles(there, { 'd/e/one': 'edited\n' }) },
  { what: 'mode', damage: (there: string) => chmodSync(join(there, 'd/e/one'), 0o777) },
])('a name of an outside file that is swapped in while $what is restored is left alone', async ({ damage }) => {
  const seed = testSeed();
  const swap: Swap = {
    what: 'a file for another name of a file outside',
    path: 'd/e/one',
    put: (there, out) => linkSync(join(out, 'd/e/one'), there),
  };
  await withTempDir(async (area) => {
    const scene = new Scene(area);
    await scene.reset();
    await scene.snap.save();
    const restoreWith = async (at: Moment): Promise<string[][]> => {
      await scene.reset();
      damage(scene.mount);
      const before = scene.look();
      const calls = await betweenCalls(scene.swapAt(at, swap), async () => {
        await attempt(() => scene.snap.restore({ snapshot: '1', confirm: () => Promise.resolve(true) }));
      });
      expect(
        compareTrees(before, scene.look(), { also: ['ino', 'mtimeNs'] }),
        `swapped ${at.at} ${at.nth} of ${calls.length}`,
      ).toEqual([]);
      return calls;
    };
    for (const at of moments(await restoreWith(never), swap, seed)) await restoreWith(at);
  });
});
