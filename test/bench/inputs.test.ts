import { expect, test } from 'vitest';
import { makeCodeTree } from '../../bench/inputs/code-tree.js';
import { readPackages } from '../../bench/inputs/package-files.js';
import { makeDeepTree, makeSmallFiles } from '../../bench/inputs/plain-trees.js';
import type { Input } from '../../bench/inputs/recipe.js';
import { InputWriter } from '../../bench/inputs/writer.js';
import type { Random } from '../support/random.js';
import { randomFrom } from '../support/random.js';
import { tempDir } from '../support/temp.js';
import { walkTree } from '../support/walk.js';
import { checkout } from '../toolchain/scratch.js';

const packages = readPackages(checkout, randomFrom(1)).slice(0, 3);
const oneVersion = packages.flatMap(({ files }) => files).length;

const kinds: readonly { kind: string; files: number; make: (writer: InputWriter, random: Random) => Input }[] = [
  { kind: 'code', files: 3 * oneVersion, make: (writer, random) => makeCodeTree(writer, packages, random) },
  { kind: 'small files', files: 130, make: makeSmallFiles },
  { kind: 'deep', files: 24, make: (writer, random) => makeDeepTree(writer, { chains: 3, levels: 4 }, random) },
];

test.each(kinds)('$kind: a seed makes the same files each time, another seed others', ({ files, make }) => {
  const [one, again, other] = [1, 1, 2].map((seed) => {
    const folder = tempDir();
    const input = make(new InputWriter('input', folder, files), randomFrom(seed));
    const found = walkTree(folder).filter(({ type }) => type === 'file');
    expect(input).toMatchObject({ files, bytes: found.reduce((sum, { size }) => sum + size, 0) });
    expect(found).toHaveLength(files);
    expect(input.distinctContents).toBe(new Set(found.map(({ sha256 }) => sha256)).size);
    expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining([...input.changeable]));
    return found.map(({ path, sha256 }) => `${path} ${sha256}`);
  });
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
});

test('code comes in versions that share two files in five', () => {
  const writer = new InputWriter('input', tempDir(), 11 * oneVersion);
  const { distinctContents } = makeCodeTree(writer, packages, randomFrom(3));
  expect(distinctContents / (10 * oneVersion)).toBeGreaterThan(0.5);
  expect(distinctContents / (10 * oneVersion)).toBeLessThan(0.8);
});

test('nothing in the packages is left out by default', () => {
  const paths = readPackages(checkout, randomFrom(1)).flatMap(({ files }) => files.map(({ path }) => path));
  expect(paths.length).toBeGreaterThan(5000);
  expect(paths.filter((path) => /(^|\/)(node_modules|\.git|\.gitignore)(\/|$)/.test(path))).toEqual([]);
});
