import { describe, expect, test } from 'vitest';

import type { StoredEntry } from '../../src/core/entry.js';
import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from '../../src/core/ids.js';
import { type JournalRecord, decodeRecord, encodeRecord, inverse } from '../../src/core/journal-record.js';
import type { Change } from '../../src/core/restore-plan.js';
import type { PlanAction, SnapshotPointer } from '../../src/core/results.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed, to be spoilt at any depth
type Document = Record<string, any>;

const mount = 'web' as MountName;
const path = 'a/\xff\n' as EntryPath;
const oid = 'a'.repeat(40) as ObjectId;
const owner = { path, uid: 0, gid: 4_294_967_294 };
const pointer: SnapshotPointer = {
  instance: 'demo' as InstanceName,
  seq: 3 as Seq,
  id: '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId,
  ref: 'refs/jackin/demo/3',
};

const states: Record<string, StoredEntry | null> = {
  nothing: null,
  'a file': { kind: 'file', mode: 0o4755, oid, size: 5_000_000_000, sparse: true, ...owner },
  'a file by ranges': { kind: 'file', mode: 0o644, oid, size: 2 ** 40, sparse: true, byRanges: true, ...owner },
  'a linked file': { kind: 'file', mode: 0, oid, size: 0, sparse: false, linkedTo: '\xff' as EntryPath, ...owner },
  'a symlink': { kind: 'symlink', oid, size: 7, ...owner },
  'a linked symlink': { kind: 'symlink', oid, size: 7, linkedTo: path, ...owner },
  'a directory': { kind: 'directory', mode: 0o1777, ...owner },
};
const pairs = Object.keys(states).flatMap((from) => Object.keys(states).map((to) => ({ from, to })));

const begin: JournalRecord = {
  kind: 'begin',
  id: '01KJMMA2QTMZ27P0NSGC0MPD45',
  snapshot: pointer,
  emergency: { ...pointer, seq: 4 as Seq },
  mounts: [{ name: mount, path: '/srv/\xff' as HostPath, dev: (1n << 64n) - 1n, ino: 0n }],
  request: '[]',
};

describe('a record of the journal is one line, read as it was written', () => {
  test.each<JournalRecord>([
    begin,
    { kind: 'planned', changes: 0 },
    { kind: 'planned', changes: 1, blocked: [{ mount, path, reason: 'special' }] },
    { kind: 'lent', mount, path: '' as EntryPath, mode: 0o555 },
    { kind: 'direction', direction: 'continue' },
    { kind: 'direction', direction: 'abort' },
    { kind: 'done' },
  ])('$kind', (record) => {
    expect(encodeRecord(record)).not.toContain('\n');
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  test.each(pairs)('a change from $from to $to', ({ from, to }) => {
    const change: Change = { path, action: 'retype', reason: 'x\ny', before: states[from]!, after: states[to]! };
    const record: JournalRecord = { kind: 'change', mount, change };
    expect(encodeRecord(record)).not.toContain('\n');
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });
});

test.each<{ action: PlanAction; back: PlanAction }>([
  { action: 'create', back: 'delete' },
  { action: 'delete', back: 'create' },
  { action: 'overwrite', back: 'overwrite' },
  { action: 'chmod', back: 'chmod' },
  { action: 'retype', back: 'retype' },
])('a $action is taken back by a $back', ({ action, back }) => {
  const change: Change = { path, action, reason: 'r', before: states['a file']!, after: states['a symlink']! };
  expect(inverse(change)).toEqual({ ...change, action: back, before: change.after, after: change.before });
  expect(inverse(inverse(change))).toEqual(change);
});

describe('what we do not write is refused', () => {
  const written = (record: JournalRecord): Document => JSON.parse(encodeRecord(record));
  const change = written({
    kind: 'change',
    mount,
    change: { path: 'a' as EntryPath, action: 'create', reason: '', before: null, after: states['a file']! },
  });
  test.each([
    { what: 'nothing', text: '' },
    { what: 'no JSON', text: '{' },
    { what: 'an unknown kind', text: '{"kind":"undo"}' },
    { what: 'a path out of the mount', text: JSON.stringify({ ...change, path: '../a' }) },
    { what: 'an absolute path', text: JSON.stringify({ ...change, path: '/a' }) },
    {
      what: 'a link group out of the mount',
      text: JSON.stringify({ ...change, after: { ...change['after'], l: '../a' } }),
    },
    { what: 'an unknown action', text: JSON.stringify({ ...change, action: 'move' }) },
    { what: 'an unknown state', text: JSON.stringify({ ...change, after: { k: 'fifo', u: 0, g: 0 } }) },
    { what: 'an id that is none', text: JSON.stringify({ ...change, after: { ...change['after'], o: 'HEAD' } }) },
    { what: 'a mode beyond all modes', text: JSON.stringify({ ...change, after: { ...change['after'], m: 0o10000 } }) },
    { what: 'a state without an owner', text: JSON.stringify({ ...change, after: { k: 'directory', m: 0 } }) },
    { what: 'a lent directory out of the mount', text: '{"kind":"lent","mount":"web","path":"..","mode":0}' },
    { what: 'a temporary name with a slash', text: JSON.stringify({ ...written(begin), id: '../../X' }) },
    { what: 'a direction of its own', text: '{"kind":"direction","direction":"sideways"}' },
    { what: 'snapshot number 0', text: JSON.stringify({ ...written(begin), snapshot: { ...pointer, seq: 0 } }) },
    {
      what: 'a device that is no number',
      text: JSON.stringify({ ...written(begin), mounts: [{ name: 'web', path: '/', device: 'x', inode: '1' }] }),
    },
    {
      what: 'a file without content',
      text: JSON.stringify({ ...change, after: { k: 'file', m: 0o644, s: 0, h: false, u: 0, g: 0 } }),
    },
  ])('$what', ({ text }) => {
    expect(() => decodeRecord(text)).toThrow();
  });
});
