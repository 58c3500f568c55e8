import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { fsckStrict, refsOf, storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import {
  type StoreArea,
  bytesOf,
  collectGarbage,
  explode,
  loosePath,
  preparedStore,
  publishSnapshot,
  writeSnapshot,
} from './fixture.js';

const packsOf = ({ directory }: StoreArea): string[] => readdirSync(join(directory, 'objects/pack')).sort();

async function withSnapshots(count: number): Promise<StoreArea & { commits: ObjectId[] }> {
  const area = await preparedStore();
  const commits = [];
  for (let seq = 1; seq <= count; seq++) commits.push(await publishSnapshot(area.store, seq, { a: `${seq}`, b: 'b' }));
  return { ...area, commits };
}

describe('collecting garbage', () => {
  test('leaves one pack with all that refs reach, grafts included, and nothing else', async () => {
    const area = await withSnapshots(5);
    const { store, dataDir, directory, commits } = area;
    const writer = store.newWriter();
    const graft = writer.writeCommit(
      Buffer.from(
        storeGit(dataDir, ['cat-file', 'commit', commits[1]!]).stdout.replace('\n', `\nparent ${commits[0]!}\n`),
      ),
    );
    await writer.publish();
    await store.changeRefs([{ name: `refs/replace/${commits[1]!}`, old: null, new: graft }]);
    const unreachable = store.newWriter();
    const lost = unreachable.writeBlob(randomBytes(1_000_000));
    await unreachable.publish();
    const loose = storeGit(dataDir, ['hash-object', '-w', '--stdin'], { stdin: 'unreachable' }).stdout.trim();
    await store.changeRefs([{ name: 'refs/jackin/t/3', old: commits[2]!, new: null }]);
    const before = await store.sizeOnDisk();
    const refs = refsOf(directory);

    await collectGarbage(store);
    expect(packsOf(area).filter((name) => name.endsWith('.pack'))).toHaveLength(1);
    expect(refsOf(directory)).toEqual(refs);
    expect(fsckStrict(dataDir)).toEqual([]);
    const known = store.newWriter();
    expect([lost, loose as ObjectId, commits[2]!].map((oid) => known.has(oid))).toEqual([false, false, false]);
    expect([graft, commits[0]!, commits[4]!].map((oid) => known.has(oid))).toEqual([true, true, true]);
    expect(before - (await store.sizeOnDisk())).toBeGreaterThan(1_000_000);
    expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
    expect(await store.brokenSnapshots([commits[0]!, commits[4]!])).toEqual(new Set());

    const packs = packsOf(area);
    await collectGarbage(store);
    expect(packsOf(area)).toEqual(packs);
  });

  test('takes in what stock git made: loose objects, a multi-pack-index, a bitmap', async () => {
    const area = await withSnapshots(3);
    explode(area.dataDir, area.directory);
    await publishSnapshot(area.store, 4, { a: '4' });
    storeGit(area.dataDir, ['repack', '-d', '--geometric=2', '--write-midx', '--write-bitmap-index', '-q']);
    await publishSnapshot(area.store, 5, { a: '5' });
    storeGit(area.dataDir, ['multi-pack-index', 'write', '--bitmap']);
    await collectGarbage(area.store);
    expect(
      packsOf(area)
        .map((name) => name.replace(/[0-9a-f]{40}/, '#'))
        .sort(),
    ).toEqual(['pack-#.bitmap', 'pack-#.idx', 'pack-#.pack']);
    expect(readdirSync(join(area.directory, 'objects')).sort()).toEqual(['info', 'pack']);
    expect(fsckStrict(area.dataDir)).toEqual([]);
    expect((await area.store.snapshots(null)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  test('removes everything when there is nothing to keep, also from a store that is empty', async () => {
    const area = await preparedStore();
    await collectGarbage(area.store);
    const writer = area.store.newWriter();
    writeSnapshot(writer, { a: 'a' });
    await writer.publish();
    expect(packsOf(area)).toHaveLength(2);
    await collectGarbage(area.store);
    expect(packsOf(area)).toEqual([]);
  });

  test('leaves stat caches where they are', async () => {
    const { store, dataDir } = await withSnapshots(1);
    mkdirSync(join(dataDir, 'cache'), { recursive: true });
    writeFileSync(join(dataDir, 'cache/stat-t-m'), 'x');
    await collectGarbage(store);
    expect(readdirSync(join(dataDir, 'cache')).sort()).toEqual(['git-version.json', 'stat-t-m', 'verified']);
  });

  test('removes nothing where the new pack lacks something', async () => {
    const area = await withSnapshots(2);
    // A git that packs the commits alone.
    const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
    const bin = tempDir('bin');
    const commits = `"${real}" --git-dir='${area.directory}' for-each-ref --format='%(objectname)'`;
    const pack = `"${real}" --git-dir='${area.directory}' pack-objects -q '${area.directory}/objects/pack/pack'`;
    const script = `case "$*" in *pack-objects*--all*) ${commits} | ${pack} ;; *) exec "${real}" "$@" ;; esac`;
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const { store } = await preparedStore({ dataDir: area.dataDir, env });
    await expect(collectGarbage(store)).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
      data: { problem: 'the new pack is not complete' },
    });
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
    expect(fsckStrict(area.dataDir)).toEqual([]);
  });

  test.each(['', '^{tree}', ':mounts', ':mounts/m/a'])('removes nothing where <commit>%s is missing', async (part) => {
    const area = await withSnapshots(3);
    explode(area.dataDir, area.directory);
    await publishSnapshot(area.store, 4, { a: '4' });
    const lost = storeGit(area.dataDir, ['rev-parse', `${area.commits[1]!}${part}`]).stdout.trim();
    const away = join(area.dataDir, 'away');
    renameSync(loosePath(area.directory, lost), away);
    await expect(collectGarbage(area.store)).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
    renameSync(away, loosePath(area.directory, lost));
    expect(fsckStrict(area.dataDir)).toEqual([]);
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
  });
});

describe('a sweep', () => {
  test('removes what killed processes left, and nothing else', async () => {
    const { store, dataDir, directory } = await withSnapshots(2);
    const before = refsOf(directory);
    const packs = readdirSync(join(directory, 'objects/pack'));
    const left = [
      'tmp/0123456789abcdef/pack',
      'store.git/objects/pack/tmp_pack_abc',
      'store.git/objects/pack/.tmp-123-pack-x.pack',
      'store.git/objects/ab/tmp_obj_123',
      'store.git/objects/tmp_objdir-incoming-1/x',
      'store.git/refs/jackin/t/3.lock',
      'store.git/refs/replace/abc.lock',
      'store.git/packed-refs.lock',
      'store.git/packed-refs.new',
      'store.git/config.0123456789abcdef.new',
      'cache/verified.0123456789abcdef.new',
    ];
    const kept = ['cache/verified', 'store.git/objects/ab/cdef', 'locks/t.lock'];
    for (const path of [...left, ...kept]) {
      mkdirSync(join(dataDir, path, '..'), { recursive: true });
      writeFileSync(join(dataDir, path), '');
    }
    await store.sweep();
    expect(left.filter((path) => existsSync(join(dataDir, path)))).toEqual([]);
    expect(kept.filter((path) => existsSync(join(dataDir, path)))).toEqual(kept);
    expect(refsOf(directory)).toEqual(before);
    expect(readdirSync(join(directory, 'objects/pack'))).toEqual(packs);
    expect(readdirSync(join(dataDir, 'tmp'))).toEqual([]);
  });

  test('does nothing where nothing is', async () => {
    const { store, dataDir } = await preparedStore();
    rmSync(dataDir, { recursive: true });
    await store.sweep();
    expect(existsSync(dataDir)).toBe(false);
  });
});

test('the size on disk counts what is allocated', async () => {
  const { store, directory } = await withSnapshots(1);
  const before = await store.sizeOnDisk();
  writeFileSync(join(directory, 'objects/pack/sparse'), '');
  truncateSync(join(directory, 'objects/pack/sparse'), 10_000_000);
  writeFileSync(join(directory, 'objects/pack/real'), bytesOf('x'.repeat(100_000)));
  const added = (await store.sizeOnDisk()) - before;
  expect(added).toBe(statSync(join(directory, 'objects/pack/real')).blocks * 512);
  expect(added).toBeGreaterThanOrEqual(100_000);
});
