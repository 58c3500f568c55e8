import { appendFileSync, lstatSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import type { EntryStat } from '../../../src/core/entry.js';
import type { EntryPath } from '../../../src/core/entry-path.js';
import type { ObjectId } from '../../../src/core/ids.js';
import type { RecordedFile, StatCache, StatCacheNotes } from '../../../src/core/ports.js';
import { CacheRecorder } from '../../../src/fs/stat-cache/cache-recorder.js';
import { readStatCache, writeStatCache } from '../../../src/fs/stat-cache/stat-cache.js';
import { tempDir } from '../../support/temp.js';

const stat: EntryStat = {
  kind: 'file',
  dev: 7n,
  ino: (1n << 64n) - 1n,
  mode: 0o7777,
  uid: 1,
  gid: 1,
  nlink: 1,
  size: Number.MAX_SAFE_INTEGER,
  mtimeNs: -1_000_000_001n,
  ctimeNs: 1_700_000_000_123_456_789n,
  sparse: false,
};
const oid = (digit: string): ObjectId => digit.repeat(40) as ObjectId;
const file = (name: string, digit: string) => ({ name, stat, oid: oid(digit) });
const known = {
  '': [file('a', '1'), file('b\xff', '2'), file('z', '3')],
  'd/\xe9': [file('x', '4')],
};

const notes: StatCacheNotes = {
  defaults: { file: 0o644, executable: 0o755, directory: 0o755, uid: 1, gid: 1 },
  attributes: [{ path: 'b\xff' as EntryPath, mode: 0o600 }],
  leftOut: [{ path: 'd/\xe9/\xff' as EntryPath, reason: 'ignored', directory: true }],
  repositories: [{ path: 'd' as EntryPath, fingerprint: 'f', dirty: null }],
};

function record(recorder: CacheRecorder, path: string, files: readonly RecordedFile[]): void {
  recorder.enter(path as EntryPath, { ...stat, kind: 'directory' }, 'rules');
  recorder.leave(files, oid('0'), true, undefined);
}

function written(): string {
  const recorder = new CacheRecorder(7n);
  for (const [path, files] of Object.entries(known)) record(recorder, path, files);
  record(recorder, 'empty', []);
  const path = join(tempDir(), 'cache');
  writeStatCache(path, recorder, notes);
  return path;
}

/** All that the cache says of what was recorded, and of what was not. */
function answers(cache: StatCache): (string | undefined)[] {
  return ['', 'd/\xe9', 'empty', 'none'].flatMap((path) => {
    const look = cache.directory(path as EntryPath);
    return ['a', 'b', 'b\xff', 'x', 'y', 'z', 'zz'].map((name) => look(name, stat));
  });
}

const right = [
  ...[oid('1'), undefined, oid('2'), undefined, undefined, oid('3'), undefined],
  ...[undefined, undefined, undefined, oid('4'), undefined, undefined, undefined],
  ...Array.from({ length: 14 }, () => undefined),
];

test('what was recorded is known again, name by name and directory by directory', () => {
  expect(answers(readStatCache(written(), 7n)!)).toEqual(right);
});

test('what stats do not say is known again', () => {
  expect(readStatCache(written(), 7n)!.notes).toEqual({ ...notes, rules: ['rules'] });
});

test('a cache is for its owner alone', () => {
  expect(lstatSync(written()).mode & 0o777).toBe(0o600);
});

test('there is no cache where there is no file, and none of another device', () => {
  expect(readStatCache(join(tempDir(), 'none'), 7n)).toBeUndefined();
  expect(readStatCache(written(), 8n)).toBeUndefined();
});

test('there is no cache where one cannot be read or written, and nothing fails for it', () => {
  const path = join(tempDir(), 'cache');
  mkdirSync(path);
  writeStatCache(path, new CacheRecorder(7n), notes);
  expect(readStatCache(path, 7n)).toBeUndefined();
});

test.each<{ what: string; change: Partial<EntryStat>; answer: string | undefined }>([
  { what: 'its inode', change: { ino: 1n }, answer: undefined },
  { what: 'its size', change: { size: 1 }, answer: undefined },
  { what: 'its mode', change: { mode: 0o644 }, answer: undefined },
  { what: 'its mtime by a nanosecond', change: { mtimeNs: stat.mtimeNs + 1n }, answer: undefined },
  { what: 'its ctime by a nanosecond', change: { ctimeNs: stat.ctimeNs - 1n }, answer: undefined },
  { what: 'nothing that tells', change: { nlink: 2 }, answer: oid('2') },
])('a file that changed in $what is known as $answer', ({ change, answer }) => {
  const look = readStatCache(written(), 7n)!.directory('' as EntryPath);
  expect(look('b\xff', { ...stat, ...change })).toBe(answer);
  expect(look('z', stat)).toBe(oid('3'));
});

describe('a damaged cache is no cache', () => {
  test('whichever bit is flipped', () => {
    const path = written();
    const whole = readFileSync(path);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const spoilt = Buffer.from(whole);
      spoilt[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(path, spoilt);
      if (readStatCache(path, 7n) !== undefined) expect.unreachable(`bit ${bit}`);
    }
    writeFileSync(path, whole);
    expect(answers(readStatCache(path, 7n)!)).toEqual(right);
  });

  test('wherever it is cut off, and whatever is added', () => {
    const path = written();
    const { size } = lstatSync(path);
    appendFileSync(path, '\0');
    expect(readStatCache(path, 7n)).toBeUndefined();
    for (let left = size - 1; left >= 0; left--) {
      truncateSync(path, left);
      if (readStatCache(path, 7n) !== undefined) expect.unreachable(`${left} bytes`);
    }
  });

  test.each(['', 'x', 'jackin-stat-2\0\0\0', 'x'.repeat(1000)])('and so is %j', (content) => {
    const path = join(tempDir(), 'cache');
    writeFileSync(path, content);
    expect(readStatCache(path, 7n)).toBeUndefined();
  });
});

test('a cache of nothing is a cache that knows nothing', () => {
  const path = join(tempDir(), 'cache');
  writeStatCache(path, new CacheRecorder(7n), notes);
  expect(answers(readStatCache(path, 7n)!)).toEqual(right.map(() => undefined));
});

test('a new cache replaces the old one, also a longer one', () => {
  const path = written();
  const recorder = new CacheRecorder(7n);
  record(recorder, '', [file('a', '9')]);
  writeStatCache(path, recorder, notes);
  expect(readStatCache(path, 7n)!.directory('' as EntryPath)('a', stat)).toBe(oid('9'));
});
