import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredEntry } from '../../src/core/entry.js';
import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import { displayPath, pathFromJson, pathToJson } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from '../../src/core/ids.js';
import { recordFromJson, recordToJson } from '../../src/core/instance-record.js';
import type { JournalRecord } from '../../src/core/journal-record.js';
import { decodeRecord, encodeRecord, inverse } from '../../src/core/journal-record.js';
import type { Manifest } from '../../src/core/manifest.js';
import {
  decodeAttributes,
  decodeManifest,
  decodeObserved,
  encodeAttributes,
  encodeManifest,
  encodeObserved,
} from '../../src/core/manifest.js';
import { escapeName, unescapeName } from '../../src/core/name-escape.js';
import { leftOutReasons } from '../../src/core/entry.js';
import { defaultPolicy } from '../../src/core/policy.js';
import type { SnapshotPointer } from '../../src/core/results.js';
import { triggers } from '../../src/core/results.js';
import type { SnapshotRecord } from '../../src/core/snapshot-record.js';
import { encodeMessage, quotePath, tidyMessage, unquotePath, openMessage } from '../../src/core/snapshot-record.js';
import { arbitraryName } from '../support/arbitrary-tree.js';
import { testSeed } from '../support/seed.js';

// What is written must be read as what it was.

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 3 }));
const name = arbitraryName({ withRules: true });
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/') as EntryPath);
const anyPath = fc.oneof(fc.constant('' as EntryPath), path);
const hostPath = path.map((below) => `/${below}` as HostPath);
const oid = fc.stringMatching(/^[0-9a-f]{40}$/).map((digits) => digits as ObjectId);
const seq = fc.integer({ min: 1, max: 999_999_999 }).map((number) => number as Seq);
const id = fc.stringMatching(/^0[0-9A-HJKMNP-TV-Z]{25}$/).map((letters) => letters as SnapshotId);
const slug = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/);
const instance = slug.map((word) => word as InstanceName);
const mount = slug.map((word) => word as MountName);
// No document keeps that one key, which is no property in JavaScript.
const metaKey = fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__');
const mode = fc.nat({ max: 0o7777 });
const yes = fc.constant(true);
const owner = fc.nat({ max: 0xffff_fffe });
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const bigId = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const pointer: fc.Arbitrary<SnapshotPointer> = fc
  .record({ instance, seq, id })
  .map((known) => ({ ...known, ref: `refs/jackin/${known.instance}/${known.seq}` }));

function holds<T>(values: fc.Arbitrary<T>, property: (value: T) => void, numRuns = 1000): void {
  fc.assert(fc.property(values, property), { seed: testSeed(), numRuns });
}

test('a message is read as it was written, whatever its user typed', () => {
  const label = fc.option(fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/));
  const record: fc.Arbitrary<SnapshotRecord> = fc.record({
    instance,
    seq,
    id,
    trigger: fc.constantFrom(...triggers),
    message: text.map((typed) => tidyMessage(typed, 'otherwise')),
    createdAt: fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
    previous: fc.option(oid),
    mounts: fc.array(fc.record({ name: mount, kind: fc.constantFrom('plain', 'clone', 'worktree'), path: hostPath })),
    bases: fc.array(
      fc.record({ mount, commit: oid, branch: fc.option(fc.stringMatching(/^[a-z][a-z0-9/._-]{0,20}$/)) }),
    ),
    recoveryOf: fc.option(pointer),
    files: fc.nat({ max: 999_999_999 }),
    sizeBytes: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    sourceTool: label,
    phase: label,
    decision: label,
    resource: label,
  });
  holds(record, (written) => {
    const bytes = Buffer.from(encodeMessage(written), 'utf8');
    expect(openMessage(bytes.toString('utf8')).decode()).toEqual(written);
    expect(openMessage(bytes.toString('utf8')).format).toBe('1');
    expect(openMessage(inOtherOrder(bytes.toString('utf8'))).decode()).toEqual(written);
  });
});

/** Trailers of a later version among those of this one, and the first one last: readers go by keys alone. */
function inOtherOrder(message: string): string {
  const cut = message.lastIndexOf('\n\n') + 2;
  const [first, ...others] = message.slice(cut).trimEnd().split('\n');
  return `${message.slice(0, cut)}${['Jackin-Later: what', ...others, first].join('\n')}\n`;
}

test('a tidied message stays as it is when it is tidied again', () => {
  const typed = fc.array(fc.oneof(text, fc.constantFrom('Jackin-Seq: 7', '', ' ', '\r', 'Jackin-Format: 99')));
  holds(typed, (lines) => {
    const tidied = tidyMessage(lines.join('\n'), 'otherwise');
    expect(tidyMessage(tidied, 'otherwise')).toBe(tidied);
    expect(tidied).not.toBe('');
    expect(tidied).not.toContain('\0');
  });
});

test('labels of any text do not disturb what stands beside them', () => {
  holds(fc.record({ message: text, label: text, path: hostPath }), ({ message, label, path: where }) => {
    const record: SnapshotRecord = {
      instance: 'a' as InstanceName,
      seq: 3 as Seq,
      id: `0${'A'.repeat(25)}` as SnapshotId,
      trigger: 'manual',
      message: tidyMessage(message, 'otherwise'),
      createdAt: new Date(0),
      previous: null,
      mounts: [{ name: 'm' as MountName, kind: 'plain', path: where }],
      bases: [{ mount: 'm' as MountName, commit: '1'.repeat(40) as ObjectId, branch: null }],
      recoveryOf: null,
      files: 1,
      sizeBytes: 1,
      sourceTool: label,
      phase: label,
      decision: label,
      resource: label,
    };
    const read = openMessage(Buffer.from(encodeMessage(record), 'utf8').toString('utf8')).decode();
    const beside = { sourceTool: null, phase: null, decision: null, resource: null };
    expect({ ...read, ...beside }).toEqual({ ...record, ...beside });
  });
});

test('paths of any bytes survive quoting, JSON and escaping for a tree', () => {
  holds(fc.tuple(hostPath, name, fc.constantFrom('file', 'directory', 'symlink')), ([where, single, kind]) => {
    expect(unquotePath(quotePath(where))).toBe(where);
    expect(quotePath(where)).not.toMatch(/[\n\r]/);
    expect(pathFromJson(JSON.parse(JSON.stringify(pathToJson(where))))).toBe(where);
    expect(unescapeName(escapeName(single, { kind, size: single.length }))).toBe(single);
    expect(displayPath(where)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });
});

test('attribute and observed lines', () => {
  const attribute = fc.record(
    { path: anyPath, bare: yes, mode, uid: owner, gid: owner, sparse: yes, size: count, linkedTo: path },
    { requiredKeys: ['path'] },
  );
  const observed = fc.record({
    path: anyPath,
    reason: fc.constantFrom(...leftOutReasons, 'incomplete' as const, 'absent' as const),
    directory: fc.boolean(),
  });
  holds(fc.tuple(fc.array(attribute), fc.array(observed)), ([attributes, lines]) => {
    expect(decodeAttributes(encodeAttributes(attributes))).toEqual(attributes);
    expect(decodeObserved(encodeObserved(lines))).toEqual(lines);
  });
});

test('manifests and records of instances', () => {
  const repository = fc.record({
    head: fc.option(oid),
    branch: fc.option(text),
    upstream: fc.option(text),
    dirty: fc.option(fc.boolean()),
    operation: fc.option(text),
    unknown: fc.array(text),
  });
  const json = anyPath.map(pathToJson);
  const manifestMount = fc.record({
    name: mount,
    path: hostPath.map(pathToJson),
    kind: fc.constantFrom('plain' as const, 'clone' as const, 'worktree' as const),
    device: bigId.map(String),
    inode: bigId.map(String),
    repository: fc.option(repository),
    nested: fc.array(
      fc.tuple(repository, json).map(([state, where]) => ({ ...state, path: where })),
      { maxLength: 2 },
    ),
    defaults: fc.record({ file: mode, executable: mode, directory: mode, uid: owner, gid: owner }),
    exclude_files: fc.array(fc.record({ path: json, content: json })),
    rules_unknown: fc.array(json),
  });
  const scoped = fc.option(fc.array(fc.record({ mount, path: json })));
  const manifest: fc.Arbitrary<Manifest> = fc.record({
    format: fc.constant('1' as const),
    instance,
    seq,
    id,
    created_at: text,
    trigger: fc.constantFrom(...triggers),
    program: text,
    policy: fc.array(text).map((exclude) => ({ ...defaultPolicy, exclude })),
    scope: scoped,
    complete: fc.boolean(),
    stats: fc.record({ files_observed: count, files_stored: count, bytes_stored: count }),
    mounts: fc.array(manifestMount, { maxLength: 2 }),
    recovery: fc.option(fc.record({ instance, seq, mounts: fc.array(mount), paths: scoped })),
    meta: fc.dictionary(metaKey, text, { noNullPrototype: true }),
    instance_record: fc
      .record({
        name: instance,
        createdAt: text,
        state: fc.constantFrom('open' as const, 'closed' as const),
        mounts: fc.array(fc.record({ name: mount, path: hostPath, dev: bigId, ino: bigId })),
        policy: fc.constant(defaultPolicy),
      })
      .map((record) => {
        expect(recordFromJson(JSON.parse(JSON.stringify(recordToJson(record))))).toEqual(record);
        return recordToJson(record);
      }),
  });
  holds(manifest, (written) => {
    expect(decodeManifest(encodeManifest(written), 'a/1')).toEqual(JSON.parse(JSON.stringify(written)));
  });
});

test('journal records, and a change taken back twice', () => {
  const common = { path, uid: owner, gid: owner };
  const link = { linkedTo: path, oid, size: count };
  const needed = ['kind', 'path', 'uid', 'gid', 'oid', 'size'] as const;
  const entry = fc.oneof(
    fc.record({ kind: fc.constant('directory' as const), mode, ...common }),
    fc.record({ kind: fc.constant('symlink' as const), ...link, ...common }, { requiredKeys: [...needed] }),
    fc.record(
      { kind: fc.constant('file' as const), mode, sparse: fc.boolean(), byRanges: yes, ...link, ...common },
      { requiredKeys: [...needed, 'mode', 'sparse'] },
    ),
  ) as fc.Arbitrary<StoredEntry>;
  const change = fc
    .record({
      path,
      action: fc.constantFrom('create', 'overwrite', 'delete', 'chmod', 'retype'),
      reason: text,
      before: fc.option(entry),
      after: fc.option(entry),
    })
    .map(({ before, after, ...rest }) => ({
      ...rest,
      before: before && { ...before, path: rest.path },
      after: after && { ...after, path: rest.path },
    }));
  const record = fc.oneof(
    fc.record({
      kind: fc.constant('begin'),
      id,
      snapshot: pointer,
      emergency: pointer,
      mounts: fc.array(fc.record({ name: mount, path: hostPath, dev: bigId, ino: bigId })),
      request: text,
    }),
    fc.record({ kind: fc.constant('change'), mount, change }),
    fc.record({ kind: fc.constant('planned'), changes: count }),
    fc.record({
      kind: fc.constant('planned'),
      changes: count,
      blocked: fc.array(fc.record({ mount, path: anyPath, reason: text }), { minLength: 1 }),
    }),
    fc.record({ kind: fc.constant('lent'), mount, path: anyPath, mode }),
    fc.record({ kind: fc.constant('direction'), direction: fc.constantFrom('continue', 'abort') }),
    fc.record({ kind: fc.constant('done') }),
  ) as fc.Arbitrary<JournalRecord>;
  holds(record, (written) => {
    const line = encodeRecord(written);
    expect(line).not.toContain('\n');
    expect(decodeRecord(line)).toEqual(written);
    if (written.kind === 'change') expect(inverse(inverse(written.change))).toEqual(written.change);
  });
});
