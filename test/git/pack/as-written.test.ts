import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../../src/core/ids.js';
import type { Store } from '../../../src/core/ports.js';
import { storeGit } from '../../support/store-git.js';
import { type StoreArea, explode, preparedStore, publishSnapshot } from '../fixture.js';

const noPause = (): Promise<void> => Promise.resolve();

/** Alike enough for deltas. */
function versions(count: number): Record<string, string> {
  const lines = Array.from({ length: 60 }, () => randomBytes(24).toString('hex'));
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`f${n}`, [...lines.slice(n), `version ${n}`].join('\n')]),
  );
}

function blobsOf({ dataDir }: StoreArea): ObjectId[] {
  const { stdout } = storeGit(dataDir, ['cat-file', '--batch-all-objects', '--batch-check']);
  return stdout.split('\n').flatMap((line) => (line.includes(' blob ') ? [line.slice(0, 40) as ObjectId] : []));
}

function packFiles({ directory }: StoreArea, suffix: string): string[] {
  const packs = join(directory, 'objects/pack');
  return readdirSync(packs)
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(packs, name));
}

const shapes: { shape: string; make: (area: StoreArea) => void }[] = [
  { shape: 'as they were saved', make: () => undefined },
  { shape: 'as deltas', make: ({ dataDir }) => storeGit(dataDir, ['repack', '-adfq', '--depth=20', '--window=20']) },
  {
    shape: 'in packs with one index',
    make: ({ dataDir }) => storeGit(dataDir, ['multi-pack-index', 'write']),
  },
];

async function areaOf(make: (area: StoreArea) => void): Promise<StoreArea> {
  const area = await preparedStore();
  await publishSnapshot(area.store, 1, versions(12));
  await publishSnapshot(area.store, 2, { ...versions(3), large: randomBytes(90_000).toString('latin1') });
  make(area);
  return area;
}

describe.each(shapes)('objects $shape', ({ make }) => {
  test('are as written', async () => {
    const area = await areaOf(make);
    const blobs = blobsOf(area);
    expect(await area.store.findAsWritten(blobs, noPause)).toEqual(new Set(blobs));
  });

  test('that a changed byte concerns are not vouched for, wherever it is', async () => {
    const area = await areaOf(make);
    const blobs = blobsOf(area);
    for (const file of [...packFiles(area, '.pack'), ...packFiles(area, '.idx'), ...packFiles(area, '-index')]) {
      const whole = readFileSync(file);
      chmodSync(file, 0o600);
      const step = Math.max(1, Math.floor(whole.length / 40));
      for (let at = 0; at < whole.length; at += at < 40 ? 3 : step) {
        const bytes = Buffer.from(whole);
        bytes[at]! ^= 1 << (at % 8);
        writeFileSync(file, bytes);
        const vouched = await area.store.findAsWritten(blobs, noPause);
        expect(await unreadable(area.store, vouched), `byte ${at} of ${file}`).toEqual([]);
      }
      writeFileSync(file, whole);
    }
    expect((await area.store.findAsWritten(blobs, noPause)).size).toBe(blobs.length);
  });

  test('are in doubt when the pack is cut off', async () => {
    const area = await areaOf(make);
    const [pack = ''] = packFiles(area, '.pack');
    const whole = readFileSync(pack);
    chmodSync(pack, 0o600);
    writeFileSync(pack, whole.subarray(0, whole.length - 100));
    expect(await area.store.findAsWritten(blobsOf(area), noPause)).toEqual(new Set());
  });
});

/** Those that git does not give as they were. */
async function unreadable(store: Store, blobs: Iterable<ObjectId>): Promise<ObjectId[]> {
  const reader = store.reader();
  const found = [];
  try {
    for (const oid of blobs) {
      const isSound = await reader
        .stream(oid, () => undefined)
        .then(
          () => true,
          () => false,
        );
      if (!isSound) found.push(oid);
    }
  } finally {
    await reader.close();
  }
  return found;
}

test('loose objects are read', async () => {
  const area = await areaOf(() => undefined);
  const blobs = blobsOf(area);
  explode(area.dataDir, area.directory);
  expect(await area.store.findAsWritten(blobs, noPause)).toEqual(new Set());
});

test('what is no blob, or not there, is not vouched for', async () => {
  const area = await preparedStore();
  const commit = await publishSnapshot(area.store, 1, { a: 'a' });
  const absent = '1'.repeat(40) as ObjectId;
  expect(await area.store.findAsWritten([commit, absent], noPause)).toEqual(new Set());
});

test('one damaged copy is enough for doubt', async () => {
  const area = await preparedStore();
  await publishSnapshot(area.store, 1, { a: 'a'.repeat(50) });
  const [blob] = blobsOf(area).filter((oid) => storeGit(area.dataDir, ['cat-file', '-s', oid]).stdout === '50\n');
  const [first = ''] = packFiles(area, '.pack');
  storeGit(area.dataDir, ['pack-objects', '-q', join(area.directory, 'objects/pack/pack')], { stdin: `${blob}\n` });
  expect(packFiles(area, '.pack').length).toBe(2);
  expect(await area.store.findAsWritten([blob!], noPause)).toEqual(new Set([blob]));
  chmodSync(first, 0o600);
  const bytes = readFileSync(first);
  for (let at = 13; at < bytes.length - 20; at++) bytes[at]! ^= 0x80;
  writeFileSync(first, bytes);
  expect(await area.store.findAsWritten([blob!], noPause)).toEqual(new Set());
  rmSync(first);
  expect(await area.store.findAsWritten([blob!], noPause)).toEqual(new Set([blob]));
});
