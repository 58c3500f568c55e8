import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { escapeName, toBytes } from '../support/bytes.js';
import { buildTree } from '../support/build-tree.js';
import { compareTrees, treeFingerprint } from '../support/compare.js';
import { runProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';
import type { EntrySpec } from '../support/tree-plan.js';
import { directory, file, hardLink, symlink } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import type { TreeEntry } from '../support/walk.js';
import { worstTree } from '../support/worst-tree.js';

test('the walker sees what find sees, in the worst tree that we can build', async () => {
  const root = `${tempDir()}/tree`;
  await buildTree(root, worstTree());

  const [walked, found] = [new Set(walkTree(root).map(asFindPrints)), new Set(find(root))];
  expect([...walked].filter((line) => !found.has(line)).map(escapeName)).toEqual([]);
  expect([...found].filter((line) => !walked.has(line)).map(escapeName)).toEqual([]);
});

test('what was planned is what is found', async () => {
  const root = `${tempDir()}/tree`;
  const plan = worstTree();
  await buildTree(root, plan);

  const found = new Map(walkTree(root).map((entry) => [entry.path, entry]));
  expect(plan.map((entry) => asPlanned(entry, found.get(entry.path)!))).toEqual(plan.map(expectation));
});

test('a sparse file has its size and its holes', async () => {
  const root = tempDir();
  await buildTree(root, [file('sparse', { size: 2 ** 31 + 9, pieces: [{ at: 2 ** 31, bytes: 'here' }] })]);

  const [sparse] = walkTree(root);
  expect(sparse).toMatchObject({ size: 2 ** 31 + 9 });
  expect(sparse!.blocks).toBeLessThan(1000);
});

test('hard links count as a group only where the tree holds two of them', async () => {
  const root = tempDir();
  await buildTree(root, [file('in/z'), hardLink('in/b', 'in/z'), file('in/lone'), hardLink('out', 'in/lone')]);

  const groups = walkTree(`${root}/in`).map(({ path, linkGroup }) => [path, linkGroup]);
  expect(groups).toEqual([
    ['b', 'b'],
    ['lone', null],
    ['z', 'b'],
  ]);
});

test('a .git directory is left out on request, a .git file never', async () => {
  const root = tempDir();
  await buildTree(root, [file('.git/HEAD'), file('a/.git'), file('b/.git/HEAD'), file('c/.GIT/HEAD')]);

  const paths = walkTree(root, { skipGitDirs: true }).map(({ path }) => path);
  expect(paths).toEqual(['a', 'a/.git', 'b', 'c', 'c/.GIT', 'c/.GIT/HEAD']);
});

const changes = [
  { what: 'content', entry: file('f', 'b'), line: /^changed "f": sha256 / },
  { what: 'a mode', entry: file('f', 'a', 0o600), line: 'changed "f": mode 0644 -> 0600' },
  { what: 'a type', entry: symlink('f', 'a'), line: /^changed "f": type file -> symlink, .*target none -> "a"/ },
  { what: 'a new name', entry: file('g\xff\n', 'a'), line: 'unexpected file "g\\xff\\n"' },
];

test.each(changes)('a comparison names $what', async ({ entry, line }) => {
  const area = tempDir();
  await buildTree(`${area}/a`, [file('f', 'a')]);
  await buildTree(`${area}/b`, entry.path === 'f' ? [entry] : [file('f', 'a'), entry]);

  const lines = compareTrees(walkTree(`${area}/a`), walkTree(`${area}/b`));
  expect(lines).toEqual([typeof line === 'string' ? line : expect.stringMatching(line)]);
});

test('equal trees have no differences, though inodes and times differ', async () => {
  const area = tempDir();
  await buildTree(`${area}/a`, worstTree());
  await buildTree(`${area}/b`, worstTree());

  const [a, b] = [walkTree(`${area}/a`), walkTree(`${area}/b`)];
  expect(compareTrees(a, b)).toEqual([]);
  expect(compareTrees(a, b, { also: ['ino'] })).not.toEqual([]);
  expect(compareTrees(a, [])).toHaveLength(a.length);
});

test('a fingerprint tells a rewrite with the same bytes and a touch of the root', async () => {
  const root = tempDir();
  await buildTree(root, [file('f', 'a'), directory('d')]);
  const before = treeFingerprint(root);

  expect(treeFingerprint(root)).toBe(before);
  runProcess('sh', ['-c', 'cp f g && mv g f'], { cwd: root, env: environment, timeout: 10_000 });
  expect(treeFingerprint(root)).not.toBe(before);
});

const environment = { PATH: process.env['PATH']!, LC_ALL: 'C' };

function find(root: string): string[] {
  const format = ['%P', '%y', '%m', '%U:%G', '%i', '%n', '%T@', '%l'].join('\\0') + '\\0';
  const print = ['-mindepth', '1', '(', '-type', 'f', '-o', '-type', 'l', ')', '-printf', `%s\\0${format}`];
  const run = runProcess('find', ['.', ...print, '-o', '-mindepth', '1', '-printf', `0\\0${format}`], {
    cwd: root,
    env: environment,
    timeout: 60_000,
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  const fields = run.stdoutBytes.toString('latin1').split('\0').slice(0, -1);
  return Array.from({ length: fields.length / 9 }, (_, row) => fields.slice(row * 9, row * 9 + 9).join('\0')).sort();
}

const findLetters: Partial<Record<TreeEntry['type'], string>> = {
  file: 'f',
  directory: 'd',
  symlink: 'l',
  fifo: 'p',
  socket: 's',
};

function asFindPrints(entry: TreeEntry): string {
  const nanoseconds = entry.mtimeNs.toString();
  const time = `${nanoseconds.slice(0, -9)}.${nanoseconds.slice(-9)}0`;
  return [
    entry.size,
    entry.path,
    findLetters[entry.type],
    entry.mode.toString(8),
    `${entry.uid}:${entry.gid}`,
    entry.ino,
    entry.nlink,
    time,
    entry.target ?? '',
  ].join('\0');
}

function expectation(entry: EntrySpec): unknown[] {
  const { path, type } = entry;
  if (type === 'hardlink') return [path, 'grouped'];
  if (type === 'symlink') return [path, type, entry.target];
  if (type !== 'file') return [path, type, entry.mode];
  if (typeof entry.content !== 'string') return [path, type, entry.mode];
  return [path, type, entry.mode, createHash('sha256').update(toBytes(entry.content)).digest('hex')];
}

function asPlanned(entry: EntrySpec, found: TreeEntry): unknown[] {
  const { path, type, mode } = found;
  if (entry.type === 'hardlink') return [path, found.linkGroup === null ? 'alone' : 'grouped'];
  if (entry.type === 'symlink') return [path, type, found.target];
  if (entry.type !== 'file') return [path, type, mode];
  return typeof entry.content === 'string' ? [path, type, mode, found.sha256] : [path, type, mode];
}
