import { readFileSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { fsckStrict, refsOf, storeGit } from '../support/store-git.js';
import {
  type StoreArea,
  collectGarbage,
  explode,
  file,
  preparedStore,
  publishSnapshot,
  writeSnapshot,
} from './fixture.js';

const minute = 60;
const grace = 10 * minute;

/** Objects that no ref names, published like a snapshot's. */
async function unreachable({ store }: StoreArea, content: string): Promise<ObjectId> {
  const writer = store.newWriter();
  const commit = writeSnapshot(writer, { lost: content }, `${content}\n`);
  await writer.publish();
  return commit;
}

/** As if all that is there had been written so long ago. */
function age({ directory }: StoreArea, seconds: number): void {
  const when = Date.now() / 1000 - seconds;
  for (const name of readdirSync(join(directory, 'objects'), { recursive: true, encoding: 'utf8' }))
    utimesSync(join(directory, 'objects', name), when, when);
}

const packsOf = ({ directory }: StoreArea): string[] =>
  readdirSync(join(directory, 'objects/pack')).filter((name) => name.endsWith('.pack'));

function isThere({ dataDir }: StoreArea, name: string): boolean {
  return storeGit(dataDir, ['cat-file', '-e', name], { mayFail: true }).code === 0;
}

/** All that the commit reaches can be read. */
function isWhole({ dataDir }: StoreArea, commit: string): boolean {
  const { code } = storeGit(dataDir, ['rev-list', '--objects', '--quiet', commit], { mayFail: true });
  return code === 0;
}

async function withOneSnapshot(): Promise<StoreArea> {
  const area = await preparedStore();
  await publishSnapshot(area.store, 1, { a: 'a' });
  return area;
}

describe('what nothing needs', () => {
  test.each([
    { what: 'just now', seconds: 0, stays: true },
    { what: 'nine minutes ago', seconds: 9 * minute, stays: true },
    { what: 'eleven minutes ago', seconds: 11 * minute, stays: false },
    { what: 'an hour ago', seconds: 60 * minute, stays: false },
    { what: 'in the future', seconds: -60 * minute, stays: true },
    { what: 'long before there were clocks', seconds: Date.now() / 1000, stays: false },
  ])('and was written $what stays: $stays', async ({ seconds, stays }) => {
    const area = await withOneSnapshot();
    const lost = await unreachable(area, 'lost');
    const loose = storeGit(area.dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'loose' }).stdout.trim();
    age(area, seconds);
    const refs = refsOf(area.directory);
    const kept = await area.store.packKept(grace);
    expect(kept.bytesYoung > 0).toBe(stays);
    await area.store.removeRest(kept);
    expect([isWhole(area, lost), isThere(area, loose)]).toEqual([stays, stays]);
    expect(packsOf(area)).toHaveLength(stays ? 2 : 1);
    expect(refsOf(area.directory)).toEqual(refs);
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });

  test('grows old in spite of collections, and goes then', async () => {
    const area = await withOneSnapshot();
    const lost = await unreachable(area, 'lost');
    age(area, 6 * minute);
    for (let round = 0; round < 3; round++) await collectGarbage(area.store, grace);
    expect(isWhole(area, lost)).toBe(true);
    const [pack = ''] = packsOf(area);
    expect(Date.now() - statSync(join(area.directory, 'objects/pack', pack)).mtimeMs).toBeGreaterThan(
      5 * minute * 1000,
    );
    await collectGarbage(area.store, 5 * minute);
    expect(isThere(area, lost)).toBe(false);
  });

  test('and is of the future is of now after a collection', async () => {
    const area = await withOneSnapshot();
    const lost = await unreachable(area, 'lost');
    age(area, -1000 * minute);
    await collectGarbage(area.store, grace);
    expect(isWhole(area, lost)).toBe(true);
    await collectGarbage(area.store, 0);
    expect(isThere(area, lost)).toBe(false);
  });

  test('stays while something young needs it, however old it is', async () => {
    const area = await withOneSnapshot();
    const old = await unreachable(area, 'old');
    const tree = storeGit(area.dataDir, ['rev-parse', `${old}^{tree}`]).stdout.trim() as ObjectId;
    age(area, 60 * minute);
    const writer = area.store.newWriter();
    const young = writer.writeTree([{ mode: 0o40000, name: 'old', oid: tree }]);
    await writer.publish();
    await collectGarbage(area.store, grace);
    expect(isWhole(area, young)).toBe(true);
    expect(isThere(area, old)).toBe(false);
    await collectGarbage(area.store, 0);
    expect(isThere(area, young)).toBe(false);
  });

  test('stays as it lies where something of it cannot be read, and goes when it is old', async () => {
    const area = await withOneSnapshot();
    const writer = area.store.newWriter();
    const tree = writer.writeTree([file('gone', 'f'.repeat(40) as ObjectId)]);
    await writer.publish();
    const before = packsOf(area);
    const loose = storeGit(area.dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'loose' }).stdout.trim();
    storeGit(area.dataDir, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], { stdin: 'no tree at all' });
    await collectGarbage(area.store, grace);
    expect(packsOf(area)).toEqual(expect.arrayContaining(before));
    expect([isThere(area, tree), isThere(area, loose)]).toEqual([true, true]);
    age(area, 60 * minute);
    await collectGarbage(area.store, grace);
    expect([isThere(area, tree), isThere(area, loose)]).toEqual([false, false]);
    expect(packsOf(area)).toHaveLength(1);
  });
});

describe('between the two parts of a collection', () => {
  test('a snapshot that comes is whole, also where it needs what was about to go', async () => {
    const area = await withOneSnapshot();
    await unreachable(area, 'lost');
    age(area, 60 * minute);
    const kept = await area.store.packKept(grace);
    const commit = await publishSnapshot(area.store, 2, { lost: 'lost', own: 'own' });
    await area.store.removeRest(kept);
    expect(isWhole(area, commit)).toBe(true);
    expect(storeGit(area.dataDir, ['cat-file', 'blob', `${commit}:mounts/m/lost`]).stdout).toBe('lost');
    expect(await area.store.brokenSnapshots([commit])).toEqual(new Set());
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });

  test('a ref that names what was about to go keeps all of it', async () => {
    const area = await withOneSnapshot();
    const lost = await unreachable(area, 'lost');
    age(area, 60 * minute);
    const kept = await area.store.packKept(grace);
    await area.store.changeRefs([{ name: 'refs/jackin/t/2', old: null, new: lost }]);
    await area.store.removeRest(kept);
    expect(isWhole(area, lost)).toBe(true);
    await collectGarbage(area.store, 0);
    expect(isWhole(area, lost)).toBe(true);
    expect(packsOf(area)).toHaveLength(1);
  });

  test('nothing is removed where a ref can no longer be read', async () => {
    const area = await withOneSnapshot();
    const lost = await unreachable(area, 'lost');
    age(area, 60 * minute);
    const kept = await area.store.packKept(grace);
    writeFileSync(join(area.directory, 'refs/jackin/t/1'), 'garbage\n');
    await expect(area.store.removeRest(kept)).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    expect(isWhole(area, lost)).toBe(true);
  });

  test('a ref that goes and comes again keeps its snapshot', async () => {
    const area = await withOneSnapshot();
    const commit = await publishSnapshot(area.store, 2, { b: 'b' });
    const change = { name: 'refs/jackin/t/2', old: commit, new: null };
    await area.store.changeRefs([change]);
    age(area, 60 * minute);
    const kept = await area.store.packKept(grace);
    await area.store.changeRefs([{ ...change, old: null, new: commit }]);
    await area.store.removeRest(kept);
    expect(isWhole(area, commit)).toBe(true);
  });

  test('packs that come stay, whatever is in them and however old they say they are', async () => {
    const area = await withOneSnapshot();
    age(area, 60 * minute);
    const kept = await area.store.packKept(grace);
    const lost = await unreachable(area, 'lost');
    age(area, 60 * minute);
    await area.store.removeRest(kept);
    expect(isWhole(area, lost)).toBe(true);
  });

  test('nothing is removed where an object is missing by then', async () => {
    const area = await withOneSnapshot();
    const kept = await area.store.packKept(0);
    const commit = await publishSnapshot(area.store, 2, { b: 'b' });
    const [pack = ''] = packsOf(area).filter((name) => isIn(area, name, commit));
    renameSync(join(area.directory, 'objects/pack', pack), join(area.dataDir, 'away'));
    const before = packsOf(area);
    await expect(area.store.removeRest(kept)).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    expect(packsOf(area)).toEqual(before);
    renameSync(join(area.dataDir, 'away'), join(area.directory, 'objects/pack', pack));
    await collectGarbage(area.store, 0);
    expect(isWhole(area, commit)).toBe(true);
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });

  test('a second collection in between does no harm', async () => {
    const area = await withOneSnapshot();
    await unreachable(area, 'lost');
    explode(area.dataDir, area.directory);
    const first = await area.store.packKept(0);
    const commit = await publishSnapshot(area.store, 2, { b: 'b' });
    await collectGarbage(area.store, 0);
    await area.store.removeRest(first);
    expect(isWhole(area, commit)).toBe(true);
    expect(isWhole(area, 'refs/jackin/t/1')).toBe(true);
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });
});

function isIn({ directory, dataDir }: StoreArea, pack: string, oid: string): boolean {
  const index = join(directory, 'objects/pack', pack.replace(/pack$/, 'idx'));
  return storeGit(dataDir, ['show-index'], { stdin: readFileSync(index) }).stdout.includes(oid);
}

test('what packs take, and what is reachable of it', async () => {
  const area = await withOneSnapshot();
  const [first] = [...refsOf(area.directory).values()] as ObjectId[];
  await unreachable(area, Array.from({ length: 20_000 }, (_, n) => String(n * 7919)).join(' '));
  const all = area.store.bytesOfObjects();
  expect(all).toBe(packsOf(area).reduce((sum, name) => sum + allocated(area, name), 0));
  expect(await area.store.bytesReachable([first!])).toBeLessThan(2000);
  expect(await area.store.bytesReachable([])).toBe(0);
  expect(area.store.bytesOfObjects(0)).toBe(0);
  expect(area.store.bytesOfObjects(Date.now() + 1000)).toBe(all);
});

function allocated({ directory }: StoreArea, pack: string): number {
  return statSync(join(directory, 'objects/pack', pack)).blocks * 512;
}
