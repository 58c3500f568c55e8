import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryName, arbitraryTree } from '../support/arbitrary-tree.js';
import { buildTree } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import { testSeed } from '../support/seed.js';
import { withTempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';

test('every tree that is generated can be built, twice the same', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryTree({ withSpecial: true, withGitDirs: true, withRules: true }), (spec) =>
      withTempDir(async (area) => {
        await buildTree(`${area}/a`, spec);
        await buildTree(`${area}/b`, spec);
        const [a, b] = [walkTree(`${area}/a`), walkTree(`${area}/b`)];

        expect(compareTrees(a, b)).toEqual([]);
        expect(a.map(({ path }) => path)).toEqual(expect.arrayContaining(spec.map(({ path }) => path)));
      }),
    ),
    { seed: testSeed(), numRuns: 150 },
  );
});

test('names are legal', () => {
  fc.assert(
    fc.property(arbitraryName({ withRules: true }), (name) => {
      expect(name).toMatch(/^[^\0/]{1,255}$/);
      expect(['.', '..']).not.toContain(name);
    }),
    { seed: testSeed(), numRuns: 2000 },
  );
});

const sights: { what: string; seen: (spec: TreeSpec) => boolean }[] = [
  { what: 'an empty tree', seen: (spec) => spec.length === 0 },
  { what: 'more than twenty entries', seen: (spec) => spec.length > 20 },
  { what: 'a hard link', seen: (spec) => spec.some(({ type }) => type === 'hardlink') },
  { what: 'a path beyond 4096 bytes', seen: (spec) => spec.some(({ path }) => path.length > 4096) },
  { what: 'a name of 255 bytes', seen: (spec) => spec.some(({ path }) => /[^/]{255}/.test(path)) },
  { what: 'a name that is not UTF-8', seen: (spec) => spec.some(({ path }) => /(^|\/)[\x80-\xbf]/.test(path)) },
  { what: 'a name that git forbids', seen: (spec) => spec.some(({ path }) => /(^|\/)git~1(\/|$)/.test(path)) },
  { what: 'a file in a directory in a directory', seen: (spec) => spec.some(({ path }) => /^.+\/.+\/.+$/s.test(path)) },
  { what: 'a socket', seen: (spec) => spec.some(({ type }) => type === 'socket') },
  { what: 'a read-only directory', seen: (spec) => spec.some((e) => e.type === 'directory' && !(e.mode! & 0o200)) },
];

test.each(sights)('among the trees is $what', ({ seen }) => {
  const trees = fc.sample(arbitraryTree({ withSpecial: true }), { seed: 1, numRuns: 2000 });
  expect(trees.some(seen)).toBe(true);
});

test('an ordinary user can read all that is generated for them', () => {
  const trees = fc.sample(arbitraryTree({ privileged: false }), { seed: 2, numRuns: 500 });
  const shut = trees.flat().filter((entry) => {
    if (entry.type === 'directory') return (entry.mode! & 0o500) !== 0o500;
    return entry.owner !== undefined || (entry.type === 'file' && (entry.mode! & 0o400) === 0);
  });
  expect(trees.flat().length).toBeGreaterThan(1000);
  expect(shut).toEqual([]);
});

test('without rules no tree holds a .git directory, an ignore file or the name of a secret', () => {
  const entries = fc.sample(arbitraryTree(), { seed: 3, numRuns: 1000 }).flat();
  const odd = entries.filter(({ path, type }) => {
    if (type === 'directory' && /(^|\/)\.git$/.test(path)) return true;
    return /(^|\/)\.git\//.test(path) || /(^|\/)(\.gitignore|\.env|[^/]*\.pem)(\/|$)/.test(path);
  });
  expect(odd).toEqual([]);
});

test.each([1, 2, 3, 4, 5, 6])('a failure shrinks to the entry that matters, from seed %i', (seed) => {
  const isFine = (spec: TreeSpec): boolean =>
    !spec.some((entry) => entry.type === 'file' && JSON.stringify(entry.content).includes('\\u0000'));
  const outcome = fc.check(fc.property(arbitraryTree(), isFine), { seed, numRuns: 1000 });
  expect(outcome.counterexample?.[0]).toMatchObject([{ path: 'a', mode: 0o644 }]);
});
