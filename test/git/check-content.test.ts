import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import type { ContentProgress } from '../../src/core/ports.js';
import { openStore } from '../../src/git/store.js';
import { storeGit } from '../support/store-git.js';
import { type StoreArea, explode, loosePath, preparedStore, publishSnapshot } from './fixture.js';

const never = { isOver: () => false };
const cursorOf = ({ dataDir }: StoreArea): string => join(dataDir, 'cache/content-checked');

/** All ids, in order. */
function idsIn({ dataDir }: StoreArea): string[] {
  const listed = storeGit(dataDir, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']).stdout;
  return listed.trim().split('\n').sort();
}

async function withObjects(snapshots = 6): Promise<StoreArea & { readonly ids: string[] }> {
  const area = await preparedStore();
  for (let seq = 1; seq <= snapshots; seq++)
    await publishSnapshot(area.store, seq, { same: 'same', [`own-${seq}`]: `${seq}` });
  return { ...area, ids: idsIn(area) };
}

function cursor(area: StoreArea): string | undefined {
  return existsSync(cursorOf(area)) ? readFileSync(cursorOf(area), 'latin1').trim() : undefined;
}

describe('all content', () => {
  test('is read by ids, and leaves the place of parts as it is', async () => {
    const area = await withObjects();
    const seen: ContentProgress[] = [];
    const checked = await area.store.checkContent(null, (done) => seen.push(done));
    expect(checked).toEqual({ checked: area.ids.length, total: area.ids.length, unreadable: new Map() });
    expect(await area.store.countObjects()).toBe(area.ids.length);
    expect(seen.map(({ objects }) => objects)).toEqual(area.ids.map((_, at) => at + 1));
    expect(seen.every(({ of }) => of === area.ids.length)).toBe(true);
    expect(cursor(area)).toBeUndefined();
  });

  test('that is damaged in many places is read to the end', async () => {
    const area = await withObjects();
    explode(area.dataDir, area.directory);
    const ruined = area.ids.filter((_, at) => at % 3 === 0);
    for (const [at, id] of ruined.entries()) {
      rmSync(loosePath(area.directory, id));
      const other = readFileSync(loosePath(area.directory, area.ids[1]!));
      writeFileSync(loosePath(area.directory, id), at % 2 === 0 ? other : other.subarray(0, 8));
    }
    const { checked, unreadable } = await area.store.checkContent(null, () => undefined);
    expect([...unreadable.keys()]).toEqual(ruined);
    expect(checked).toBe(area.ids.length);
    for (const [id, problem] of unreadable) expect(problem).toContain(id);
  });

  test('is noted as damaged until it is read once more, or is gone', async () => {
    const area = await withObjects();
    explode(area.dataDir, area.directory);
    const [first, last] = [area.ids[0] as ObjectId, area.ids.at(-1) as ObjectId];
    const sound = new Map([first, last].map((id) => [id, readFileSync(loosePath(area.directory, id))]));
    const put = (id: ObjectId, bytes: Uint8Array): void => {
      rmSync(loosePath(area.directory, id));
      writeFileSync(loosePath(area.directory, id), bytes);
    };
    for (const [id, bytes] of sound) put(id, bytes.subarray(0, -4));
    await area.store.checkContent(null, () => undefined);
    expect(area.store.notedDamage()).toEqual([first, last]);

    put(first, sound.get(first)!);
    const stopped = area.store.checkContent(null, () => {
      throw new Error('stopped');
    });
    await expect(stopped).rejects.toThrow('stopped');
    expect(area.store.notedDamage()).toEqual([last]);
    expect(await area.store.damagedObjects([])).toEqual([last]);

    rmSync(loosePath(area.directory, last));
    expect(await area.store.damagedObjects([])).toEqual([]);
    expect(area.store.notedDamage()).toEqual([]);
  });

  test('that is noted and gone is forgotten by the check of a part', async () => {
    const area = await withObjects();
    const noted = join(area.dataDir, 'cache/damaged-objects');
    writeFileSync(noted, `${'0'.repeat(40)}\n${area.ids[1]!}\n`);
    await area.store.checkContent({ percent: 1, ...never }, () => undefined);
    expect(area.store.notedDamage()).toEqual([area.ids[1]]);
  });

  test('of an empty store is none', async () => {
    const { store } = await preparedStore();
    expect(await store.checkContent(null, () => undefined)).toMatchObject({ checked: 0, total: 0 });
    expect(await store.checkContent({ percent: 10, ...never }, () => undefined)).toMatchObject({
      checked: 0,
      total: 0,
    });
  });
});

describe('a part of the content', () => {
  test('goes on where the last one ended, and round again', async () => {
    const area = await withObjects();
    const { length } = area.ids;
    const tenth = Math.ceil(length / 10);
    const ends = [];
    for (let run = 1; run <= 15; run++) {
      const { checked } = await area.store.checkContent({ percent: 10, ...never }, () => undefined);
      expect(checked).toBe(tenth);
      ends.push(cursor(area));
    }
    expect(ends).toEqual(Array.from({ length: 15 }, (_, run) => area.ids[((run + 1) * tenth - 1) % length]));
  });

  test('of ten percent finds any damage within ten runs', async () => {
    const area = await withObjects();
    explode(area.dataDir, area.directory);
    for (const id of area.ids) {
      const sound = readFileSync(loosePath(area.directory, id));
      rmSync(loosePath(area.directory, id));
      writeFileSync(loosePath(area.directory, id), sound.subarray(0, -4));
      const found = new Set<ObjectId>();
      for (let run = 0; run < 10; run++) {
        const { unreadable } = await area.store.checkContent({ percent: 10, ...never }, () => undefined);
        for (const oid of unreadable.keys()) found.add(oid);
      }
      expect([...found]).toEqual([id]);
      writeFileSync(loosePath(area.directory, id), sound);
    }
  });

  test('ends when its time is up, after one object at least', async () => {
    const area = await withObjects();
    let asked = 0;
    const part = { percent: 100, isOver: () => ++asked === 4 };
    expect(await area.store.checkContent(part, () => undefined)).toMatchObject({ checked: 4 });
    expect(cursor(area)).toBe(area.ids[3]);
    const late = { percent: 100, isOver: () => true };
    expect(await area.store.checkContent(late, () => undefined)).toMatchObject({ checked: 1 });
    expect(cursor(area)).toBe(area.ids[4]);
  });

  test('that ends with an object that is gone since goes on with the next', async () => {
    const area = await withObjects();
    writeFileSync(cursorOf(area), `${area.ids[3]!.slice(0, -1)}${area.ids[3]!.endsWith('0') ? '1' : '0'}\n`);
    await area.store.checkContent({ percent: 1, ...never }, () => undefined);
    expect([area.ids[3], area.ids[4]]).toContain(cursor(area));
  });

  test.each(['', 'garbage', 'f'.repeat(39), `${'a'.repeat(40)}\n\n`, '\0'.repeat(41)])(
    'begins with the first object where the note is %j',
    async (note) => {
      const area = await withObjects(2);
      writeFileSync(cursorOf(area), note);
      await area.store.checkContent({ percent: 1, ...never }, () => undefined);
      expect(cursor(area)).toBe(area.ids[0]);
    },
  );

  test('needs no note, and leaves nothing beside it', async () => {
    const area = await withObjects(2);
    rmSync(join(area.dataDir, 'cache'), { recursive: true, force: true });
    await area.store.checkContent({ percent: 1, ...never }, () => undefined);
    expect(readdirSync(join(area.dataDir, 'cache'))).toContain('content-checked');
    rmSync(join(area.dataDir, 'cache'), { recursive: true });
    writeFileSync(join(area.dataDir, 'cache'), 'no directory');
    const checked = await area.store.checkContent({ percent: 1, ...never }, () => undefined);
    expect(checked).toMatchObject({ checked: 1, unreadable: new Map() });
  });

  test('that is interrupted notes how far it came', async () => {
    const area = await withObjects();
    const abort = new AbortController();
    const options = { env: process.env, forbiddenProgramDirectories: () => [] };
    const store = openStore({ ...options, dataDir: area.dataDir, signal: abort.signal });
    const stopping = store.checkContent({ percent: 100, ...never }, ({ objects }) => {
      if (objects === 5) abort.abort('SIGINT');
    });
    await expect(stopping).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(cursor(area)).toBe(area.ids[4]);
  });
});
