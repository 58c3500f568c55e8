import { describe, expect, test } from 'vitest';

import { type EntryStat, isSettled, leftOutReasons, partialReasons, sameStat } from '../../src/core/entry.js';

const second = 1_000_000_000n;
const millisecond = 1_000_000n;
/** A moment with nanoseconds in it, so that times near it are not whole seconds by chance. */
const moment = 1_700_000_000n * second + 500_000_000n;

const stat: EntryStat = {
  kind: 'file',
  dev: 1n,
  ino: 2n,
  mode: 0o644,
  uid: 3,
  gid: 4,
  nlink: 1,
  size: 5,
  mtimeNs: moment - 60n * second,
  ctimeNs: moment - 60n * second,
  sparse: false,
};

describe('a file whose times are not clearly older than its capture may change unseen', () => {
  const whole = (moment / second) * second;
  test.each([
    { what: 'a minute ago', time: moment - 60n * second, settled: true },
    { what: 'more than a clock tick ago', time: moment - 21n * millisecond, settled: true },
    { what: 'just a clock tick ago', time: moment - 20n * millisecond, settled: false },
    { what: 'within the clock tick', time: moment - millisecond, settled: false },
    { what: 'at that very moment', time: moment, settled: false },
    { what: 'a nanosecond later', time: moment + 1n, settled: false },
    { what: 'in the future', time: moment + 3600n * second, settled: false },
    { what: 'in the same whole second (a coarse file system?)', time: whole, settled: false },
    { what: 'in the whole second before', time: whole - second, settled: false },
    { what: 'two whole seconds before', time: whole - 2n * second, settled: true },
    { what: 'at the epoch', time: 0n, settled: true },
    { what: 'before the epoch', time: -5n * second - 1n, settled: true },
  ])('$what: settled $settled', ({ time, settled }) => {
    expect(isSettled({ ...stat, mtimeNs: time }, moment)).toBe(settled);
    expect(isSettled({ ...stat, ctimeNs: time }, moment)).toBe(settled);
    expect(isSettled({ ...stat, mtimeNs: time, ctimeNs: time }, moment)).toBe(settled);
  });

  test('both times count: an mtime that was set back proves nothing', () => {
    expect(isSettled({ ...stat, mtimeNs: 0n, ctimeNs: moment - millisecond }, moment)).toBe(false);
    expect(isSettled({ ...stat, mtimeNs: moment - millisecond, ctimeNs: 0n }, moment)).toBe(false);
  });
});

test.each<{ what: string; other: Partial<EntryStat>; same: boolean }>([
  { what: 'nothing', other: {}, same: true },
  { what: 'how many names it has', other: { nlink: 2 }, same: true },
  { what: 'its kind', other: { kind: 'symlink' }, same: false },
  { what: 'its inode', other: { ino: 3n }, same: false },
  { what: 'its device', other: { dev: 2n }, same: false },
  { what: 'its mode', other: { mode: 0o600 }, same: false },
  { what: 'its size', other: { size: 6 }, same: false },
  { what: 'its mtime by a nanosecond', other: { mtimeNs: stat.mtimeNs + 1n }, same: false },
  { what: 'its ctime by a nanosecond', other: { ctimeNs: stat.ctimeNs + 1n }, same: false },
])('two looks that differ in $what are the same: $same', ({ other, same }) => {
  expect(sameStat(stat, { ...stat, ...other })).toBe(same);
  expect(sameStat({ ...stat, ...other }, stat)).toBe(same);
});

test('a snapshot is partial for what should have been stored and could not be, never for what was left out on purpose', () => {
  expect(leftOutReasons.filter((reason) => partialReasons.has(reason))).toEqual([
    'unreadable',
    'unstable',
    'unsupported',
  ]);
});
