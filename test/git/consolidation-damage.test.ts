import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { InstanceName } from '../../src/core/ids.js';
import { refsOf, storeGit } from '../support/store-git.js';
import {
  consolidate,
  contentOf,
  expectSound,
  namesOf,
  packDirectory,
  packsOf,
  withSnapshots,
} from './consolidation-scene.js';
import { bytesOf, collect, collectGarbage, publishSnapshot } from './fixture.js';

describe('a damaged store', () => {
  test.each([
    { what: 'a torn index', harm: (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 1100)) },
    { what: 'an index of other ids', harm: (path: string) => flip(path, 8 + 1024 + 19) },
    { what: 'an empty index', harm: (path: string) => writeFileSync(path, '') },
  ])('with $what: that pack stays as it is, the others are put together', async ({ harm }) => {
    const area = await withSnapshots(5);
    const [damaged] = packsOf(area);
    const index = join(packDirectory(area), `${damaged!}.idx`);
    const sound = readFileSync(index);
    const content = contentOf(area);
    makeWritable(index);
    harm(index);
    await consolidate(area);
    expect(packsOf(area)).toHaveLength(2);
    expect(packsOf(area)).toContain(damaged);
    await publishSnapshot(area.store, 6, { a: '6' });
    writeFileSync(index, sound);
    expect(contentOf(area)).toEqual(expect.arrayContaining(content));
    expectSound(area);
  });

  test('with an object that cannot be read: no pack goes, and saves go on', async () => {
    const area = await withSnapshots(5);
    const packs = packsOf(area);
    const path = join(packDirectory(area), `${packs[2]!}.pack`);
    const sound = readFileSync(path);
    const content = contentOf(area);
    makeWritable(path);
    // Content stands before the commit, which git reads for its refs.
    for (let at = 40; at < sound.length / 2; at += 10) flip(path, at);
    await expect(area.store.gatherPacks()).rejects.toMatchObject({ code: 'GIT_FAILED' });
    expect(packsOf(area)).toEqual(packs);
    await area.store.packRefs();
    const commit = await publishSnapshot(area.store, 6, { a: '6' });
    await area.store.checkConnected([commit], []);
    writeFileSync(path, sound);
    expect(contentOf(area)).toEqual(expect.arrayContaining(content));
    await area.store.sweep();
    await consolidate(area);
    expectSound(area);
  });

  test('where one of two copies is damaged, the sound one is kept', async () => {
    const area = await withSnapshots(4);
    const content = contentOf(area);
    const all = storeGit(area.dataDir, ['rev-list', '--objects', '--all', '--no-object-names']).stdout;
    // The same objects once more, in a pack that is too large to be gathered, and damaged.
    const noise = storeGit(area.dataDir, ['hash-object', '-w', '--stdin'], { stdin: randomBytes(200_000) }).stdout;
    const made = storeGit(area.dataDir, ['pack-objects', '-q', join(packDirectory(area), 'pack')], {
      stdin: `${all}${noise}`,
    });
    const large = join(packDirectory(area), `pack-${made.stdout.trim()}.pack`);
    makeWritable(large);
    const bytes = readFileSync(large);
    writeFileSync(large, Buffer.concat([bytes.subarray(0, 12), Buffer.alloc(bytes.length - 32), bytes.subarray(-20)]));
    await consolidate(area);
    expect(packsOf(area)).toHaveLength(2);
    rmSync(large);
    rmSync(large.replace('.pack', '.idx'));
    rmSync(join(packDirectory(area), 'multi-pack-index'));
    expect(contentOf(area)).toEqual(content);
  });

  test.each(['refs/jackin/t/2', 'refs/jackin/t/9'])('with garbage in %s: refs are packed around it', async (name) => {
    const area = await withSnapshots(4);
    await area.store.packRefs();
    const refs = refsOf(area.directory);
    storeGit(area.dataDir, ['update-ref', 'refs/jackin/t/77', area.commits[0]!]);
    writeFileSync(join(area.directory, name), 'garbage');
    await consolidate(area);
    expect(readFileSync(join(area.directory, name), 'utf8')).toBe('garbage');
    expect(await area.store.unreadableRefs('refs/jackin/')).toEqual([name]);
    expect(area.store.snapshotNumbers('t' as InstanceName)).toContain(Number(name.split('/').at(-1)));
    rmSync(join(area.directory, name));
    storeGit(area.dataDir, ['update-ref', '-d', 'refs/jackin/t/77']);
    expect(refsOf(area.directory)).toEqual(refs);
  });
});

test.each(['', 'garbage', '0'.repeat(40)])(
  '%j over a packed ref hides it, and a collection takes nothing of it',
  async (over) => {
    const area = await withSnapshots(4);
    const content = contentOf(area);
    await area.store.packRefs();
    const path = join(area.directory, 'refs/jackin/t/2');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, over);
    await collectGarbage(area.store).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'STORE_DAMAGED' });
    });
    rmSync(path);
    expect(contentOf(area)).toEqual(content);
    expectSound(area);
  },
);

describe('a store with strange files', () => {
  test('packs that are marked to be kept, or named by others, are left alone', async () => {
    const area = await withSnapshots(6);
    const [kept, odd] = packsOf(area);
    writeFileSync(join(packDirectory(area), `${kept!}.keep`), 'mine');
    const names = ['foreign', '^pack-x', 'pack-\nx'];
    for (const name of names) {
      for (const suffix of ['.pack', '.idx'])
        copyFileSync(join(packDirectory(area), `${odd!}${suffix}`), join(packDirectory(area), `${name}${suffix}`));
    }
    expect(area.store.countPacks()).toBe(5);
    const content = contentOf(area);
    await consolidate(area);
    expect(packsOf(area)).toEqual(expect.arrayContaining([kept, ...names]));
    expect(packsOf(area)).toHaveLength(5);
    expect(readdirSync(packDirectory(area))).toContain(`${kept!}.keep`);
    expect(contentOf(area)).toEqual(content);
  });

  test.each([
    {
      what: 'of another kind',
      harm: (path: string) => writeFileSync(path, 'garbage that is no index of packs at all'),
    },
    { what: 'that is torn', harm: (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 500)) },
    { what: 'with wrong places', harm: (path: string) => writeFileSync(path, mangled(readFileSync(path))) },
  ])('a multi-pack-index $what stops no read and no save, is told, and made anew', async ({ harm }) => {
    const area = await withSnapshots(4);
    await consolidate(area);
    const listed = await collect(area.store.listTree(area.commits[1]!));
    const path = join(packDirectory(area), 'multi-pack-index');
    makeWritable(path);
    harm(path);
    expect(await collect(area.store.listTree(area.commits[1]!))).toEqual(listed);
    rmSync(join(area.dataDir, 'cache/verified'));
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
    expect((await area.store.fsck(false)).join()).toContain('multi-pack-index');
    for (const seq of [5, 6]) await publishSnapshot(area.store, seq, { a: `${seq}` });
    await consolidate(area);
    expect(await area.store.fsck(true)).toEqual([]);
    expectSound(area);
    harm(path);
    await collectGarbage(area.store);
    expect(readdirSync(packDirectory(area))).not.toContain('multi-pack-index');
    expectSound(area);
  });

  test('one that names packs which are about to go is removed before them', async () => {
    const area = await withSnapshots(4);
    const content = contentOf(area);
    const gathered = (await area.store.gatherPacks())!;
    rmSync(join(packDirectory(area), 'multi-pack-index'));
    storeGit(area.dataDir, ['multi-pack-index', 'write', '--bitmap']);
    await area.store.removeGathered(gathered);
    expect(contentOf(area)).toEqual(content);
    expectSound(area);
  });

  test('one that names packs that are gone stops no read of ours, is told, and made anew', async () => {
    const area = await withSnapshots(4);
    const content = contentOf(area);
    storeGit(area.dataDir, ['multi-pack-index', 'write', '--bitmap']);
    const stale = readFileSync(join(packDirectory(area), 'multi-pack-index'));
    await consolidate(area);
    makeWritable(join(packDirectory(area), 'multi-pack-index'));
    writeFileSync(join(packDirectory(area), 'multi-pack-index'), stale);
    rmSync(join(area.dataDir, 'cache/verified'));
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
    expect((await area.store.fsck(false)).join()).toContain('multi-pack-index');
    for (const seq of [5, 6]) await publishSnapshot(area.store, seq, { a: `${seq}` });
    await consolidate(area);
    expect(contentOf(area)).toEqual(expect.arrayContaining(content));
    expectSound(area);
  });

  test('a damaged bitmap is made anew, by a collection too', async () => {
    const area = await withSnapshots(3);
    await collectGarbage(area.store);
    const [bitmap] = namesOf(area, '.bitmap');
    const path = join(packDirectory(area), `${bitmap!}.bitmap`);
    const sound = readFileSync(path);
    makeWritable(path);
    flip(path, 40);
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
    await collectGarbage(area.store);
    expect(readFileSync(path)).toEqual(sound);
  });
});

/** Packs and indexes are read-only. */
function makeWritable(path: string): void {
  const content = readFileSync(path);
  rmSync(path);
  writeFileSync(path, content);
}

function flip(path: string, at: number): void {
  const content = readFileSync(path);
  content[at]! ^= 0xff;
  writeFileSync(path, content);
}

/** The same chunks, every place in them another. */
function mangled(index: Buffer): Buffer {
  const content = Buffer.from(index);
  const start = Number(content.readBigUInt64BE(content.indexOf(bytesOf('OOFF')) + 4));
  for (let at = start; at < start + 80; at++) content[at]! ^= 0x05;
  return content;
}
