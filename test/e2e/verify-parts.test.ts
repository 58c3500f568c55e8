import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CheckResult, Progress } from '../../src/index.js';
import { runSnap, runSnapJson } from '../support/cli.js';
import { removeTree } from '../support/remove-tree.js';
import { storeGit } from '../support/store-git.js';
import { makeTempDir, tempDir } from '../support/temp.js';
import { type StoreCopy, copyOf, flip, idOf, placesOf, savedFiveTimes, snapOver, watchGit } from './damaged-store.js';

let area: string;
let saved: string;

beforeAll(async () => {
  area = makeTempDir('parts');
  saved = await savedFiveTimes(area);
});

afterAll(() => removeTree(area));

const copy = (): StoreCopy => copyOf(saved, join(tempDir('copy'), 'data'), 'packs');

function countObjects({ dataDir }: StoreCopy): number {
  return storeGit(dataDir, ['cat-file', '--batch-all-objects', '--batch-check']).stdout.trim().split('\n').length;
}

describe('how much was hashed', () => {
  test('is nothing, all, or the part that was asked for', async () => {
    const store = copy();
    const objectsTotal = countObjects(store);
    const snap = snapOver(store.dataDir);
    expect((await snap.verify()).content).toBeNull();
    expect((await snap.verify({ full: true })).content).toEqual({ objectsChecked: objectsTotal, objectsTotal });
    expect((await snap.verify({ percent: 10 })).content).toEqual({
      objectsChecked: Math.ceil(objectsTotal / 10),
      objectsTotal,
    });
    expect((await snap.verify({ maxDurationSeconds: 600 })).content).toEqual({
      objectsChecked: objectsTotal,
      objectsTotal,
    });
  });

  test('is nothing where there is no store', async () => {
    const snap = snapOver(join(tempDir('none'), 'data'));
    expect(await snap.verify({ percent: 10 })).toEqual({
      ok: true,
      snapshotsChecked: 0,
      damaged: [],
      problems: [],
      content: null,
    });
  });

  test.each([
    { percent: 100, maxDurationSeconds: 3, checked: 3 },
    { percent: 100, maxDurationSeconds: 0.5, checked: 1 },
    { percent: 1, maxDurationSeconds: 3, checked: 1 },
  ])('ends with what comes first: $percent %, or $maxDurationSeconds s where each takes one', async (row) => {
    const store = copy();
    let isHashing = false;
    let seconds = 0;
    const snap = snapOver(store.dataDir, {
      now: () => new Date(isHashing ? (seconds += 0.5) * 1000 : 0),
      onProgress: ({ phase }) => {
        if (phase !== 'verify') return;
        isHashing = true;
        seconds += 0.5;
      },
    });
    const { percent, maxDurationSeconds } = row;
    expect((await snap.verify({ percent, maxDurationSeconds })).content?.objectsChecked).toBe(row.checked);
  });

  test('is told while it goes on', async () => {
    const seen: Progress[] = [];
    const store = copy();
    await snapOver(store.dataDir, { onProgress: (progress) => seen.push(progress) }).verify({ percent: 50 });
    const total = Math.ceil(countObjects(store) / 2);
    const hashing = seen.filter(({ phase }) => phase === 'verify');
    expect(hashing).toHaveLength(total);
    expect(hashing.at(-1)).toMatchObject({ files: total, totalFiles: total });
    expect(hashing.at(-1)?.bytes).toBeGreaterThan(0);
  });
});

test('git tells how far its full check is, and no word of that is a problem', async () => {
  const seen: Progress[] = [];
  const store = copy();
  const snap = snapOver(store.dataDir, { onProgress: (progress) => seen.push(progress) });
  expect(await snap.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
  expect(seen.some(({ phase, totalFiles }) => phase === 'verify' && totalFiles !== null && totalFiles > 0)).toBe(true);
  for (const { path, start } of placesOf(store, idOf(store, 'refs/jackin/t/2:mounts/m/own/2'))) flip(path, start + 20);
  const { problems } = await snap.verify({ full: true });
  expect(problems).not.toEqual([]);
  expect(problems.filter((line) => /Checking|%|notice/.test(line))).toEqual([]);
});

test('runs of 10 percent find a flipped bit and the snapshots that hold it within ten', async () => {
  const store = copy();
  const id = idOf(store, 'refs/jackin/t/2:mounts/m/own/2');
  const snap = snapOver(store.dataDir);
  await snap.verify();
  for (const { path, start } of placesOf(store, id)) flip(path, start + 20);
  expect(await snap.verify()).toMatchObject({ ok: true });
  const found: CheckResult[] = [];
  for (let run = 0; run < 10; run++) found.push(await snapOver(store.dataDir).verify({ percent: 10 }));
  const failed = found.filter(({ ok }) => !ok);
  expect(failed).toHaveLength(1);
  expect(failed[0]).toMatchObject({
    damaged: [{ snapshot: { seq: 2 }, paths: [{ mount: 'm', path: 'own/2', kind: 'file' }], pathsTotal: 1 }],
  });
  expect(failed[0]?.problems.join('\n')).toContain(id);
});

test('a sound store is read once', async () => {
  const store = copy();
  const calls = watchGit(store.dataDir);
  const readers = async (full: boolean): Promise<{ readers: number; fsck: string[] }> => {
    rmSync(calls.log, { force: true });
    await snapOver(store.dataDir, { env: calls.env }).verify({ full });
    const lines = readFileSync(calls.log, 'utf8').split('\n');
    return {
      readers: lines.filter((line) => line.includes('--batch-command')).length,
      fsck: lines.filter((line) => line.includes(' fsck ')),
    };
  };
  // The first one also reckons what trees stand for, which is remembered.
  await readers(false);
  const plain = await readers(false);
  const full = await readers(true);
  expect(full.readers).toBe(plain.readers);
  expect(full.fsck).toHaveLength(1);
});

test('an interruption ends it: nobody is locked out, and the next run goes on', async () => {
  const store = copy();
  const abort = new AbortController();
  const stopped = snapOver(store.dataDir, {
    signal: abort.signal,
    onProgress: ({ phase, files }) => {
      if (phase === 'verify' && files === 5) abort.abort('SIGINT');
    },
  });
  await expect(stopped.verify({ percent: 100 })).rejects.toMatchObject({ code: 'INTERRUPTED' });
  const noted = readFileSync(join(store.dataDir, 'cache/content-checked'), 'latin1').trim();
  const ids = storeGit(store.dataDir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).stdout;
  expect(ids.split('\n')[4]).toBe(noted);
  await snapOver(store.dataDir).gc({});
  expect(await snapOver(store.dataDir).verify({ percent: 100 })).toMatchObject({ ok: true });
});

describe('a part that is none', () => {
  test.each([
    { percent: 0 },
    { percent: 101 },
    { percent: NaN },
    { maxDurationSeconds: 0 },
    { maxDurationSeconds: -1 },
    { full: true, percent: 10 },
    { full: true, maxDurationSeconds: 10 },
  ])('is refused: %j', async (request) => {
    await expect(snapOver(saved).verify(request)).rejects.toMatchObject({ code: 'USAGE' });
  });

  test.each([
    { line: 'verify --percent 0', says: 'from 1 to 100' },
    { line: 'verify --percent ten', says: 'from 1 to 100' },
    { line: 'verify --max-duration 10', says: '30s, 10m or 2h' },
    { line: 'verify --full --percent 10', says: 'verify --percent 10' },
  ])('$line', async ({ line, says }) => {
    const { code, stderr } = await runSnap(line.split(' '), { dataDir: saved });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});

test('the command says what is damaged, and how much it hashed', async () => {
  const store = copy();
  const id = idOf(store, 'refs/jackin/t/2:mounts/m/own/2');
  for (const { path, start } of placesOf(store, id)) flip(path, start + 20);
  const text = await runSnap(['verify', '--full'], { dataDir: store.dataDir });
  expect(text.code).toBe(7);
  expect(text.stdout).toContain('5 snapshots checked: 1 damaged. All content hashed: ');
  expect(text.stdout).toContain('\n  t/2: objects are damaged\n    m/own/2\n');
  const json = await runSnapJson(['verify', '--percent', '100', '--max-duration', '1h'], { dataDir: store.dataDir });
  expect(json.document).toMatchObject({
    ok: true,
    data: {
      sound: false,
      damaged: [{ paths: [{ mount: 'm', path: 'own/2', kind: 'file' }], paths_total: 1 }],
      content: { objects_checked: countObjects(store), objects_total: countObjects(store) },
    },
  });
});

/** A git that notes its calls. */
