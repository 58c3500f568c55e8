import { describe, expect, test } from 'vitest';

import type { Seq, SnapshotId } from '../../src/core/ids.js';
import { type Candidate, expired } from '../../src/core/retention.js';

/** `3` a snapshot, `3e` an emergency one, `3p` a pinned one, `3n` one that a pending restore needs. */
function candidate(text: string): Candidate {
  return {
    seq: parseInt(text) as Seq,
    id: '' as SnapshotId,
    trigger: text.includes('e') ? 'emergency' : 'manual',
    pinned: text.includes('p'),
    needed: text.includes('n'),
  };
}

function goes(snapshots: string, keepLast: number, keepEmergency = 10): string {
  const all = snapshots
    .split(' ')
    .filter((text) => text !== '')
    .map(candidate);
  return expired(all, { keep_last: keepLast, keep_emergency: keepEmergency })
    .map(({ seq }) => seq)
    .join(' ');
}

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
