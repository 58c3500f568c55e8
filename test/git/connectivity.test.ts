import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import type { Store } from '../../src/core/ports.js';
import { openStore } from '../../src/git/store.js';
import { storeGit } from '../support/store-git.js';
import { type StoreArea, collectGarbage, explode, loosePath, preparedStore, publishSnapshot } from './fixture.js';

const damaged = { code: 'STORE_DAMAGED' };
const parts = ['', '^{tree}', ':meta', ':meta/manifest', ':mounts', ':mounts/m', ':mounts/m/a'];

async function exploded(): Promise<StoreArea & { commits: ObjectId[] }> {
  const area = await preparedStore();
  const commits = [];
  for (const seq of [1, 2, 3])
    commits.push(await publishSnapshot(area.store, seq, { a: `content ${seq}`, same: 'same' }));
  explode(area.dataDir, area.directory);
  return { ...area, commits };
}

function lose({ dataDir, directory }: StoreArea, name: string): void {
  rmSync(loosePath(directory, storeGit(dataDir, ['rev-parse', name]).stdout.trim()));
}

describe('the check before a ref is made', () => {
  test('passes for what is complete', async () => {
    const { store, commits } = await exploded();
    await store.checkConnected(commits.slice(2), commits.slice(0, 2));
    await store.checkConnected(commits, []);
    await expect(store.checkConnected([], [])).resolves.toBeUndefined();
  });

  test.each(parts)('fails when <commit>%s is missing', async (part) => {
    const area = await exploded();
    lose(area, `${area.commits[2]!}${part}`);
    await expect(area.store.checkConnected(area.commits.slice(2), [])).rejects.toMatchObject(damaged);
    await expect(area.store.checkConnected(area.commits.slice(2), area.commits.slice(0, 1))).rejects.toMatchObject(
      damaged,
    );
  });

  test('does not walk again what was found intact, and believes nobody else', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const first = await publishSnapshot(store, 1, { a: '1', same: 'same' });
    const second = await publishSnapshot(store, 2, { a: '2', same: 'same' });
    const walks = (calls: string): number => readCalls(calls).filter((call) => call.includes('rev-list')).length;
    const calls = join(dataDir, 'calls');
    const watched = watchedStore(dataDir, calls);
    await watched.checkConnected([second], [first]);
    expect(walks(calls)).toBe(1);
    const third = await publishSnapshot(store, 3, { a: '3', same: 'same' });
    await watched.checkConnected([third], [second]);
    expect(walks(calls)).toBe(1);
    await collectGarbage(store);
    const fourth = await publishSnapshot(store, 4, { a: '4', same: 'same' });
    await watched.checkConnected([fourth], [third]);
    expect(walks(calls)).toBe(1);

    explode(dataDir, directory);
    rmSync(loosePath(directory, storeGit(dataDir, ['rev-parse', `${first}:mounts/m/same`]).stdout.trim()));
    const fifth = await publishSnapshot(store, 5, { a: '4' });
    await watched.checkConnected([fifth], [fourth]);
    await expect(watched.checkConnected([second], [first, fourth])).rejects.toMatchObject(damaged);
    await expect(watched.checkConnected([first], [first])).rejects.toMatchObject(damaged);
    expect(await watched.brokenSnapshots([first, fifth])).toEqual(new Set([first]));
  });

  test.each(parts)('beside an intact snapshot, fails when <commit>%s is missing', async (part) => {
    const { store, dataDir, directory } = await preparedStore();
    const first = await publishSnapshot(store, 1, { a: '1', same: 'same' });
    await store.checkConnected([first], []);
    const packs = new Set(readdirSync(join(directory, 'objects/pack')));
    const second = await publishSnapshot(store, 2, { a: '2', same: 'same' });
    const lost = storeGit(dataDir, ['rev-parse', `${second}${part}`]).stdout.trim();
    // The second pack again, without that object; the first, which was checked, stays as it is.
    const own = readdirSync(join(directory, 'objects/pack')).filter((name) => !packs.has(name));
    const pack = own.find((name) => name.endsWith('.pack'))!;
    const shown = storeGit(dataDir, ['verify-pack', '-v', join(directory, 'objects/pack', pack)]).stdout;
    const kept = [...shown.matchAll(/^([0-9a-f]{40}) /gm)].map(([, oid]) => oid).filter((oid) => oid !== lost);
    storeGit(dataDir, ['pack-objects', '-q', join(directory, 'objects/pack/pack')], { stdin: `${kept.join('\n')}\n` });
    for (const name of own) rmSync(join(directory, 'objects/pack', name));
    await expect(store.checkConnected([second], [first])).rejects.toMatchObject(damaged);
  });
});

describe('broken snapshots', () => {
  test('are none in a whole store', async () => {
    const { store, commits } = await exploded();
    expect(await store.brokenSnapshots(commits)).toEqual(new Set());
    expect(await store.brokenSnapshots([])).toEqual(new Set());
  });

  test.each(parts)('are those that miss <commit>%s, before and after a success was remembered', async (part) => {
    for (const remembered of [false, true]) {
      const area = await exploded();
      if (remembered) expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
      lose(area, `${area.commits[1]!}${part}`);
      expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set([area.commits[1]]));
      expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set([area.commits[1]]));
    }
  });

  test('are found when a pack goes, and are whole again when it comes back', async () => {
    const { store, dataDir, directory } = await preparedStore();
    const first = await publishSnapshot(store, 1, { a: '1' });
    const packs = readdirSync(join(directory, 'objects/pack'));
    const second = await publishSnapshot(store, 2, { a: '2' });
    expect(await store.brokenSnapshots([first, second])).toEqual(new Set());
    for (const name of packs) renameSync(join(directory, 'objects/pack', name), join(dataDir, name));
    expect(await store.brokenSnapshots([first, second])).toEqual(new Set([first]));
    for (const name of packs) renameSync(join(dataDir, name), join(directory, 'objects/pack', name));
    expect(await store.brokenSnapshots([first, second])).toEqual(new Set());
  });

  test('are not looked for again after saves of our own', async () => {
    const { store, dataDir } = await preparedStore();
    const commits = [];
    for (const seq of [1, 2, 3]) {
      commits.push(await publishSnapshot(store, seq, { a: `${seq}` }));
      await store.checkConnected(commits.slice(-1), commits.slice(0, -1));
    }
    const calls = join(dataDir, 'calls');
    const watched = watchedStore(dataDir, calls);
    expect(await watched.brokenSnapshots(commits)).toEqual(new Set());
    expect(existsSync(calls)).toBe(false);
    rmSync(join(dataDir, 'cache/verified'));
    expect(await watched.brokenSnapshots(commits)).toEqual(new Set());
    expect(readFileSync(calls, 'utf8')).toContain('rev-list');
  });

  test.each<{ what: string; left: (record: Buffer) => Buffer }>([
    ...['', '{', 'jackin-verified-1', 'jackin-verified-1\n', 'jackin-verified-2\n'].map((text) => ({
      what: text,
      left: () => Buffer.from(text),
    })),
    { what: 'its beginning', left: (record) => record.subarray(0, -1) },
    { what: 'zeros', left: (record) => Buffer.alloc(record.length) },
    { what: 'zeros at its end', left: (record) => Buffer.concat([record.subarray(0, 64), Buffer.alloc(64)]) },
    { what: 'zeros within', left: (record) => Buffer.from(record).fill(0, 20, 30) },
  ])('do not depend on the record being sound: $what', async ({ left }) => {
    const area = await exploded();
    await area.store.brokenSnapshots(area.commits);
    lose(area, `${area.commits[1]!}:mounts`);
    // All that is lost is what would be noticed: the record is as if it had been made after the loss.
    await area.store.brokenSnapshots(area.commits);
    const record = join(area.dataDir, 'cache/verified');
    const claim = `${readFileSync(record, 'utf8')}${area.commits[1]!}\n`;
    writeFileSync(record, claim);
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set());
    writeFileSync(record, left(Buffer.from(claim)));
    expect(await area.store.brokenSnapshots(area.commits)).toEqual(new Set([area.commits[1]]));
  });
});

describe('the whole store', () => {
  test('is found sound, quickly and in full', async () => {
    const { store } = await exploded();
    expect(await store.fsck(false)).toEqual([]);
    expect(await store.fsck(true)).toEqual([]);
  });

  test('is sound when it is empty', async () => {
    const { store } = await preparedStore();
    expect(await store.fsck(true)).toEqual([]);
  });

  test.each(parts)('is found damaged when <commit>%s is missing', async (part) => {
    const area = await exploded();
    lose(area, `${area.commits[1]!}${part}`);
    expect(await area.store.fsck(false)).not.toEqual([]);
    expect(await area.store.fsck(true)).not.toEqual([]);
  });

  test('is found damaged in full when a content is another', async () => {
    const area = await exploded();
    const oid = storeGit(area.dataDir, ['rev-parse', `${area.commits[1]!}:mounts/m/a`]).stdout.trim();
    const other = storeGit(area.dataDir, ['rev-parse', `${area.commits[1]!}:mounts/m/same`]).stdout.trim();
    rmSync(loosePath(area.directory, oid));
    writeFileSync(loosePath(area.directory, oid), readFileSync(loosePath(area.directory, other)));
    expect(await area.store.fsck(true)).not.toEqual([]);
  });
});

/** A store whose git notes its calls before it does them. */
function watchedStore(dataDir: string, calls: string): Store {
  const directory = join(dataDir, 'bin');
  mkdirSync(directory);
  const path = process.env['PATH']!;
  const real = path.split(':').find((entry) => existsSync(join(entry, 'git')))!;
  const note = `case "$*" in version) ;; *) echo "$*" >>'${calls}' ;; esac`;
  writeFileSync(join(directory, 'git'), `#!/bin/sh\n${note}\nexec '${real}/git' "$@"\n`, { mode: 0o755 });
  return openStore({ dataDir, env: { PATH: `${directory}:${path}` }, forbiddenProgramDirectories: () => [] });
}

function readCalls(calls: string): string[] {
  return existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').slice(0, -1) : [];
}
