import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryTree } from '../support/arbitrary-tree.js';
import { buildTree } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import type { DamageAction } from '../support/damage-actions.js';
import { damageActions } from '../support/damage-actions.js';
import { damage } from '../support/damage.js';
import { testSeed } from '../support/seed.js';
import { tempDir, withTempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { directory, file, hardLink, special, symlink } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { worstTree } from '../support/worst-tree.js';

const actions = Object.keys(damageActions) as DamageAction[];

const varied: TreeSpec = [
  file('a', 'some content\n'),
  file('b/one', 'shared'),
  hardLink('b/two', 'b/one'),
  symlink('b/link', 'one'),
  file('c/d/e', 'deep', 0o400),
  directory('c/d', 0o555),
  directory('empty'),
];

test('the same seed does the same to an equal tree', async () => {
  const area = tempDir();
  const seed = testSeed();
  await buildTree(`${area}/a`, worstTree());
  await buildTree(`${area}/b`, worstTree());

  const reports = damage(`${area}/a`, seed, { rounds: 60 });
  expect(reports).toHaveLength(60);
  expect(damage(`${area}/b`, seed, { rounds: 60 })).toEqual(reports);
  expect(compareTrees(walkTree(`${area}/a`), walkTree(`${area}/b`))).toEqual([]);
});

test('another seed does something else', async () => {
  const area = tempDir();
  await buildTree(`${area}/a`, varied);
  await buildTree(`${area}/b`, varied);

  expect(damage(`${area}/a`, 1)).not.toEqual(damage(`${area}/b`, 2));
});

test('whatever tree it is given, it copes and can be replayed', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryTree({ withSpecial: true, withGitDirs: true }), fc.nat(), (spec, seed) =>
      withTempDir(async (area) => {
        await buildTree(`${area}/a`, spec);
        await buildTree(`${area}/b`, spec);

        expect(damage(`${area}/a`, seed, { actions })).toEqual(damage(`${area}/b`, seed, { actions }));
        expect(compareTrees(walkTree(`${area}/a`), walkTree(`${area}/b`))).toEqual([]);
      }),
    ),
    { seed: testSeed(), numRuns: 100 },
  );
});

test.each(actions)('"%s" leaves a tree that differs', async (action) => {
  const root = tempDir();
  await buildTree(root, varied);
  const before = walkTree(root, { lendModes: true });

  const reports = damage(root, testSeed(), { rounds: 1, actions: [action] });
  expect(reports).toMatchObject([{ round: 0, action }]);
  expect(compareTrees(before, walkTree(root, { lendModes: true }))).not.toEqual([]);
});

test('an edit that goes unnoticed changes content and ctime, not size and mtime', async () => {
  const root = tempDir();
  await buildTree(root, [file('f\xff', 'content', 0o444)]);
  const [before] = walkTree(root);

  damage(root, testSeed(), { rounds: 1, actions: ['edit unnoticed'] });
  const [after] = walkTree(root);
  expect(after).toMatchObject({ size: before!.size, mtimeNs: before!.mtimeNs, mode: before!.mode, ino: before!.ino });
  expect(after!.sha256).not.toBe(before!.sha256);
  expect(after!.ctimeNs).not.toBe(before!.ctimeNs);
});

test('what is protected stays as it is, with .git directories and special files', async () => {
  const root = tempDir();
  const kept = [file('keep/in/file', 'kept'), file('repo/.git/HEAD', 'x'), special('pipes/pipe', 'fifo')];
  await buildTree(root, [...varied, ...kept]);
  const protect = (path: string): boolean => path === 'keep/in' || path.startsWith('keep/in/');
  const before = walkTree(root).filter(({ path }) => protect(path) || /\.git|pipe$/.test(path));

  damage(root, testSeed(), { rounds: 200, protect });
  const after = walkTree(root, { lendModes: true });
  const lines = compareTrees(before, after, { also: ['ino', 'mtimeNs'] });
  expect(lines.filter((line) => !line.startsWith('unexpected'))).toEqual([]);
  expect(after.filter(({ path }) => path.startsWith('keep/in/')).map(({ path }) => path)).toEqual(['keep/in/file']);
});

test('a tree that is empty gets something new', () => {
  const root = tempDir();
  expect(damage(root, testSeed(), { rounds: 1 })).toHaveLength(1);
  expect(walkTree(root).length).toBeGreaterThan(0);
});
