import { describe, expect, test } from 'vitest';

import type { EntryPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, Seq, SnapshotId } from '../../src/core/ids.js';
import type { JournalRecord } from '../../src/core/journal-record.js';
import type { Context } from '../../src/operations/context.js';
import { pendingTemporaryPrefix, readPending, refusePending } from '../../src/operations/restore/pending.js';
import { MemoryContext } from './memory-context.js';

const demo = 'demo' as InstanceName;
const pointer = {
  instance: demo,
  seq: 3 as Seq,
  id: '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId,
  ref: 'refs/jackin/demo/3',
};
const begin: JournalRecord = {
  kind: 'begin',
  id: 'ABC',
  snapshot: pointer,
  emergency: pointer,
  mounts: [],
  request: '[]',
};
const change = (mount: string, path: string): JournalRecord => ({
  kind: 'change',
  mount: mount as MountName,
  change: { path: path as EntryPath, action: 'delete', reason: '', before: null, after: null },
});
const lent = (mount: string, path: string, mode: number): JournalRecord => ({
  kind: 'lent',
  mount: mount as MountName,
  path: path as EntryPath,
  mode,
});
const planned: JournalRecord = { kind: 'planned', changes: 2 };
const done: JournalRecord = { kind: 'done' };

function contextWith(records: readonly JournalRecord[] | undefined): Context {
  const { context } = new MemoryContext();
  return {
    ...context,
    journals: { ...context.journals, read: () => (records === undefined ? undefined : [...records]) },
  };
}

describe('a restore is pending', () => {
  test.each<{ what: string; records: JournalRecord[] | undefined; pending: boolean }>([
    { what: 'without a journal', records: undefined, pending: false },
    { what: 'with an empty one', records: [], pending: false },
    { what: 'that had only begun', records: [begin], pending: false },
    { what: 'whose plan was not complete', records: [begin, change('web', 'a')], pending: false },
    { what: 'whose plan was written down', records: [begin, change('web', 'a'), planned], pending: true },
    {
      what: 'that was being taken back',
      records: [begin, planned, { kind: 'direction', direction: 'abort' }],
      pending: true,
    },
    { what: 'that was done, but for its journal', records: [begin, planned, done], pending: false },
  ])('$what: $pending', ({ records, pending }) => {
    const context = contextWith(records);
    expect(readPending(context, demo) !== undefined).toBe(pending);
    expect(pendingTemporaryPrefix(context, demo)).toBe(pending ? '.jackin-ABC-' : null);
  });

  test('with its changes by mount, in their order', () => {
    const found = readPending(
      contextWith([begin, change('web', 'b'), change('api', 'x'), change('web', 'a'), planned]),
      demo,
    )!;
    const paths = [...found.changes].map(([mount, changes]) => [mount, changes.map(({ path }) => path)]);
    expect(paths).toEqual([
      ['web', ['b', 'a']],
      ['api', ['x']],
    ]);
    expect([found.direction, found.lent.size]).toEqual([null, 0]);
  });

  test('with the way that was chosen last', () => {
    const way = (direction: 'continue' | 'abort'): JournalRecord => ({ kind: 'direction', direction });
    expect(readPending(contextWith([begin, planned, way('continue'), way('abort')]), demo)?.direction).toBe('abort');
  });

  test('with the mode that a folder had before anything was lent to it', () => {
    const records = [begin, planned, lent('web', 'd', 0o555), lent('web', 'd', 0o755), lent('api', 'd', 0o500)];
    const found = readPending(contextWith(records), demo)!;
    expect([...found.lent].map(([mount, modes]) => [mount, [...modes]])).toEqual([
      ['web', [['d', 0o555]]],
      ['api', [['d', 0o500]]],
    ]);
  });

  test('and refused to all that do not go on with it', () => {
    const found = readPending(contextWith([begin, planned]), demo)!;
    expect(() => refusePending(demo, found)).toThrow(
      expect.objectContaining({ code: 'RESTORE_PENDING', data: expect.objectContaining({ instance: 'demo' }) }),
    );
  });
});
