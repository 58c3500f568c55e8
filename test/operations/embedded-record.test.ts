import { describe, expect, test } from 'vitest';
import type { InstanceName } from '../../src/core/ids.js';
import { recordToJson } from '../../src/core/instance-record.js';
import type { Manifest } from '../../src/core/manifest.js';
import { defaultPolicy } from '../../src/core/policy.js';
import { embeddedRecord } from '../../src/operations/snapshot-content.js';
import type { KnownSnapshot } from '../../src/operations/snapshots.js';

const known = { ref: { instance: 'mine', seq: 3 } } as KnownSnapshot;

function recordNamed(name: string): unknown {
  return recordToJson({
    name: name as InstanceName,
    createdAt: '2026-01-01T00:00:00.000Z',
    state: 'open',
    mounts: [],
    policy: defaultPolicy,
  });
}

const read = (value: unknown): unknown => embeddedRecord({ instance_record: value } as Manifest, known);

describe('the record that a snapshot has of its instance', () => {
  test('is read', () => {
    expect(read(recordNamed('mine'))).toMatchObject({ name: 'mine', state: 'open' });
  });

  test.each([
    { what: 'nothing', value: undefined },
    { what: 'something else', value: { anything: ['at', 'all'] } },
    { what: 'that of another instance', value: recordNamed('other') },
    { what: 'one with a name that leads elsewhere', value: recordNamed('../mine') },
  ])('is damage when it is $what', ({ value }) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: 'STORE_DAMAGED' }));
  });
});
