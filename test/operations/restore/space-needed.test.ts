import { expect, test } from 'vitest';
import type { StoredFile } from '../../../src/core/entry.js';
import type { EntryPath } from '../../../src/core/entry-path.js';
import type { ObjectId } from '../../../src/core/ids.js';
import type { Change } from '../../../src/core/restore-plan.js';
import { spaceNeeded } from '../../../src/operations/restore/space-needed.js';

test.each([
  { what: 'a new file is its size, once', changes: [create('a', 8)], bytes: 8 },
  { what: 'new files add up', changes: [create('a', 8), create('b', 3)], bytes: 11 },
  { what: 'a replaced file stays until its successor is there', changes: [overwrite('a', 8, 8)], bytes: 8 },
  { what: 'what was replaced is free for the next', changes: [overwrite('a', 8, 8), overwrite('b', 8, 8)], bytes: 8 },
  { what: 'growth stays', changes: [overwrite('a', 1, 8), overwrite('b', 1, 8)], bytes: 15 },
  { what: 'what goes is gone before anything comes', changes: [create('a', 8), remove('b', 5)], bytes: 3 },
  { what: 'deletions need nothing', changes: [remove('a', 8)], bytes: 0 },
  { what: 'a mode needs nothing', changes: [{ ...overwrite('a', 8, 8), action: 'chmod' as const }], bytes: 0 },
  { what: 'one more name needs nothing', changes: [create('b', 8, { linkedTo: 'a' as EntryPath })], bytes: 0 },
  { what: 'a name that goes frees nothing', changes: [create('a', 8), remove('b', 8, 'c')], bytes: 8 },
  { what: 'holes need nothing', changes: [create('a', 8, { sparse: true })], bytes: 0 },
  {
    what: 'a file by ranges needs its data',
    changes: [create('a', 8, { sparse: true, byRanges: true, dataBytes: 3 })],
    bytes: 3,
  },
])('$what', ({ changes, bytes }) => {
  expect(spaceNeeded(changes)).toBe(bytes);
});

function create(path: string, size: number, more: Partial<StoredFile> = {}): Change {
  return {
    path: path as EntryPath,
    action: 'create',
    reason: '',
    before: null,
    after: { ...file(path, size), ...more },
  };
}

function overwrite(path: string, was: number, size: number): Change {
  return { path: path as EntryPath, action: 'overwrite', reason: '', before: file(path, was), after: file(path, size) };
}

function remove(path: string, size: number, linkedTo?: string): Change {
  const link = linkedTo === undefined ? {} : { linkedTo: linkedTo as EntryPath };
  const before = { ...file(path, size), ...link };
  return { path: path as EntryPath, action: 'delete', reason: '', before, after: null };
}

function file(path: string, size: number): StoredFile {
  const oid = '0'.repeat(40) as ObjectId;
  return { kind: 'file', path: path as EntryPath, uid: 0, gid: 0, mode: 0o644, oid, size, sparse: false };
}
