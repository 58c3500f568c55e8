import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { packsToGather } from '../../src/git/consolidation.js';
import { pushToStrictServer, refsOf, storeGit } from '../support/store-git.js';
import {
  consolidate,
  contentOf,
  expectSound,
  namesOf,
  packDirectory,
  packsOf,
  withSnapshots,
} from './consolidation-scene.js';
import { collectGarbage, publishSnapshot } from './fixture.js';

describe('the packs that are put together', () => {
  test.each([
    { packs: [], gathered: [], why: 'there are none' },
    { packs: [7], gathered: [], why: 'one is a progression' },
    { packs: [1, 2, 6, 18], gathered: [], why: 'each is twice as large as all smaller ones together' },
    { packs: [5, 5], gathered: [5, 5], why: 'two of a size are none' },
    { packs: [1, 1, 1, 1, 100], gathered: [1, 1, 1, 1], why: 'the large one stays' },
    { packs: [1, 1, 100, 100, 10_000], gathered: [1, 1, 100, 100], why: 'all up to the largest that breaks it' },
    { packs: [100, 1, 1, 3], gathered: [1, 1, 3], why: 'order does not matter' },
    { packs: [0, 0, 4], gathered: [], why: 'nothing is small beside nothing' },
  ])('of $packs are $gathered: $why', ({ packs, gathered }) => {
    expect(packsToGather(packs.map((bytes) => ({ bytes }))).map(({ bytes }) => bytes)).toEqual(gathered);
  });

  test('leave few, and each object is written anew only a few times', () => {
    let packs: number[] = [];
    let written = 0;
    for (let save = 1; save <= 2000; save++) {
      packs.push(1);
      if (packs.length < 50) continue;
      const gathered = packsToGather(packs.map((bytes) => ({ bytes }))).reduce((sum, { bytes }) => sum + bytes, 0);
      packs = [...packs.sort((a, b) => a - b).slice(packsToGather(packs.map((bytes) => ({ bytes }))).length), gathered];
      written += gathered;
      expect(packs.length).toBeLessThan(12);
    }
    expect(written).toBeLessThan(2000 * 8);
  });
});

describe('putting packs together', () => {
  test('loses nothing, leaves few packs and one file of refs, and what was checked stays checked', async () => {
    const area = await withSnapshots(12);
    const { store, dataDir, directory, commits } = area;
    const content = contentOf(area);
    const refs = refsOf(directory);
    const size = await store.sizeOnDisk();
    await consolidate(area);

    expect(packsOf(area)).toHaveLength(1);
    expect(contentOf(area)).toEqual(content);
    expect(refsOf(directory)).toEqual(refs);
    expect(filesBelow(join(directory, 'refs'))).toEqual([]);
    expect(await store.sizeOnDisk()).toBeLessThan(size / 2);
    expectSound(area);
    storeGit(dataDir, ['multi-pack-index', 'verify']);
    expect(namesOf(area, '.bitmap')).toHaveLength(1);
    const record = readFileSync(join(dataDir, 'cache/verified'), 'utf8').split('\n');
    expect(record.filter((line) => /^[0-9a-f]{40}$/.test(line)).sort()).toEqual([...commits].sort());
    expect(record).toContainEqual(expect.stringContaining(`=pack/${packsOf(area)[0]!}.pack `));
    expect((await pushToStrictServer(dataDir)).accepted).toBe(true);
    expect(await store.gatherPacks()).toBeUndefined();
  });

  test('leaves a pack that is larger than all others, and puts the rest together again and again', async () => {
    const area = await withSnapshots(3);
    const writer = area.store.newWriter();
    const large = writer.writeBlob(randomBytes(300_000));
    await writer.publish();
    const before = packsOf(area);
    await consolidate(area);
    expect(packsOf(area)).toHaveLength(2);
    expect(packsOf(area).filter((name) => before.includes(name))).toHaveLength(1);
    for (let seq = 4; seq <= 8; seq++) {
      await publishSnapshot(area.store, seq, { a: `${seq}` });
      await consolidate(area);
    }
    expect(packsOf(area).length).toBeLessThan(5);
    expect(storeGit(area.dataDir, ['cat-file', '-s', large]).stdout).toBe('300000\n');
    expectSound(area);
  });

  test('goes on beside a save between its two steps', async () => {
    const area = await withSnapshots(4);
    const gathered = (await area.store.gatherPacks())!;
    const commit = await publishSnapshot(area.store, 5, { a: 'between' });
    await area.store.checkConnected([commit], area.commits);
    await area.store.removeGathered(gathered);
    await area.store.packRefs();
    expect(packsOf(area)).toHaveLength(2);
    expect(await area.store.brokenSnapshots([...area.commits, commit])).toEqual(new Set());
    expectSound(area);
  });

  test('after a collection between its two steps removes nothing that is needed', async () => {
    const area = await withSnapshots(4);
    const gathered = (await area.store.gatherPacks())!;
    await area.store.changeRefs([{ name: 'refs/jackin/t/2', old: area.commits[1]!, new: null }]);
    await collectGarbage(area.store);
    const packs = packsOf(area);
    await area.store.removeGathered(gathered);
    expect(packsOf(area)).toEqual(packs);
    expectSound(area);
    // A collection may come to the very name that one of the old packs had.
    await area.store.removeGathered({ old: packs, new: gathered.new });
    await area.store.removeGathered({ old: packs, new: packs });
    expect(packsOf(area)).toEqual(packs);
  });

  test('keeps a pack of which the new one lacks something, whoever else has it', async () => {
    const area = await withSnapshots(3);
    const [first, ...others] = packsOf(area);
    const gathered = (await area.store.gatherPacks())!;
    await publishSnapshot(area.store, 4, { a: '4' });
    const late = packsOf(area).filter((name) => ![first, ...others, ...gathered.new].includes(name));
    await area.store.removeGathered({ old: [...gathered.old, ...late], new: gathered.new });
    expect(packsOf(area)).toEqual([...late, ...gathered.new].sort());
    expectSound(area);
  });

  test('what only garbage needs stays too, until a collection', async () => {
    const area = await withSnapshots(3);
    await area.store.changeRefs([{ name: 'refs/jackin/t/2', old: area.commits[1]!, new: null }]);
    const own = storeGit(area.dataDir, ['rev-parse', `${area.commits[1]!}:mounts/m/own-2`]).stdout.trim();
    await consolidate(area);
    expect(storeGit(area.dataDir, ['cat-file', 'blob', own]).stdout).toBe('only in 2');
    const size = await area.store.sizeOnDisk();
    await collectGarbage(area.store);
    expect(storeGit(area.dataDir, ['cat-file', 'blob', own], { mayFail: true }).code).not.toBe(0);
    expect(await area.store.sizeOnDisk()).toBeLessThan(size);
    expect(namesOf(area, '.bitmap')).toEqual(packsOf(area));
    expectSound(area);
  });
});

describe('a removal that was cut off', () => {
  test('after a pack and before its index: the next sweep removes the rest', async () => {
    const area = await withSnapshots(4);
    const content = contentOf(area);
    const gathered = (await area.store.gatherPacks())!;
    rmSync(join(packDirectory(area), `${gathered.old[0]!}.pack`));
    expect(area.store.hasLeftovers()).toBe(true);
    const writer = area.store.newWriter();
    expect(area.commits.map((commit) => writer.has(commit))).toEqual([true, true, true, true]);
    await area.store.sweep();
    expect(area.store.hasLeftovers()).toBe(false);
    expect(readdirSync(packDirectory(area)).filter((name) => name.startsWith(gathered.old[0]!))).toEqual([]);
    await area.store.removeGathered(gathered);
    expect(packsOf(area)).toEqual(gathered.new);
    expect(contentOf(area)).toEqual(content);
    expectSound(area);
  });

  test('an index that tells of something no other pack has stays: its pack may come back', async () => {
    const area = await withSnapshots(2);
    const [pack] = packsOf(area);
    const path = join(packDirectory(area), `${pack!}.pack`);
    renameSync(path, join(area.dataDir, 'away'));
    await area.store.sweep();
    expect(existsSync(path.replace('.pack', '.idx'))).toBe(true);
    renameSync(join(area.dataDir, 'away'), path);
    expectSound(area);
  });
});

function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}
