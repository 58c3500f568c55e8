import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { StatCacheRecorder } from '../../src/core/ports.js';
import { Interruption } from '../../src/operations/interruption.js';
import { buildTree } from '../support/build-tree.js';
import { treeFingerprint } from '../support/compare.js';
import { tempDir } from '../support/temp.js';
import { directory, file, hardLink, special, symlink } from '../support/tree-plan.js';
import { all, area, cacheOf, captureAmid, fail, lines, neverHas, rulesOf } from './capture-scene.js';

describe('a folder that stands still', () => {
  test('is captured in byte order, directories before what is in them, and only read', async () => {
    const { path } = await area();
    const before = treeFingerprint(path);
    const captured = await captureAmid(path);
    expect(lines(captured)).toEqual(all);
    expect(captured.stats).toEqual({
      filesObserved: 5,
      filesStored: 5,
      filesReused: 0,
      filesRead: 4,
      bytesRead: 4,
      bytesStored: 4,
    });
    expect(treeFingerprint(path)).toBe(before);
  });

  test('has the tree that git makes of it', async () => {
    const path = tempDir('capture');
    await buildTree(path, [
      file('a.b', '1'),
      file('a/x', '2', 0o755),
      file('a0', '3'),
      symlink('l', '../\xff'),
      file('\xff', ''),
    ]);
    const { tree } = await captureAmid(path);
    const git = (...args: string[]): string => execFileSync('git', ['-C', path, ...args], { encoding: 'utf8' }).trim();
    git('init', '-q');
    git('add', '.');
    expect(tree).toBe(git('write-tree'));
  });

  test('may be empty', async () => {
    const captured = await captureAmid(tempDir('capture'));
    expect([captured.tree, [...captured.entries.keys()], captured.bare]).toEqual([undefined, [''], []]);
  });

  test('names the directories that no tree shows', async () => {
    const path = tempDir('capture');
    await buildTree(path, [
      directory('empty'),
      directory('nest/of/nothing'),
      special('pipes/p', 'fifo'),
      file('full/f'),
    ]);
    const { bare, leftOut } = await captureAmid(path);
    expect([[...bare].sort(), leftOut]).toEqual([
      ['empty', 'nest', 'nest/of', 'nest/of/nothing', 'pipes'],
      [{ path: 'pipes/p', reason: 'special', directory: false }],
    ]);
  });

  test('has its link groups known by their first path', async () => {
    const path = tempDir('capture');
    await buildTree(path, [
      file('d/b', 'B'),
      hardLink('c', 'd/b'),
      hardLink('a.x', 'd/b'),
      symlink('s', 't'),
      hardLink('r', 's'),
      file('alone', 'B'),
    ]);
    linkSync(join(path, 'alone'), join(tempDir('outside'), 'name'));
    const { entries } = await captureAmid(path);
    const groups = [...entries.values()].map((entry) => [entry.path, 'linkedTo' in entry ? entry.linkedTo : null]);
    expect(Object.fromEntries(groups)).toEqual({
      '': null,
      'a.x': 'a.x',
      alone: null,
      c: 'a.x',
      d: null,
      'd/b': 'a.x',
      r: 'r',
      s: 'r',
    });
  });

  test('that is deep and wide is walked to its end with few descriptors', async () => {
    const path = tempDir('capture');
    const deep = Array.from({ length: 150 }, () => 'd'.repeat(40)).join('/');
    await buildTree(path, [file(`${deep}/f`, 'deep'), file('z', 'Z')]);
    const captured = await captureAmid(path);
    expect(captured.entries.size).toBe(1 + 150 + 1 + 1);
    expect(lines(captured).at(-2)).toBe(`${deep}/f deep`);
  });
});

describe('a capture of some paths', () => {
  test.each([
    { scope: ['a'], stored: ['a A'], absent: [] },
    { scope: ['d'], stored: ['d /', 'd/f F', 'd/g G'], absent: [] },
    { scope: ['d/f', 'z'], stored: ['d /', 'd/f F', 'z Z'], absent: [] },
    { scope: ['none', 'd/none/x'], stored: ['d /'], absent: ['none', 'd/none/x'] },
    { scope: ['a/x'], stored: [], absent: ['a/x'] },
    { scope: ['l/x'], stored: [], absent: ['l/x'] },
    { scope: [''], stored: all, absent: [] },
    { scope: [], stored: [], absent: [] },
  ])('$scope', async ({ scope, stored, absent }) => {
    const { path } = await area();
    const captured = await captureAmid(path, {}, { scope: scope as EntryPath[] });
    expect([lines(captured), captured.absent]).toEqual([stored, absent]);
  });

  test('does not call absent what was left out', async () => {
    const { path } = await area();
    const rules = rulesOf((name) => (name === 'd' ? 'ignored' : null));
    const captured = await captureAmid(path, {}, { rules, scope: ['d/f' as EntryPath, 'd/none' as EntryPath] });
    expect([lines(captured), captured.absent]).toEqual([['d ignored /'], []]);
  });
});

describe('the stat cache', () => {
  const oid = 'c'.repeat(40) as ObjectId;
  const cache = cacheOf(() => (name) => (name === 'f' ? oid : undefined));

  test('spares the reading of a file whose blob the store has', async () => {
    const { path } = await area();
    const { stats, entries } = await captureAmid(
      path,
      { 'open d/f': fail('EACCES') },
      {
        cache,
        writer: { ...neverHas, has: () => true },
      },
    );
    expect([stats.filesReused, stats.filesRead]).toEqual([1, 3]);
    expect(entries.get('d/f' as EntryPath)).toMatchObject({ oid, size: 1 });
  });

  test('is not believed for a blob that the store has not', async () => {
    const { path } = await area();
    const { stats, entries } = await captureAmid(path, {}, { cache, writer: neverHas });
    expect([stats.filesReused, stats.filesRead]).toEqual([0, 4]);
    expect(entries.get('d/f' as EntryPath)).not.toMatchObject({ oid });
  });

  test('learns of each directory in name order what is settled, and nothing that may yet change unseen', async () => {
    const { path, at } = await area();
    for (const name of ['d/f', 'z']) utimesSync(at(name), 1, 1);
    const learnt = new Map<string, string[]>();
    const entered: string[] = [];
    const firm = new Set<string>();
    const recorder: StatCacheRecorder = {
      enter: (folder) => void entered.push(folder),
      leave: (files, _, isFirm) => {
        const folder = entered.pop()!;
        const names = files.map(({ name }) => name);
        if (names.length > 0) learnt.set(folder, names);
        if (isFirm) firm.add(folder);
      },
      adopt: () => expect.unreachable(),
    };
    const now = BigInt(Date.now()) * 1_000_000n;
    await captureAmid(path, {}, { recorder, momentNs: now + 10_000_000_000n });
    expect([...firm].sort()).toEqual(['', 'd']);
    firm.clear();
    expect([...learnt]).toEqual([
      ['d', ['f', 'g']],
      ['', ['a', 'l', 'z']],
    ]);
    learnt.clear();
    // An mtime that was set back does not help: the ctime is of this moment.
    await captureAmid(path, {}, { recorder, momentNs: now - 10_000_000_000n });
    expect([...learnt.values()].flat()).toEqual([]);
    expect([...firm]).toEqual([]);
  });
});

test('without room for more bytes, files are too large and all else is stored', async () => {
  const { path } = await area();
  let room = 2;
  const captured = await captureAmid(
    path,
    {},
    { hasRoom: (bytes) => bytes <= room, onFile: (bytes) => (room -= bytes) },
  );
  expect(lines(captured)).toEqual(['a A', 'd /', 'd/f F', 'l a', 'd/g too_large', 'z too_large']);
});

test('a signal ends the walk, and every directory is released', async () => {
  const { path } = await area();
  const before = readdirSync('/proc/self/fd').length;
  const abort = new AbortController();
  const happens = { 'stat d/f': () => abort.abort('SIGTERM') };
  await expect(captureAmid(path, happens, { interruption: new Interruption(abort.signal) })).rejects.toThrow(
    expect.objectContaining({ code: 'INTERRUPTED' }),
  );
  expect(readdirSync('/proc/self/fd')).toHaveLength(before);
});
