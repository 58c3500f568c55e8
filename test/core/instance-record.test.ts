import { describe, expect, test } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, Seq } from '../../src/core/ids.js';
import { type InstanceRecord, recordFromJson, recordToJson } from '../../src/core/instance-record.js';
import { defaultPolicy } from '../../src/core/policy.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed, to be spoilt at any depth
type Document = Record<string, any>;

const record: InstanceRecord = {
  name: 'demo' as InstanceName,
  createdAt: '2026-03-01T12:00:00.000Z',
  state: 'closed',
  mounts: [
    { name: 'web' as MountName, path: '/srv/web' as HostPath, dev: (1n << 64n) - 1n, ino: 1n },
    { name: 'raw' as MountName, path: '/srv/\xff\n' as HostPath, dev: 0n, ino: (1n << 64n) - 1n },
  ],
  policy: { ...defaultPolicy, exclude: ['*.o', 'caf\u00e9'], keep_last: 3, max_total_size: 1 },
};

test('the record of an instance is read as it was written, numbers beyond 2^53 and any path included', () => {
  expect(recordFromJson(JSON.parse(JSON.stringify(recordToJson(record))))).toEqual(record);
});

test('what was decided and how it ended come back, and are not there where nothing is', () => {
  const exit = { decision: 'keep', decided_at: '2026-03-01T12:00:00.000Z', note: 'n', snapshot: 3 as Seq } as const;
  const ended = { how: 'killed', noticed_at: '2026-03-01T12:00:00.000Z' } as const;
  expect(recordFromJson(JSON.parse(JSON.stringify(recordToJson({ ...record, exit, ended }))))).toEqual({
    ...record,
    exit,
    ended,
  });
  expect(Object.keys(recordToJson(record) as Document)).not.toEqual(expect.arrayContaining(['exit']));
});

describe('a record that we did not write is refused', () => {
  const written = recordToJson(record) as Document;
  test.each([
    { what: 'nothing', value: undefined },
    { what: 'null', value: null },
    { what: 'a later format', value: { ...written, format: '2' } },
    { what: 'no format', value: { ...written, format: undefined } },
    { what: 'an unknown state', value: { ...written, state: 'paused' } },
    { what: 'a name that leads elsewhere', value: { ...written, name: '../other' } },
    { what: 'a mount that leads elsewhere', value: { ...written, mounts: [{ ...written['mounts'][0], name: '..' }] } },
    { what: 'a mount without a name', value: { ...written, mounts: [{ ...written['mounts'][0], name: '' }] } },
    { what: 'no mounts', value: { ...written, mounts: undefined } },
    { what: 'a negative inode', value: { ...written, mounts: [{ ...written['mounts'][0], inode: '-1' }] } },
    { what: 'an inode as a number', value: { ...written, mounts: [{ ...written['mounts'][0], inode: 1 }] } },
    { what: 'an unknown rule', value: { ...written, policy: { ...written['policy'], keep_all: true } } },
  ])('$what', ({ value }) => {
    expect(() => recordFromJson(value)).toThrow();
  });
});
