import { expect, test } from 'vitest';

import type { EntryStat } from '../../../src/core/entry.js';
import { fullMode, isSameEntry, timesOf } from '../../../src/fs/stat-cache/recorded-stat.js';

const times = { mtimeNs: 1_700_000_000_123_456_789n, ctimeNs: 1_700_000_001_987_654_321n };
const stat = { kind: 'file', mode: 0o644, ino: 42n, ...times } as EntryStat;

const { mtimeSeconds, mtimeNanoseconds, ctimeSeconds, ctimeNanoseconds } = timesOf(stat);
const columns = {
  ino: [42],
  mode: [fullMode(stat)],
  mtimeSeconds: [mtimeSeconds],
  mtimeNanoseconds: [mtimeNanoseconds],
  ctimeSeconds: [ctimeSeconds],
  ctimeNanoseconds: [ctimeNanoseconds],
};

test('an entry is known by its own stat', () => {
  expect(isSameEntry(columns, 0, stat)).toBe(true);
});

test.each<{ what: string; other: Partial<EntryStat> }>([
  { what: 'inode', other: { ino: 43n } },
  { what: 'mode', other: { mode: 0o600 } },
  { what: 'kind', other: { kind: 'symlink' } },
  { what: 'time, by a nanosecond', other: { mtimeNs: times.mtimeNs + 1n } },
  { what: 'time, by a second', other: { mtimeNs: times.mtimeNs + 1_000_000_000n } },
  { what: 'time of change, by a nanosecond', other: { ctimeNs: times.ctimeNs + 1n } },
  { what: 'time of change, by a second', other: { ctimeNs: times.ctimeNs - 1_000_000_000n } },
])('one of another $what is another', ({ other }) => {
  expect(isSameEntry(columns, 0, { ...stat, ...other })).toBe(false);
});
