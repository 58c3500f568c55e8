import { expect, test } from 'vitest';
import { createSnap } from '../../src/index.js';
import { buildTree } from '../support/build-tree.js';
import { tempDir } from '../support/temp.js';
import { file } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import { worstTree } from '../support/worst-tree.js';
import { thaw } from './frozen-store.js';
import type { ReadEntry } from './second-reader.js';
import { readSnapshot } from './second-reader.js';

const everything = { gitignore: false, stacks: false, include_secrets: true };

test('a reader written from refs-layout.md alone finds the worst tree as it is on disk', async () => {
  const area = tempDir();
  const folder = `${area}/mount`;
  await buildTree(folder, worstTree());
  const { snapshot } = await createSnap({ cwd: folder, dataDir: `${area}/data`, env: surroundings(area) }).save({
    overrides: everything,
  });

  const [mount, ...others] = await readSnapshot(`${area}/data`, snapshot.instance, snapshot.seq);

  expect(others).toEqual([]);
  expect(mount!.path).toBe(folder);
  expect([...new Set(mount!.observed.map(({ reason }) => reason))].sort()).toEqual(['special']);
  const leftOut = new Set(mount!.observed.map(({ path }) => path));
  const onDisk = walkTree(folder, { withRoot: true, skipGitDirs: true, lendModes: true });
  const expected = onDisk.filter(({ path }) => !leftOut.has(path)).map(asRead);
  expect(mount!.entries.map(withoutHoles)).toEqual(expected);
  expect(mount!.entries.find(({ path }) => path === 'sparse')?.sparse).toBe(true);
});

test('and a file with vast holes, and one that looks like its blob', async () => {
  const area = tempDir();
  const folder = `${area}/mount`;
  const pieces = [70_000, 2 ** 28, 2 ** 28 + 299_990].map((at) => ({ at, bytes: 'somewhere' }));
  await buildTree(folder, [
    file('vast', { size: 2 ** 28 + 300_000, pieces }),
    file('alike', 'jackin-ranges 1\n268735456\n\n'),
  ]);
  const { snapshot } = await createSnap({ cwd: folder, dataDir: `${area}/data`, env: surroundings(area) }).save();
  const [mount] = await readSnapshot(`${area}/data`, snapshot.instance, snapshot.seq);
  expect(mount!.entries.map(withoutHoles)).toEqual(walkTree(folder, { withRoot: true }).map(asRead));
  expect(mount!.entries.map(({ path, sparse }) => [path, sparse])).toEqual([
    ['', false],
    ['alike', false],
    ['vast', true],
  ]);
});

test('and finds the frozen store as it was saved', async () => {
  const area = tempDir();
  thaw('v1', area);
  const mounts = await readSnapshot(area, 'demo', 1);

  expect(mounts.map(({ name, path }) => `${name} ${path}`)).toEqual(['web /srv/demo/web', 'api /srv/demo/api']);
  const shown = mounts.map(({ name, entries }) => [name, ...entries.map(show)]);
  expect(shown).toEqual([
    [
      'web',
      'directory 755 1000:1000 ""',
      'file 644 1000:1000 ".gitignore" 23',
      'file 644 1000:1000 "100%25.txt" 14',
      'file 644 1000:1000 "README.md" 6',
      'file 644 1000:1000 "caf\u00e9.txt" 13',
      'file 755 1000:1000 "check.sh" 32',
      'directory 755 1000:1000 "empty"',
      'symlink 1000:1000 "entry" -> "src/main.c"',
      'file 644 1000:1000 "keep.log" 2',
      'directory 755 1000:1000 "lib"',
      'file 644 1000:1000 "lib/.git" 28',
      'file 644 1000:1000 "lib/git~1" 11',
      'directory 755 1000:1000 "link"',
      'symlink 1000:1000 "link/.gitignore" -> "../.gitignore"',
      'file 4755 1000:1000 "main" 4',
      'file 644 1000:1000 "one" 7 = "one"',
      'file 644 0:0 "owned-by-root" 2',
      'directory 700 1000:1000 "private"',
      'file 644 1000:1000 "private/notes" 2',
      'file 755 1000:1000 "run.sh" 22',
      'file 600 1000:1000 "secret-plan.txt" 22',
      'file 644 1000:1000 "sparse.bin" 100003',
      'directory 755 1000:1000 "src"',
      'file 644 1000:1000 "src/main.c" 29',
      'file 644 1000:1000 "src/main.h" 14',
      'file 644 1000:1000 "src/two" 7 = "one"',
    ],
    [
      'api',
      'directory 755 1000:1000 ""',
      'directory 2775 1000:1000 "logs"',
      'file 644 1000:1000 "server.py" 15',
      'directory 755 1000:1000 "vendor"',
      'directory 755 1000:1000 "vendor/lib"',
      'file 644 1000:1000 "vendor/lib/lib.py" 5',
    ],
  ]);
});

function show({ type, mode, uid, gid, path, size, target, linkGroup }: ReadEntry): string {
  const words = [type, ...(mode === null ? [] : [mode.toString(8)]), `${uid}:${gid}`, JSON.stringify(path)];
  if (type === 'file') words.push(String(size));
  if (target !== null) words.push('->', JSON.stringify(target));
  if (linkGroup !== null) words.push('=', JSON.stringify(linkGroup));
  return words.join(' ');
}

function asRead(entry: ReturnType<typeof walkTree>[number]): Omit<ReadEntry, 'sparse'> {
  const { path, size, sha256, target, uid, gid } = entry;
  const type = entry.type as ReadEntry['type'];
  // Symlinks have no mode of their own.
  const mode = type === 'symlink' ? null : entry.mode;
  return { path, type, mode, size, sha256, target, linkGroup: entry.linkGroup, uid, gid };
}

function withoutHoles(entry: ReadEntry): Omit<ReadEntry, 'sparse'> {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => key !== 'sparse')) as Omit<ReadEntry, 'sparse'>;
}

function surroundings(area: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: `${area}/home` };
}
