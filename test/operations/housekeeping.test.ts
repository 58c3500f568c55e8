import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { GatheredPacks, HeldLock } from '../../src/core/ports.js';
import type { InstanceName, Seq } from '../../src/core/ids.js';
import { defaultPolicy } from '../../src/core/policy.js';
import { SnapError } from '../../src/errors.js';
import type { Context } from '../../src/operations/context.js';
import { housekeep, isDue } from '../../src/operations/keep/housekeeping.js';
import { pruneAfterSave } from '../../src/operations/keep/after-save.js';
import { save } from '../../src/operations/save.js';
import { MemoryContext } from './memory-context.js';

const made: GatheredPacks = { old: ['a', 'b'], new: ['c'] };

interface House {
  readonly packs: number | readonly number[];
  readonly busy?: string;
  readonly fails?: string;
  readonly gathered?: GatheredPacks | undefined;
  /** Sizes in MiB: of all objects, of those that are old, of those that are needed, and from where on to look. */
  readonly total?: number;
  readonly old?: number;
  readonly needed?: number;
  readonly look?: number;
  readonly ceiling?: number;
}

const mebibyte = 1024 * 1024;

/** What is done, in order, with the locks that are had meanwhile. */
function house({ packs, busy, fails, ...rest }: House): {
  context: Context;
  done: string[];
  noted: number[];
  checked: string[];
} {
  const { total = 1, old = total, needed = total, look, ceiling = null } = rest;
  const done: string[] = [];
  const noted: number[] = [];
  const checked: string[] = [];
  const held = new Set<string>();
  const counts = [packs].flat();
  const lock = (name: string): Promise<HeldLock> => {
    if (name === busy) return Promise.reject(new SnapError('BUSY', 'busy', { lock: name, holder: 'x' }));
    held.add(name);
    return Promise.resolve({ release: () => void held.delete(name) });
  };
  const step = (name: string): void => {
    done.push(`${name} with ${[...held].join(' and ')}`);
    if (name === fails) throw new SnapError('GIT_FAILED', name, { command: name, exitCode: 1 });
  };
  const answer = 'gathered' in rest ? rest.gathered : made;
  const policy = { ...defaultPolicy, max_store_bytes: ceiling === null ? null : ceiling * mebibyte };
  const context = {
    now: () => new Date(3_600_000),
    interruption: { raised: false },
    graceSeconds: 600,
    registry: {
      all: () => [{ policy: defaultPolicy }, { policy }],
      lastSeq: (name: string) => (name === 'new' ? undefined : 5),
      recordLastSeq: (name: string, seq: number) => step(`note ${name}/${seq}`),
    },
    locks: {
      housekeeping: () => lock('its own'),
      storeShared: () => lock('shared'),
      storeExclusive: () => lock('exclusive'),
    },
    store: {
      exists: () => counts[0] !== -1,
      countPacks: () => (counts.length > 1 ? counts.shift()! : counts[0]!),
      gatherPacks: () => attempt(() => (step('gather'), answer)),
      removeGathered: () => attempt(() => step('remove')),
      refNames: () => ['t/7', 't/6', 't/x', 't/8/9', 'old/5', ...many, 'new/1'].map((name) => `refs/jackin/${name}`),
      packRefs: () => attempt(() => step('pack refs')),
      checkContent: () => attempt(() => void checked.push([...held].join(' and '))),
      packKept: () => attempt(() => (step('keep'), { bytesYoung: 0, bytesWritten: 0 })),
      removeRest: () => attempt(() => step('remove rest')),
      sizeOnDisk: () => Promise.resolve(total * mebibyte),
      refs: () => Promise.resolve([]),
      bytesReachable: () =>
        needed < 0
          ? Promise.reject(new SnapError('GIT_FAILED', 'missing', { command: 'rev-list', exitCode: 128 }))
          : Promise.resolve(needed * mebibyte),
      bytesOfObjects: (since?: number) => (since === undefined ? total : since === 3_000_000 ? old : NaN) * mebibyte,
      nextLook: () => (look === undefined ? undefined : look * mebibyte),
      noteNextLook: (bytes: number) => void noted.push(bytes / mebibyte),
    },
  } as unknown as Context;
  return { context, done, noted, checked };
}

function attempt<T>(act: () => T): Promise<T> {
  return new Promise((resolve) => resolve(act()));
}

/** What of so many the last number that was used says is for retention to change: it goes by it. */
const many = Array.from({ length: 1001 }, (_, at) => `many/${at + 1}`);

const all = [
  'gather with its own and shared',
  'remove with its own and exclusive',
  'note t/7 with its own and exclusive',
  'note new/1 with its own and exclusive',
  'pack refs with its own and exclusive',
];

const freeing = [
  'keep with its own and shared',
  'note t/7 with its own and exclusive',
  'note new/1 with its own and exclusive',
  'remove rest with its own and exclusive',
];

describe('housekeeping', () => {
  test.each([
    { packs: -1, due: false },
    { packs: 0, due: false },
    { packs: 49, due: false },
    { packs: 50, due: true },
    { packs: 51, due: true },
    { packs: 52, due: false },
    { packs: 59, due: false },
    { packs: 60, due: true },
    { packs: 1230, due: true },
  ])('with $packs packs is due: $due', ({ packs, due }) => {
    expect(isDue(house({ packs }).context)).toBe(due);
  });

  test.each([
    { why: 'there are many packs', house: { packs: 50 }, steps: all },
    { why: 'saves went on since it was started', house: { packs: 53 }, steps: all },
    { why: 'nothing is to be gathered', house: { packs: 50, gathered: undefined }, steps: [all[0], ...all.slice(2)] },
    { why: 'there are few packs', house: { packs: 49 }, steps: [] },
    { why: 'there is no store', house: { packs: -1 }, steps: [] },
    { why: 'another is at it', house: { packs: 50, busy: 'its own' }, steps: [] },
    { why: 'another has just done it', house: { packs: [50, 3] }, steps: [] },
    { why: 'others stay in the store', house: { packs: 50, busy: 'exclusive' }, steps: all.slice(0, 1) },
  ])('when $why does $steps', async ({ house: given, steps }) => {
    const { context, done } = house(given);
    await housekeep(context);
    expect(done).toEqual(steps);
  });

  test.each([
    { packs: 3, total: 63, due: false },
    { packs: 3, total: 64, due: true },
    { packs: 3, total: 64, look: 65, due: false },
    { packs: 3, total: 65, look: 65, due: true },
    { packs: 3, total: 1, look: 0, due: true },
    { packs: 0, total: 100, due: false },
  ])('with $total MiB in $packs packs, to be looked at from $look on, is due: $due', ({ due, ...given }) => {
    expect(isDue(house(given).context)).toBe(due);
  });

  test.each([
    { why: 'a third of all is garbage', house: { total: 300, needed: 199 }, steps: freeing, next: 398 },
    { why: 'less is garbage', house: { total: 300, needed: 201 }, steps: [], next: 402 },
    { why: 'all is needed', house: { total: 300 }, steps: [], next: 600 },
    { why: 'garbage is young', house: { total: 300, old: 200, needed: 199 }, steps: [], next: 375 },
    { why: 'there is little', house: { packs: 50, total: 10, needed: 1 }, steps: freeing, next: 64 },
    { why: 'the store takes too much', house: { total: 300, needed: 280, ceiling: 290 }, steps: freeing, next: 294 },
    { why: 'it takes as much as it may', house: { total: 300, needed: 280, ceiling: 300 }, steps: [], next: 560 },
    { why: 'all that takes too much is needed', house: { total: 300, ceiling: 290 }, steps: [], next: 315 },
    { why: 'something is missing', house: { total: 300, needed: -1 }, steps: [], next: undefined },
    {
      why: 'others stay in the store',
      house: { total: 300, needed: 100, busy: 'exclusive' },
      steps: freeing.slice(0, 1),
      next: 200,
    },
  ])('when $why frees $steps and looks again at $next MiB', async ({ house: given, steps, next }) => {
    const { context, done, noted } = house({ packs: 5, ...given });
    await housekeep(context);
    expect(done).toEqual(steps);
    expect(noted.map((bytes) => Math.round(bytes))).toEqual(next === undefined ? [] : [next]);
  });

  test.each([
    { why: 'packs were put together', house: { packs: 50 }, times: 1 },
    { why: 'packs cannot be put together', house: { packs: 50, fails: 'gather' }, times: 1 },
    { why: 'garbage was freed', house: { packs: 5, total: 300, needed: 100 }, times: 1 },
    { why: 'there is nothing to do', house: { packs: 5 }, times: 0 },
    { why: 'somebody has the store for himself', house: { packs: 5, total: 300, busy: 'shared' }, times: 0 },
  ])('reads some of the content beside others when $why: $times', async ({ house: given, times }) => {
    const { context, checked } = house(given);
    await housekeep(context).catch(() => undefined);
    expect(checked).toEqual(Array.from({ length: times }, () => 'its own and shared'));
  });

  test.each(['gather', 'remove', 'pack refs'])('that fails at %s holds no lock any more', async (fails) => {
    const { context, done } = house({ packs: 50, fails });
    await expect(housekeep(context)).rejects.toMatchObject({ code: 'GIT_FAILED' });
    await context.locks.storeShared().then((lock) => lock.release());
    const again = done.length;
    await housekeep(context).catch(() => undefined);
    expect(done.slice(again)).toEqual(done.slice(0, again));
  });
});

describe('retention after a save', () => {
  const numbers = (count: number): Seq[] => Array.from({ length: count }, (_, at) => (at + 1) as Seq);

  async function looks(count: number, lastSeq?: number): Promise<{ looked: boolean; lastSeq: number | undefined }> {
    const memory = new MemoryContext();
    memory.instance = 'demo';
    memory.cwd = join(memory.area, 'mount');
    mkdirSync(memory.cwd);
    const instance = 'demo' as InstanceName;
    await save(memory.context, {});
    if (lastSeq !== undefined) memory.lastSeqs.set(instance, lastSeq as Seq);
    let looked = false;
    const store = {
      ...memory.context.store,
      snapshots: () => {
        looked = true;
        return Promise.resolve([]);
      },
    };
    const record = { ...memory.records.get(instance)!, policy: { ...defaultPolicy, keep_last: 5000 } };
    expect(await pruneAfterSave({ ...memory.context, store }, record, numbers(count))).toEqual([]);
    return { looked, lastSeq: memory.lastSeqs.get(instance) };
  }

  test.each([
    { count: 11, looked: false, why: 'there are fewer than any setting lets go' },
    { count: 12, looked: true, why: 'there are more' },
    { count: 1000, lastSeq: 999, looked: true, why: 'up to a thousand each save looks' },
    { count: 1001, lastSeq: 1000, looked: false, why: 'among more than a thousand it is put off' },
    { count: 1049, lastSeq: 1000, looked: false, why: 'until fifty more are there' },
    { count: 1050, lastSeq: 1000, looked: true, why: 'fifty are' },
    { count: 1063, lastSeq: 1000, looked: true, why: 'restores may have used the fiftieth number' },
    { count: 1001, looked: true, why: 'nobody has ever looked' },
  ])(
    'among $count snapshots after a look at $lastSeq looks: $looked, since $why',
    async ({ count, lastSeq, looked }) => {
      const result = await looks(count, lastSeq);
      expect(result.looked).toBe(looked);
      expect(result.lastSeq).toBe(looked && count > 1000 ? count : lastSeq);
    },
  );
});
