import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostPath } from '../../src/core/entry-path.js';
import type { InstanceName, ObjectId } from '../../src/core/ids.js';
import {
  type WorktreeRecord,
  worktreeFromJson,
  worktreeStages,
  worktreeToJson,
} from '../../src/core/worktree-record.js';

const hostPath = fc
  .array(fc.integer({ min: 1, max: 255 }), { maxLength: 20 })
  .map((bytes) => `/${String.fromCharCode(...bytes)}` as HostPath);

const records: fc.Arbitrary<WorktreeRecord> = fc.record({
  name: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/).map((name) => name as InstanceName),
  createdAt: fc.constant('2026-01-02T03:04:05.678Z'),
  stage: fc.constantFrom(...worktreeStages),
  path: hostPath,
  repository: hostPath,
  commonDir: hostPath,
  branch: fc.string({ minLength: 1 }),
  baseCommit: fc.stringMatching(/^[0-9a-f]{40}$/).map((oid) => oid as ObjectId),
  baseBranch: fc.option(fc.string(), { nil: null }),
  exitCode: fc.option(fc.integer({ min: 0, max: 255 }), { nil: null }),
});

test('what is written is read again, whatever bytes its paths have', () => {
  fc.assert(
    fc.property(records, (record) => {
      expect(worktreeFromJson(JSON.parse(JSON.stringify(worktreeToJson(record))))).toEqual(record);
    }),
  );
});

const sample: WorktreeRecord = {
  name: 'app-run-1a2b3c4d' as InstanceName,
  createdAt: '2026-01-02T03:04:05.678Z',
  stage: 'ready',
  path: '/d/worktrees/app-run-1a2b3c4d/app\xff' as HostPath,
  repository: '/app' as HostPath,
  commonDir: '/app/.git' as HostPath,
  branch: 'jackin-snap/app-run-1a2b3c4d',
  baseCommit: 'a'.repeat(40) as ObjectId,
  baseBranch: 'main',
  exitCode: null,
};

test('the record has these keys, and paths that are no text in base64', () => {
  expect(worktreeToJson(sample)).toEqual({
    format: '1',
    name: 'app-run-1a2b3c4d',
    created_at: '2026-01-02T03:04:05.678Z',
    stage: 'ready',
    path: { base64: Buffer.from(sample.path, 'latin1').toString('base64') },
    repository: '/app',
    common_dir: '/app/.git',
    branch: 'jackin-snap/app-run-1a2b3c4d',
    base_commit: 'a'.repeat(40),
    base_branch: 'main',
    exit_code: null,
  });
});

describe('what is none is refused', () => {
  test.each([
    { what: 'another format', change: { format: '2' } },
    { what: 'a stage that there is not', change: { stage: 'gone' } },
    { what: 'a commit that is none', change: { base_commit: 'HEAD' } },
    { what: 'a commit in capitals', change: { base_commit: 'A'.repeat(40) } },
    { what: 'a path that is none', change: { path: 7 } },
    { what: 'an exit code that is no whole number', change: { exit_code: 1.5 } },
    ...Object.keys(worktreeToJson(sample) as object).map((key) => ({
      what: `one without ${key}`,
      change: { [key]: undefined },
    })),
  ])('$what', ({ change }) => {
    expect(() => worktreeFromJson({ ...(worktreeToJson(sample) as object), ...change })).toThrow();
  });

  test.each([null, 'text', 7, []])('%j', (value) => {
    expect(() => worktreeFromJson(value)).toThrow();
  });
});
