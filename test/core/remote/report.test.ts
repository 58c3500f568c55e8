import { describe, expect, test } from 'vitest';
import type { InstanceName, ObjectId, Seq } from '../../../src/core/ids.js';
import { zeroObjectId } from '../../../src/core/ids.js';
import { sortSnapshots } from '../../../src/core/remote/histories.js';
import {
  type RemoteSnapshot,
  parseAdvertised,
  parsePushProgress,
  parsePushReport,
  snapshotOfRef,
} from '../../../src/core/remote/report.js';

const oid = (digit: string): ObjectId => digit.repeat(40) as ObjectId;

test.each([
  ['Writing objects:  50% (3/6)', { objects: 3, totalObjects: 6, bytes: 0 }],
  ['Writing objects: 100% (6/6), 512 bytes | 512.00 KiB/s, done.', { objects: 6, totalObjects: 6, bytes: 512 }],
  ['Writing objects:  10% (1/10), 1.50 MiB | 3.00 MiB/s\r', { objects: 1, totalObjects: 10, bytes: 1_572_864 }],
  ['Counting objects:  50% (3/6)', undefined],
  ['remote: Writing objects:  50% (3/6)', undefined],
  ['fatal: Writing objects:  50% (3/6)', undefined],
])('%j tells how far a push is: %j', (line, progress) => {
  expect(parsePushProgress(line)).toEqual(progress);
});

describe('the list of a remote', () => {
  test('is its refs; lines of another form are none', () => {
    const output = [
      `${oid('a')}\trefs/jackin/t/1`,
      'warning: odd',
      `${'a'.repeat(64)}\trefs/jackin/t/2`,
      `${oid('b')}\tHEAD`,
      `${oid('c')}\trefs/jackin/t/3\trefs/x`,
      `${oid('d')} refs/jackin/t/4`,
      '',
    ].join('\n');
    expect(parseAdvertised(output)).toEqual([{ name: 'refs/jackin/t/1', oid: oid('a') }]);
  });

  test.each([
    ['refs/jackin/t/1', 1],
    ['refs/jackin/a.b-c_d/120', 120],
  ])('has a snapshot at %s', (name, seq) => {
    expect(snapshotOfRef({ name, oid: oid('a') })).toMatchObject({ seq, ref: name, commit: oid('a') });
  });

  test.each([
    'refs/heads/main',
    'refs/jackin/t',
    'refs/jackin/t/0',
    'refs/jackin/t/01',
    'refs/jackin/t/-1',
    'refs/jackin/t/1/2',
    'refs/jackin/T/1',
    'refs/jackin/../1',
    'refs/jackin/t.lock/1',
    'refs/jackin/t/1234567890123456',
    'refs/jackin-pin/t/1',
    'x/refs/jackin/t/1',
  ])('has none at %s', (name) => {
    expect(snapshotOfRef({ name, oid: oid('a') })).toBeUndefined();
  });
});

describe('the report of a push', () => {
  test('says of each ref what became of it', () => {
    const output = [
      'To /srv/r.git',
      `*\t${oid('a')}:refs/jackin/t/1\t[new reference]`,
      `=\t${oid('b')}:refs/jackin/t/2\t[up to date]`,
      `!\t${oid('c')}:refs/jackin/t/3\t[remote rejected] (pre-receive hook declined)`,
      `!\t${oid('d')}:refs/jackin/t/4\t[rejected] (non-fast-forward)`,
      ` \t${oid('e')}:refs/jackin/t/5\t1234567..89abcde`,
      `+\t${oid('f')}:refs/jackin/t/6\tforced`,
      'Done',
      '',
    ].join('\n');
    expect([...parsePushReport(output)].map(([name, { outcome }]) => [name.slice(-1), outcome])).toEqual([
      ['1', 'created'],
      ['2', 'present'],
      ['3', 'rejected'],
      ['4', 'rejected'],
      ['5', 'rejected'],
      ['6', 'rejected'],
    ]);
    expect(parsePushReport(output).get('refs/jackin/t/3')?.said).toContain('hook declined');
  });

  test.each(['', 'Done', 'To x\nfatal: no', `*\t${oid('a')}\t[new]`, '*\t:\t', `x\t${oid('a')}:refs/a\tb`])(
    'has nothing in %j',
    (output) => {
      expect(parsePushReport(output).size).toBe(0);
    },
  );
});

describe('snapshots of two sides', () => {
  const at = (instance: string, seq: number, commit: ObjectId): RemoteSnapshot => ({
    instance: instance as InstanceName,
    seq: seq as Seq,
    ref: `refs/jackin/${instance}/${String(seq)}`,
    commit,
  });
  const names = (snapshots: readonly RemoteSnapshot[]): string[] => snapshots.map(({ ref }) => ref.slice(12));

  test('are missing, present or another there', () => {
    const ours = [at('a', 1, oid('1')), at('a', 2, oid('2')), at('b', 1, oid('3')), at('b', 2, oid('4'))];
    const theirs = [at('a', 1, oid('1')), at('b', 1, oid('9'))];
    const sorted = sortSnapshots(ours, ours, theirs);
    expect(names(sorted.missing)).toEqual(['a/2']);
    expect(names(sorted.present)).toEqual(['a/1']);
    expect(sorted.refused.map(({ ref, reason }) => [ref.slice(12), reason])).toEqual([
      ['b/1', 'other_snapshot'],
      ['b/2', 'other_history'],
    ]);
  });

  test('are of another history also where the one that shows it was not asked for', () => {
    const ours = [at('b', 1, oid('3')), at('b', 2, oid('4'))];
    const { refused } = sortSnapshots([ours[1]!], ours, [at('b', 1, oid('9'))]);
    expect(refused).toMatchObject([{ seq: 2, reason: 'other_history' }]);
  });

  test('that cannot be read say nothing of histories', () => {
    const theirs = [at('a', 1, oid('1')), at('a', 2, oid('2'))];
    const sorted = sortSnapshots(theirs, theirs, [at('a', 1, zeroObjectId)]);
    expect(sorted.refused).toMatchObject([{ seq: 1, reason: 'damaged_here' }]);
    expect(names(sorted.missing)).toEqual(['a/2']);
    const ours = [at('a', 1, zeroObjectId)];
    expect(names(sortSnapshots(ours, ours, theirs).missing)).toEqual(['a/1']);
  });
});
