import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EntryPath, type HostPath, bytesOfText } from '../../src/core/entry-path.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from '../../src/core/ids.js';
import { type JournalRecord, decodeRecord, encodeRecord } from '../../src/core/journal-record.js';
import {
  type AttributeLine,
  type ObservedLine,
  decodeAttributes,
  decodeManifest,
  decodeObserved,
  encodeAttributes,
  encodeManifest,
  encodeObserved,
} from '../../src/core/manifest.js';
import { type SnapshotRecord, encodeCommit, encodeMessage, openMessage } from '../../src/core/snapshot-record.js';
import { createSnap } from '../../src/index.js';
import { buildTree } from '../support/build-tree.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';
import { gitOwnedEntries, linkEntries, worstNames } from '../support/worst-tree.js';
import { directory, file, symlink } from '../support/tree-plan.js';
import { thaw } from './frozen-store.js';

/*
 * The bytes of format 1. A difference here is a new format, or a mistake: what is in fixtures/golden changes only
 * together with the format's number. Lines may be added, for names that become a worry.
 */

const golden = (name: string): string => resolve(import.meta.dirname, '../../fixtures/golden/format-1', name);

const id = '01KJMMA2QTMZ27P0NSGC0MPD44' as SnapshotId;
const instance = 'demo' as InstanceName;
const web = 'web' as MountName;
const blob = '8a205e8dc3e7c7914d69c3e900f2e944d77bb100' as ObjectId;
const path = (bytes: string): EntryPath => bytes as EntryPath;
const pointer = { instance, seq: 1 as Seq, id, ref: 'refs/jackin/demo/1' };

const record: SnapshotRecord = {
  instance,
  seq: 12 as Seq,
  id,
  trigger: 'emergency',
  message: 'Subject\n\nBody, and what looks like a trailer:\n\nJackin-Seq: 99',
  createdAt: new Date('2026-03-01T12:00:00.250Z'),
  previous: '1d667ceb8eaf1732ea41e73187cbb95abb981b57' as ObjectId,
  mounts: [
    { name: web, kind: 'clone', path: '/srv/web' as HostPath },
    { name: 'odd' as MountName, kind: 'plain', path: '/srv/\xff "a"\\\nb' as HostPath },
    { name: 'text' as MountName, kind: 'worktree', path: bytesOfText('/srv/caf\u00e9 \\ "x"') as HostPath },
  ],
  bases: [
    { mount: web, commit: blob, branch: 'feature/one' },
    { mount: 'text' as MountName, commit: blob, branch: null },
  ],
  recoveryOf: pointer,
  files: 3,
  sizeBytes: 5_000_000_000,
  sourceTool: 'claude',
  phase: 'plan',
  decision: 'ADR 7: yes',
  resource: 'src/main.c',
};

const attributes: AttributeLine[] = [
  { path: path(''), mode: 0o2775 },
  { path: path('empty\nname'), bare: true },
  { path: path('caf\xe9'), mode: 0o4711, uid: 0, gid: 5 },
  { path: path(bytesOfText('caf\u00e9')), sparse: true },
  { path: path('two'), linkedTo: path('caf\xe9') },
];

const observed: ObservedLine[] = [
  { path: path('.env'), reason: 'secret', directory: false },
  { path: path('node_modules'), reason: 'excluded', directory: true },
  { path: path('pipe\xff'), reason: 'special', directory: false },
  { path: path('half'), reason: 'incomplete', directory: true },
  { path: path('gone'), reason: 'absent', directory: false },
];

const journal: JournalRecord[] = [
  {
    kind: 'begin',
    id,
    snapshot: pointer,
    emergency: { ...pointer, seq: 2 as Seq, ref: 'refs/jackin/demo/2' },
    mounts: [{ name: web, path: '/srv/web' as HostPath, dev: 65024n, ino: 18446744073709551615n }],
    request: '[[],null,false,false]',
  },
  {
    kind: 'change',
    mount: web,
    change: {
      path: path('a\xff'),
      action: 'retype',
      reason: 'is a directory now',
      before: { kind: 'directory', path: path('a\xff'), mode: 0o755, uid: 1000, gid: 1000 },
      after: { kind: 'symlink', path: path('a\xff'), oid: blob, size: 7, uid: 1000, gid: 1000 },
    },
  },
  {
    kind: 'change',
    mount: web,
    change: {
      path: path('b'),
      action: 'delete',
      reason: 'new since the snapshot',
      before: {
        kind: 'file',
        path: path('b'),
        mode: 0o644,
        oid: blob,
        size: 7,
        sparse: true,
        linkedTo: path('a'),
        uid: 0,
        gid: 0,
      },
      after: null,
    },
  },
  { kind: 'planned', changes: 2 },
  { kind: 'lent', mount: web, path: path('read-only'), mode: 0o555 },
  { kind: 'direction', direction: 'abort' },
  { kind: 'done' },
];

describe('format 1, to the byte', () => {
  test('a commit and its message', async () => {
    const message = encodeMessage(record);
    expect(openMessage(message).decode()).toEqual(record);
    const commit = encodeCommit({ tree: blob, parent: blob, createdAt: record.createdAt, message });
    await expect(commit.toString('utf8')).toMatchFileSnapshot(golden('commit'));
  });

  test('the attributes of a mount', async () => {
    expect(decodeAttributes(encodeAttributes(attributes))).toEqual(attributes);
    await expect(encodeAttributes(attributes).toString('utf8')).toMatchFileSnapshot(golden('attributes'));
  });

  test('what a mount was seen to hold', async () => {
    expect(decodeObserved(encodeObserved(observed))).toEqual(observed);
    await expect(encodeObserved(observed).toString('utf8')).toMatchFileSnapshot(golden('observed'));
  });

  test('a journal', async () => {
    const lines = journal.map(encodeRecord);
    expect(lines.map(decodeRecord)).toEqual(journal);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(golden('journal'));
  });

  test('the manifests of the frozen store are written as they were', () => {
    const dataDir = tempDir();
    thaw('v1', dataDir);
    for (const seq of [1, 3, 4]) {
      const { stdout } = storeGit(dataDir, ['cat-file', 'blob', `refs/jackin/demo/${seq}:meta/manifest.json`]);
      const manifest = decodeManifest(Buffer.from(stdout), `demo/${seq}`);
      expect(encodeManifest(manifest).toString('utf8')).toBe(stdout);
    }
  });

  test('the trees of files with every name that was ever a worry', async () => {
    const area = tempDir();
    const folder = join(area, 'mount');
    await buildTree(folder, [
      ...worstNames
        .filter(({ name }) => name !== '.git')
        .flatMap(({ name }) => [
          file(`file/${name}`, 'x'),
          symlink(`link/${name}`, 'x'),
          file(`directory/${name}/x`, 'x'),
          directory(`empty/${name}`),
        ]),
      ...gitOwnedEntries(),
      ...linkEntries(),
      file('run', '#!/bin/sh\n', 0o755),
    ]);
    const env = { PATH: process.env['PATH'] ?? '', HOME: area };
    const dataDir = join(area, 'data');
    const { snapshot } = await createSnap({ cwd: folder, dataDir, env }).save({
      overrides: { gitignore: false, stacks: false, include_secrets: true },
    });
    const { stdout } = storeGit(dataDir, ['ls-tree', '-r', '-t', `${snapshot.commit}:mounts/mount`]);
    await expect(stdout).toMatchFileSnapshot(golden('worst-names.tree'));
  });
});
