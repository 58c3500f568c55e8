import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Seq, SnapshotId } from '../../src/core/ids.js';
import { type Candidate, type RetentionPolicy, expired, yielding } from '../../src/core/retention.js';
import { testSeed } from '../support/seed.js';

/**
 * `3` a snapshot, `3e` an emergency one, `3p` a pinned one, `3n` one that a pending restore needs, `3f` a fetched one; `3@05-17T22` one of
 * 22:00 UTC on 17 May 2026, `3@1970-01-01T00` one of a clock that has lost its time.
 */
function candidate(text: string): Candidate {
  return {
    seq: parseInt(text) as Seq,
    id: '' as SnapshotId,
    trigger: text.includes('e') ? 'emergency' : 'manual',
    createdAt: momentIn(text),
    pinned: text.includes('p'),
    needed: text.includes('n'),
    fetched: text.includes('f'),
  };
}

function momentIn(text: string): Date {
  const moment = text.split('@')[1] ?? '01-01T00';
  return new Date(`${moment.length > 8 ? '' : '2026-'}${moment}:00Z`);
}

const lastOnly: RetentionPolicy = { keep_last: 1, keep_daily: 0, keep_weekly: 0, keep_emergency: 10 };

function goes(snapshots: string, keepLast: number, keepEmergency = 10): string {
  const all = snapshots
    .split(' ')
    .filter((text) => text !== '')
    .map(candidate);
  return expired(all, { ...lastOnly, keep_last: keepLast, keep_emergency: keepEmergency })
    .map(({ seq }) => seq)
    .join(' ');
}

const plain = { pinned: false, needed: false, fetched: false } as const;

describe('what a policy no longer keeps', () => {
  test.each([
    { what: 'nothing of nothing', all: '', keep: 1, gone: '' },
    { what: 'not the only one', all: '1', keep: 1, gone: '' },
    { what: 'not the first and the latest', all: '1 2', keep: 1, gone: '' },
    { what: 'the oldest interior ones', all: '1 2 3 4 5', keep: 3, gone: '2' },
    { what: 'all interior ones', all: '1 2 3 4 5', keep: 1, gone: '2 3 4' },
    { what: 'none while there are no more than are kept', all: '1 2 3 4 5', keep: 5, gone: '' },
    { what: 'in order, however they come', all: '5 3 1 4 2', keep: 2, gone: '2 3' },
    { what: 'gaps are no snapshots', all: '10 20 30 40', keep: 2, gone: '20' },
    { what: 'never a pinned one', all: '1 2p 3 4p 5', keep: 1, gone: '3' },
    { what: 'never one that a pending restore needs', all: '1 2n 3 4 5', keep: 1, gone: '3 4' },
  ])('$what', ({ all, keep, gone }) => {
    expect(goes(all, keep)).toBe(gone);
  });

  test.each([
    { what: 'they stay', all: '1f 2f 3f 4f 5 6', keep: 1, gone: '' },
    { what: 'they push nothing out, be their numbers the highest', all: '1 2 3 4f 5f 6f', keep: 3, gone: '' },
    { what: 'what was saved here has its own first and latest', all: '1f 2 3 4 5f', keep: 1, gone: '3' },
    { what: 'emergency ones among them are not counted either', all: '1 2e 3 4ef 5ef', keep: 9, gone: '' },
  ])('of fetched ones: $what', ({ all, keep, gone }) => {
    expect(goes(all, keep, 1)).toBe(gone);
  });

  test.each([
    { what: 'emergency ones are counted apart', all: '1 2e 3 4e 5 6e 7', keep: 4, emergency: 1, gone: '2 4' },
    { what: 'they do not push others out', all: '1 2 3e 4e 5e 6', keep: 3, emergency: 3, gone: '' },
    { what: 'none of them is kept when none is wanted', all: '1 2e 3 4e 5', keep: 5, emergency: 0, gone: '2 4' },
    { what: 'one that is the latest stays', all: '1 2 3e', keep: 5, emergency: 0, gone: '' },
    { what: 'one that is needed stays', all: '1 2en 3e 4', keep: 5, emergency: 0, gone: '3' },
    { what: 'the first is the first, of whatever kind', all: '1e 2 3 4', keep: 1, emergency: 0, gone: '2 3' },
  ])('$what', ({ all, keep, emergency, gone }) => {
    expect(goes(all, keep, emergency)).toBe(gone);
  });
});

test('what stays once is what stays twice: retention of its own outcome removes nothing more', () => {
  for (let keep = 1; keep < 8; keep++)
    for (let emergency = 0; emergency < 4; emergency++) {
      const all = Array.from(
        { length: 12 },
        (_, at) => `${at + 1}${at % 3 === 0 ? 'e' : ''}${at % 5 === 4 ? 'p' : ''}`,
      );
      const gone = new Set(goes(all.join(' '), keep, emergency).split(' '));
      const left = all.filter((text) => !gone.has(String(parseInt(text))));
      expect(goes(left.join(' '), keep, emergency)).toBe('');
    }
});

function stays(snapshots: string, policy: Partial<RetentionPolicy>): string {
  const all = snapshots.split(' ').map(candidate);
  const gone = new Set(expired(all, { ...lastOnly, ...policy }));
  return all.flatMap((one) => (gone.has(one) ? [] : [String(one.seq)])).join(' ');
}

describe('days', () => {
  const week = '1@05-01T00 2@05-04T09 3@05-04T23 4@05-05T00 5@05-06T12 6@05-06T13 7@05-08T08 8@05-08T09';

  test.each([
    { what: 'none are wanted', all: week, days: 0, kept: '1 8' },
    { what: 'the latest is of the last day', all: week, days: 1, kept: '1 8' },
    { what: 'the newest of each counts', all: week, days: 2, kept: '1 6 8' },
    { what: 'days end at midnight UTC', all: week, days: 4, kept: '1 3 4 6 8' },
    { what: 'there are fewer than wanted', all: week, days: 100, kept: '1 3 4 6 8' },
    { what: 'one of the future is of one day', all: '1 2@05-01T00 3@2099-01-01T00 4@05-01T01', days: 2, kept: '1 3 4' },
    {
      what: 'one of the future goes when others came',
      all: '1 2@2099-01-01T00 3@05-01T01 4@05-02T01',
      days: 2,
      kept: '1 3 4',
    },
    { what: 'one of 1970 is of one day', all: '1 2@05-01T00 3@1970-01-01T00 4@05-02T00', days: 3, kept: '1 2 3 4' },
    { what: 'the clock went back', all: '1 2@05-02T00 3@05-01T00 4@05-02T01', days: 2, kept: '1 3 4' },
    {
      what: 'emergency snapshots stand for no day',
      all: '1 2@05-01T00 3e@05-01T01 4@05-02T00',
      days: 2,
      kept: '1 2 3 4',
    },
    { what: 'a pinned one stands for its day', all: '1 2@05-01T00 3p@05-01T01 4@05-02T00', days: 2, kept: '1 3 4' },
  ])('when $what: $kept of $all', ({ all, days, kept }) => {
    expect(stays(all, { keep_daily: days })).toBe(kept);
  });
});

describe('ISO weeks', () => {
  test.each([
    {
      what: 'Sunday is of the week before Monday',
      all: '1 2@05-10T23 3@05-11T00 4@05-18T00',
      weeks: 3,
      kept: '1 2 3 4',
    },
    { what: 'Monday to Sunday is one', all: '1 2@05-11T00 3@05-17T23 4@05-18T00', weeks: 3, kept: '1 3 4' },
    {
      what: 'a new year may be in the middle of one',
      all: '1@2020-01-01T00 2@2025-12-29T00 3@01-04T23 4@01-05T00',
      weeks: 3,
      kept: '1 3 4',
    },
    { what: 'before 1970 too', all: '1 2@1969-12-28T23 3@1969-12-29T00 4@1970-01-04T23', weeks: 3, kept: '1 2 4' },
  ])('$what', ({ all, weeks, kept }) => {
    expect(stays(all, { keep_weekly: weeks })).toBe(kept);
  });
});

describe('over the ceiling', () => {
  test.each([
    { all: '', order: '' },
    { all: '1 2', order: '' },
    { all: '1 2 3 4 5', order: '2 3 4' },
    { all: '1 2p 3n 4e 5 6', order: '5' },
    { all: '1 2 3 4 5', keep: 2, order: '4' },
  ])('of $all with keep_last=$keep what is kept otherwise goes as $order', ({ all, keep = 10, order }) => {
    const some = all.split(' ').filter((text) => text !== '');
    const going = yielding(some.map(candidate), { ...lastOnly, keep_last: keep });
    expect(going.map(({ seq }) => seq).join(' ')).toBe(order);
  });
});

describe('whatever the clock said', () => {
  const date = fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.date({ noInvalidDate: true, min: new Date('2026-05-01'), max: new Date('2026-06-15') }),
    fc.constantFrom(new Date(0), new Date('2099-01-01T00:00:00Z')),
  );
  const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 0);
  const snapshots = fc
    .array(fc.record({ createdAt: date, emergency: rarely, pinned: rarely, needed: rarely, gap: fc.nat(2) }), {
      maxLength: 40,
    })
    .map((all): Candidate[] => {
      let seq = 0;
      return all.map(({ createdAt, emergency, pinned, needed, gap }) => ({
        seq: (seq += gap + 1) as Seq,
        id: '' as SnapshotId,
        trigger: emergency ? 'emergency' : 'manual',
        createdAt,
        pinned,
        needed,
        fetched: false,
      }));
    });
  const policy = fc.record({
    keep_last: fc.integer({ min: 1, max: 12 }),
    keep_daily: fc.nat(12),
    keep_weekly: fc.nat(8),
    keep_emergency: fc.nat(4),
  });

  function left(all: readonly Candidate[], by: RetentionPolicy): Candidate[] {
    const gone = new Set(expired(all, by));
    return all.filter((one) => !gone.has(one));
  }

  function check(property: (all: Candidate[], by: RetentionPolicy) => void): void {
    fc.assert(fc.property(snapshots, policy, property), { seed: testSeed(), numRuns: 500 });
  }

  test('the first, the latest, pinned and needed ones stay', () => {
    check((all, by) => {
      const must = all.filter((one, at) => at === 0 || at === all.length - 1 || one.pinned || one.needed);
      expect(left(all, by)).toEqual(expect.arrayContaining(must));
      for (const one of yielding(all, by)) expect(must).not.toContain(one);
    });
  });

  test('no more goes than keep_last and keep_emergency alone let go', () => {
    check((all, by) => {
      const alone = expired(all, { ...by, keep_daily: 0, keep_weekly: 0 });
      expect(alone).toEqual(expect.arrayContaining(expired(all, by)));
    });
  });

  test('no more stays than the numbers add up to, besides what always stays', () => {
    check((all, by) => {
      const usual = left(all, by).filter(({ pinned, needed }) => !pinned && !needed);
      expect(usual.length).toBeLessThanOrEqual(2 + by.keep_last + by.keep_daily + by.keep_weekly + by.keep_emergency);
    });
  });

  test('a second time removes nothing', () => {
    check((all, by) => {
      expect(expired(left(all, by), by)).toEqual([]);
    });
  });

  test('a newer snapshot brings none back that was let go', () => {
    fc.assert(
      fc.property(snapshots, policy, date, fc.boolean(), (all, by, createdAt, emergency) => {
        const seq = ((all.at(-1)?.seq ?? 0) + 1) as Seq;
        const trigger = emergency ? 'emergency' : 'manual';
        const more = [...all, { seq, trigger, createdAt, id: '' as SnapshotId, ...plain } as const];
        expect(expired(more, by)).toEqual(expect.arrayContaining(expired(all, by)));
        // Nor does it matter whether those were removed before it came.
        expect(left([...left(all, by), ...more.slice(-1)], by)).toEqual(left(more, by));
      }),
      { seed: testSeed(), numRuns: 500 },
    );
  });

  test('a greater number lets go none that a smaller one keeps', () => {
    check((all, by) => {
      for (const key of ['keep_last', 'keep_daily', 'keep_weekly', 'keep_emergency'] as const)
        expect(expired(all, by)).toEqual(expect.arrayContaining(expired(all, { ...by, [key]: by[key] + 1 })));
    });
  });

  test('the order in which they come does not matter', () => {
    check((all, by) => {
      expect(expired([...all].reverse(), by)).toEqual(expired(all, by));
    });
  });
});

test.each([
  { what: 'fetched ones go first', all: '1 2 3f 4 5f 6', goes: '3 5 2 4' },
  { what: 'also emergency ones among them', all: '1 2 3ef 4', goes: '3 2' },
  { what: 'not pinned and needed ones', all: '1 2fp 3fn 4f 5', goes: '4' },
  { what: 'the first and the latest of all stay, and of what was saved here', all: '1f 2f 3 4 5 6f 7f', goes: '2 6 4' },
  { what: 'where all were fetched, the first and the latest stay', all: '1f 2f 3f', goes: '2' },
])('over the ceiling, $what', ({ all, goes: expected }) => {
  const order = yielding(all.split(' ').map(candidate), { ...lastOnly, keep_last: 100 });
  expect(order.map(({ seq }) => seq).join(' ')).toBe(expected);
});
