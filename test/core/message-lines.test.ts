import { describe, expect, test } from 'vitest';

import { type HostPath, bytesOfText } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, Seq, SnapshotId } from '../../src/core/ids.js';
import { type SnapshotRecord, encodeMessage, openMessage } from '../../src/core/snapshot-record.js';

const record: SnapshotRecord = {
  instance: 'demo' as InstanceName,
  seq: 1 as Seq,
  id: '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId,
  trigger: 'manual',
  message: 'subject',
  createdAt: new Date('2026-03-01T12:00:00.250Z'),
  previous: null,
  mounts: [],
  bases: [],
  recoveryOf: null,
  files: 1,
  sizeBytes: 2,
  sourceTool: null,
  phase: null,
  decision: null,
  resource: null,
};

describe('a trailer is one line of the message, whatever is in it', () => {
  test.each([
    ['a line separator', bytesOfText('/srv/a\u2028b')],
    ['a paragraph separator', bytesOfText('/srv/a\u2029b')],
    ['a newline', '/srv/a\nb'],
    ['bytes that are not UTF-8', '/srv/a\xffb'],
    ['a blank at its end', '/srv/a '],
    ['a backslash and a quote', '/srv/a\\134"b'],
    ['a quote at its beginning', '"/srv'],
  ])('a mount path with %s comes back', (_, path) => {
    const mounts = [{ name: 'web' as MountName, kind: 'plain' as const, path: path as HostPath }];
    expect(openMessage(encodeMessage({ ...record, mounts })).decode().mounts).toEqual(mounts);
  });

  test('a label that is empty is no label', () => {
    const message = encodeMessage({ ...record, phase: '', resource: ' \n ' });
    expect(message).not.toMatch(/Phase|Resource|: *$/m);
    expect(openMessage(message).decode()).toEqual(record);
  });
});
