import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { removeTree, removeWithin } from '../support/remove-tree.js';
import { makeTempDir, tempDir, withTempDir } from '../support/temp.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { deepEntries, worstTree } from '../support/worst-tree.js';

test('removes the worst tree that we can build', async () => {
  const root = `${tempDir()}/tree`;
  await buildTree(root, worstTree());

  removeTree(root);
  expect(existsSync(root)).toBe(false);
});

test('removes paths of a hundred thousand bytes', async () => {
  const root = `${tempDir()}/tree`;
  await buildTree(root, deepEntries('deep', 400));
  expect(walkTree(root)).toHaveLength(403);

  removeTree(root);
  expect(existsSync(root)).toBe(false);
});

test('removes directories nested a thousand deep', async () => {
  const root = `${tempDir()}/tree`;
  await buildTree(root, deepEntries('deep', 1000, 'd'));

  removeTree(root);
  expect(existsSync(root)).toBe(false);
});

test('removes what its owner may not even enter', async () => {
  const root = `${tempDir()}/tree`;
  await buildTree(root, [file('shut/in/file'), directory('shut/in', 0o000), directory('shut', 0o000)]);

  removeTree(root);
  expect(existsSync(root)).toBe(false);
});

test('follows no link, neither below the root nor as the root', async () => {
  const area = tempDir();
  await buildTree(area, [file('kept/file', 'kept'), symlink('tree/link', '../kept'), symlink('link', 'kept')]);

  removeTree(`${area}/tree`);
  removeTree(`${area}/link`);
  expect(readFileSync(`${area}/kept/file`, 'utf8')).toBe('kept');
  expect(walkTree(area).map(({ path }) => path)).toEqual(['kept', 'kept/file']);
});

test('a root that is missing is fine', () => {
  expect(() => removeTree(`${tempDir()}/nothing`)).not.toThrow();
});

test('removes one path of a tree', async () => {
  const root = tempDir();
  await buildTree(root, [file('a/b\xff/c'), file('a/d')]);

  removeWithin(root, 'a/b\xff');
  expect(walkTree(root).map(({ path }) => path)).toEqual(['a', 'a/d']);
});

test('a temporary directory goes when its act ends, also when it fails', async () => {
  let seen = '';
  const failing = withTempDir((path) => {
    seen = path;
    throw new Error('as planned');
  });

  await expect(failing).rejects.toThrow('as planned');
  expect(existsSync(seen)).toBe(false);
});

test('two temporary directories are never the same', () => {
  const [one, other] = [makeTempDir(), makeTempDir()];
  removeTree(one);
  removeTree(other);
  expect(one).not.toBe(other);
});
