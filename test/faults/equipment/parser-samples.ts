import { createHash } from 'node:crypto';
import type { StoredEntry } from '../../../src/core/entry.js';
import type { EntryPath, HostPath } from '../../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from '../../../src/core/ids.js';
import { recordToJson } from '../../../src/core/instance-record.js';
import { encodeRecord } from '../../../src/core/journal-record.js';
import { encodeAttributes, encodeManifest, encodeObserved } from '../../../src/core/manifest.js';
import { defaultPolicy } from '../../../src/core/policy.js';
import type { SnapshotRecord } from '../../../src/core/snapshot-record.js';
import { encodeMessage } from '../../../src/core/snapshot-record.js';
import { encodeTree } from '../../../src/git/pack/format.js';

const instance = 'work' as InstanceName;
const mount = 'main' as MountName;
const oid = 'ab'.repeat(20) as ObjectId;
const path = 'src/na\xefve \xff"\n' as EntryPath;
const host = '/home/some one/src' as HostPath;
const pointer = {
  instance,
  seq: 7 as Seq,
  id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' as SnapshotId,
  ref: 'refs/jackin/work/7',
};
const owned = { uid: 1000, gid: 1000 };
const file: StoredEntry = { kind: 'file', path, mode: 0o644, oid, size: 12, sparse: true, byRanges: true, ...owned };
const link: StoredEntry = { kind: 'symlink', path, oid, size: 12, linkedTo: 'a' as EntryPath, ...owned };

const record: SnapshotRecord = {
  instance,
  seq: pointer.seq,
  id: pointer.id,
  trigger: 'manual',
  message: 'Subject\n\nBody: with a line\nJackin-Seq: 9',
  createdAt: new Date(1_700_000_000_000),
  previous: oid,
  mounts: [
    { name: mount, kind: 'clone', path: host },
    { name: mount, kind: 'plain', path: `/x/${path}` as HostPath },
  ],
  bases: [
    { mount, commit: oid, branch: 'topic/one' },
    { mount, commit: oid, branch: null },
  ],
  recoveryOf: pointer,
  files: 12,
  sizeBytes: 123_456,
  sourceTool: 'tool',
  phase: 'phase',
  decision: 'decision',
  resource: 'resource',
};

const instanceRecord = {
  name: instance,
  createdAt: '2026-01-01T00:00:00.000Z',
  state: 'open',
  mounts: [{ name: mount, path: host, dev: 64768n, ino: 1234567n }],
  policy: { ...defaultPolicy, exclude: ['*.o', 'build/'] },
} as const;

const repository = {
  ...{ head: oid, branch: 'main', upstream: 'origin/main', dirty: true, operation: null },
  unknown: ['the index is damaged'],
};

const journal = [
  {
    kind: 'begin',
    id: pointer.id,
    snapshot: pointer,
    emergency: pointer,
    mounts: instanceRecord.mounts,
    request: '{}',
  },
  { kind: 'change', mount, change: { path, action: 'overwrite', reason: 'differs', before: file, after: link } },
  { kind: 'change', mount, change: { path, action: 'delete', reason: 'new', before: link, after: null } },
  { kind: 'planned', changes: 2 },
  { kind: 'lent', mount, path, mode: 0o555 },
  { kind: 'direction', direction: 'abort' },
  { kind: 'done' },
] as const;

/** What the program itself, or git, wrote: bytes as latin1. */
export const parserSamples = {
  name: instance,
  journal: journal.map((written) => {
    const body = encodeRecord(written);
    return latin1(`${createHash('sha256').update(body).digest('hex').slice(0, 16)} ${body}`);
  }),
  json: {
    manifest: encodeManifest({
      format: '1',
      instance,
      seq: 7,
      id: pointer.id,
      created_at: '2026-01-01T00:00:00.000Z',
      trigger: 'manual',
      program: 'jackin-snap/0.1.0',
      policy: instanceRecord.policy,
      scope: [{ mount, path: { base64: '/w==' } }],
      complete: true,
      stats: { files_observed: 3, files_stored: 2, bytes_stored: 99 },
      mounts: [
        {
          ...{ name: mount, path: host, kind: 'clone', device: '64768', inode: '1234567', repository },
          nested: [{ ...repository, path: 'sub' }],
          defaults: { file: 0o644, executable: 0o755, directory: 0o755, ...owned },
          exclude_files: [{ path: '', content: '*.o\n' }],
          rules_unknown: ['odd'],
        },
      ],
      recovery: { instance, seq: 3, mounts: [mount], paths: null },
      meta: { key: 'value' },
      instance_record: recordToJson(instanceRecord),
    }).toString('latin1'),
    observed: encodeObserved([
      { path, reason: 'ignored', directory: true },
      { path: 'b' as EntryPath, reason: 'incomplete', directory: true },
      { path: 'c/d' as EntryPath, reason: 'absent', directory: false },
    ]).toString('latin1'),
    attributes: encodeAttributes([
      { path, mode: 0o4755, uid: 0, gid: 0, sparse: true, size: 4096, linkedTo: 'b' as EntryPath },
      { path: '' as EntryPath, bare: true, mode: 0o700 },
    ]).toString('latin1'),
    record: latin1(JSON.stringify(recordToJson(instanceRecord), null, 1)),
    activity: JSON.stringify({ pid: 17, start: '12345', bootId: 'b' }),
  },
  messages: [record, { ...record, recoveryOf: null, previous: null, bases: [], message: 'naïve' }].map((written) =>
    latin1(encodeMessage(written)),
  ),
  indexes: [indexOf(2), indexOf(4)],
  config:
    '[core]\n\trepositoryformatversion = 0\n\tbare = false ; no\n[remote "or\\"igin"]\n\turl = "a b" c\\\n d\n' +
    '\tfetch = +refs/*:refs/*\n[branch.main]\n\tmerge\n# end\n',
  settings: [
    ...['keep_last=5', 'keep_daily=0', 'gitignore=true', 'max_file_size=100M', 'max_total_size=none', 'exclude=a,b'],
    ...['on_limit=skip', 'max_store_bytes=2GiB', 'large_deletion_percent=50', 'stacks=false'],
  ],
  tree: encodeTree([
    { mode: 0o40000, name: 'dir', oid },
    { mode: 0o100644, name: 'file', oid },
    { mode: 0o100755, name: 'run\xff', oid },
    { mode: 0o120000, name: 'link', oid },
  ]).toString('latin1'),
};

/** An index as gitformat-index tells it, of version 2 or 4, with the extensions that git writes. */
function indexOf(version: 2 | 4): string {
  const names = ['a', 'dir/file', 'dir/file.txt', 'z\xff'];
  const header = Buffer.from('DIRC\0\0\0\0\0\0\0\0', 'latin1');
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(names.length, 8);
  const entries = names.map((name, at) => {
    const fixed = Buffer.alloc(62, 0x11);
    fixed.writeUInt32BE(0o100644, 24);
    fixed.writeUInt16BE(name.length, 60);
    if (version === 2) {
      const length = Math.ceil((62 + name.length + 1) / 8) * 8;
      return Buffer.concat([fixed, Buffer.from(name, 'latin1')], length);
    }
    const before = names[at - 1] ?? '';
    const shared = Array.from(name).findIndex((letter, position) => letter !== before[position]);
    const dropped = Buffer.from([before.length - shared]);
    return Buffer.concat([fixed, dropped, Buffer.from(`${name.slice(shared)}\0`, 'latin1')]);
  });
  const cached = Buffer.concat([Buffer.from('\x004 1\n', 'latin1'), Buffer.from(oid, 'hex')]);
  const extension = Buffer.from('TREE\0\0\0\0', 'latin1');
  extension.writeUInt32BE(cached.length, 4);
  const content = Buffer.concat([header, ...entries, extension, cached]);
  return content.toString('latin1') + createHash('sha1').update(content).digest().toString('latin1');
}

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
