import { describe, expect, test } from 'vitest';

import type { InstanceName, ObjectId, Seq, SnapshotId } from '../../src/core/ids.js';
import { encodeCommit, encodeMessage } from '../../src/core/snapshot-record.js';
import type { SnapshotRef } from '../../src/core/ports.js';
import {
  describe as describeSnapshot,
  findSnapshot,
  know,
  knowIfReadable,
  resolveSnapshot,
} from '../../src/operations/snapshots.js';
import { MemoryContext } from './memory-context.js';

const ids = [
  '01KJMMA2QTMZ27P0NSGC0MPD44',
  '01KJMMA2QTMZ27P0NSGC0MPD55',
  '01KKAAAAAAAAAAAAAAAAAAAAAA',
  '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
];

/** Snapshots 1, 2, 5 and 9 of `demo`, and 1 of `other`. */
function memory(): MemoryContext {
  const made = new MemoryContext();
  const writer = made.store.port.newWriter();
  const tree = writer.writeTree([]);
  const add = (instance: string, seq: number, id: string, format = '1'): void => {
    const message = encodeMessage({
      instance: instance as InstanceName,
      seq: seq as Seq,
      id: id as SnapshotId,
      trigger: 'manual',
      message: `number ${seq}`,
      createdAt: made.moment,
      previous: null,
      mounts: [],
      bases: [],
      recoveryOf: null,
      files: 0,
      sizeBytes: 0,
      sourceTool: null,
      phase: null,
      decision: null,
      resource: null,
    }).replace('Jackin-Format: 1', `Jackin-Format: ${format}`);
    const commit = writer.writeCommit(encodeCommit({ tree, parent: null, createdAt: made.moment, message }));
    made.store.refs.set(`refs/jackin/${instance}/${seq}`, commit);
  };
  [1, 2, 5, 9].forEach((seq, at) => add('demo', seq, ids[at]!));
  add('other', 1, '01KJMMA2QTMZ27P0NSGC0MPD66');
  void writer.publish();
  return made;
}

/** By both ways, which must agree. */
async function resolve(made: MemoryContext, selector: string): Promise<string> {
  const demo = (): InstanceName => 'demo' as InstanceName;
  const alone = await outcomeOf(findSnapshot(made.context, selector, demo));
  const among = await outcomeOf(resolveSnapshot(made.context, selector, demo).then(({ ref }) => ref));
  expect(alone).toEqual(among);
  if (among instanceof Error) throw among;
  return among.ref.slice('refs/jackin/'.length);
}

async function outcomeOf(found: Promise<SnapshotRef>): Promise<SnapshotRef | Error> {
  try {
    return await found;
  } catch (error) {
    return error as Error;
  }
}

describe('a selector names one snapshot', () => {
  test.each([
    { selector: '1', found: 'demo/1' },
    { selector: '9', found: 'demo/9' },
    { selector: 'latest', found: 'demo/9' },
    { selector: 'first', found: 'demo/1' },
    { selector: 'latest~0', found: 'demo/9' },
    { selector: 'latest~1', found: 'demo/5' },
    { selector: 'latest~3', found: 'demo/1' },
    { selector: ids[1]!, found: 'demo/2' },
    { selector: ids[1]!.toLowerCase(), found: 'demo/2' },
    { selector: '01KJMMA2QTMZ27P0NSGC0MPD5', found: 'demo/2' },
    { selector: '01KK', found: 'demo/5' },
    { selector: '7ZZZ', found: 'demo/9' },
    { selector: 'demo/2', found: 'demo/2' },
    { selector: 'other/1', found: 'other/1' },
    { selector: 'refs/jackin/demo/5', found: 'demo/5' },
    { selector: 'refs/jackin/other/1', found: 'other/1' },
  ])('$selector: $found', async ({ selector, found }) => {
    expect(await resolve(memory(), selector)).toBe(found);
  });

  test('a commit id, or as much of it as git would take', async () => {
    const made = memory();
    const commit = made.store.refs.get('refs/jackin/demo/5')!;
    for (const length of [40, 20, 10]) expect(await resolve(made, commit.slice(0, length))).toBe('demo/5');
    expect(await resolve(made, commit.toUpperCase())).toBe('demo/5');
  });

  test('a number is a number before it is the beginning of an id', async () => {
    const made = memory();
    made.store.refs.set('refs/jackin/demo/7', made.store.refs.get('refs/jackin/demo/1')!);
    expect(await resolve(made, '7')).toBe('demo/7');
  });
});

describe('a selector that names none', () => {
  test.each([
    '3',
    '0',
    '01',
    '-1',
    '',
    'Latest',
    'latest~4',
    'latest~',
    'latest~-1',
    'latest^',
    'HEAD',
    'demo/3',
    'other/2',
    'refs/heads/main',
    'refs/jackin/demo',
    'abc',
    '--all',
    'demo/1/x',
    '01KJMMA2QTMZ27P0NSGC0MPD444',
    'a'.repeat(41),
    '\u001b[2J',
  ])('%j', async (selector) => {
    await expect(resolve(memory(), selector)).rejects.toThrow(
      expect.objectContaining({ code: 'SNAPSHOT_NOT_FOUND', message: expect.not.stringContaining('\u001b') }),
    );
  });

  test.each(['NAME/1', '../1', 'a b/1', '-x/1'])('%j, since that is no name of an instance', async (selector) => {
    await expect(resolve(memory(), selector)).rejects.toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  test.each(['01KJ', '01kj', '01KJMMA2QTMZ27P0NSGC0MPD'])('%j begins several ids', async (selector) => {
    await expect(resolve(memory(), selector)).rejects.toThrow(
      expect.objectContaining({ code: 'SNAPSHOT_AMBIGUOUS', data: { selector } }),
    );
  });

  test.each(['', '0', '01', '01K'])('%j is too little of an id, even for the only snapshot', async (selector) => {
    const made = memory();
    for (const seq of [2, 5, 9]) made.store.refs.delete(`refs/jackin/demo/${seq}`);
    expect(await resolve(made, '01KJ')).toBe('demo/1');
    await expect(resolve(made, selector)).rejects.toThrow(expect.objectContaining({ code: 'SNAPSHOT_NOT_FOUND' }));
  });

  test.each(['none/1', 'none/7'])('%j, since there is no such instance', async (selector) => {
    await expect(resolve(memory(), selector)).rejects.toThrow(
      expect.objectContaining({ code: 'INSTANCE_NOT_FOUND', data: { instance: 'none' } }),
    );
  });

  test('without a snapshot there is no latest', async () => {
    const made = new MemoryContext();
    for (const selector of ['latest', 'first', 'latest~0', '1'])
      await expect(resolve(made, selector)).rejects.toThrow(expect.objectContaining({ code: 'INSTANCE_NOT_FOUND' }));
  });

  test('where the instance is named, none is looked for around the folder', async () => {
    const made = memory();
    const never = (): never => expect.unreachable('the folder was asked');
    expect((await resolveSnapshot(made.context, 'other/1', never)).ref.instance).toBe('other');
  });
});

describe('a snapshot that this version cannot read', () => {
  function changed(from: string, to: string): MemoryContext {
    const made = memory();
    const commit = made.store.refs.get('refs/jackin/demo/2')!;
    const text = made.store.objects.get(commit)!.content.toString('utf8').replace(from, to);
    const writer = made.store.port.newWriter();
    made.store.refs.set('refs/jackin/demo/2', writer.writeCommit(Buffer.from(text)));
    void writer.publish();
    return made;
  }

  test.each([
    { what: 'is of a later format', from: 'Jackin-Format: 1', to: 'Jackin-Format: 2', code: 'FORMAT_UNKNOWN' },
    { what: 'has no message of ours', from: 'Jackin-Seq: 2', to: 'Jackin-Sequel: 2', code: 'STORE_DAMAGED' },
    { what: 'is another one', from: 'Jackin-Seq: 2', to: 'Jackin-Seq: 3', code: 'STORE_DAMAGED' },
    {
      what: "is another instance's",
      from: 'Jackin-Instance: demo',
      to: 'Jackin-Instance: other',
      code: 'STORE_DAMAGED',
    },
  ])('since it $what is found by its number, and known for what it is', async ({ from, to, code }) => {
    const made = changed(from, to);
    const { ref } = await resolveSnapshot(made.context, '2', () => 'demo' as InstanceName);
    expect(knowIfReadable(ref)).toBeUndefined();
    expect(() => know(ref)).toThrow(expect.objectContaining({ code }));
  });
});

test('the parent of a snapshot is the one before it that still exists', async () => {
  const made = memory();
  const { siblings } = await resolveSnapshot(made.context, 'first', () => 'demo' as InstanceName);
  const numbers = siblings.map(({ seq }) => seq);
  const parents = siblings.map((ref) => describeSnapshot(know(ref), numbers).parentSeq);
  expect(parents).toEqual([null, 1, 2, 5]);
  expect(describeSnapshot(know(siblings[2]!), numbers)).toEqual({
    instance: 'demo',
    seq: 5,
    id: ids[2],
    ref: 'refs/jackin/demo/5',
    commit: made.store.refs.get('refs/jackin/demo/5') as ObjectId,
    tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    trigger: 'manual',
    message: 'number 5',
    createdAt: '2026-03-01T12:00:00.000Z',
    parentSeq: 2,
  });
});
