import { parseEntryPath, type EntryPath, type HostPath } from '../../src/core/entry-path.js';
import { parseInstanceName, parseMountName, parseObjectId, type Seq } from '../../src/core/ids.js';
import { defaultPolicy } from '../../src/core/policy.js';
import type {
  InstanceSummary,
  ListedSnapshot,
  MountSummary,
  ObservedOnlyEntry,
  PlannedChange,
  RestoreResult,
  SaveResult,
  ShowResult,
} from '../../src/core/results.js';
import type { ExportedState } from '../../src/core/state/results.js';
import { evilName, foreignName, instance, mount, pointer } from './fake-names.js';

/*
 * What the library of these tests answers.
 */

export const commit = parseObjectId('1'.repeat(40));

export const worktree = {
  name: parseInstanceName('app-run-1a2b3c4d'),
  state: 'kept' as const,
  path: '/data/worktrees/app-run-1a2b3c4d/app' as HostPath,
  repository: '/src/app' as HostPath,
  branch: 'jackin-snap/app-run-1a2b3c4d',
  baseCommit: parseObjectId('c'.repeat(40)),
  baseBranch: 'main',
  head: parseObjectId('d'.repeat(40)),
  ahead: 2,
  dirty: true,
  exitCode: 0,
  createdAt: '2026-03-01T14:05:00.000Z',
};

export function listed(seq: number, changes: Partial<ListedSnapshot> = {}): ListedSnapshot {
  return {
    ...pointer(seq),
    commit,
    tree: commit,
    trigger: 'manual',
    message: `message ${seq}`,
    createdAt: '2026-03-01T12:00:00.000Z',
    parentSeq: seq > 1 ? ((seq - 1) as Seq) : null,
    files: 12,
    sizeBytes: 1_234_567,
    pinned: false,
    recoveryOf: null,
    restorable: true,
    ...changes,
  };
}

export const mountSummary: MountSummary = {
  name: mount,
  path: '/work/m' as HostPath,
  kind: 'clone',
  baseCommit: commit,
  branch: 'main',
  dirty: true,
  upstream: 'origin/main',
  operation: 'rebase',
  unknown: ['index version 4'],
  nested: [
    {
      path: parseEntryPath('sub'),
      head: null,
      branch: 'topic\x1b[1m',
      upstream: null,
      dirty: null,
      operation: null,
      unknown: [],
    },
  ],
};

export function leftOut(path: string, reason: ObservedOnlyEntry['reason']): ObservedOnlyEntry {
  return { mount, path: path as EntryPath, reason };
}

export const saved: SaveResult = {
  snapshot: listed(3),
  created: true,
  newInstance: false,
  stats: {
    filesObserved: 14,
    filesStored: 12,
    filesReused: 10,
    filesRead: 2,
    bytesRead: 2048,
    bytesAdded: 512,
    bytesStored: 1_234_567,
  },
  mounts: [mountSummary],
  observedOnly: [leftOut('.env', 'secret'), leftOut('build', 'ignored'), leftOut(foreignName, 'ignored')],
  complete: true,
  messages: [],
};

export const partlySaved: SaveResult = {
  ...saved,
  observedOnly: [...saved.observedOnly, leftOut('no', 'unreadable')],
  complete: false,
};

export const exportedState: ExportedState = {
  name: parseMountName('state'),
  path: '/j/data/c/home' as HostPath,
  files: 3,
  sizeBytes: 1500,
  included: false,
};

export const showed: ShowResult = {
  snapshot: listed(4, { trigger: 'emergency', recoveryOf: pointer(1), pinned: true }),
  mounts: [mountSummary],
  policy: defaultPolicy,
  stats: { filesStored: 12, bytesStored: 1_234_567, filesObserved: 14 },
  observedOnly: [...saved.observedOnly, leftOut(evilName, 'excluded')],
  stacks: [{ mount, name: 'node', detect: [['package.json']], patterns: ['node_modules/'] }],
  state: {
    stored: true,
    name: exportedState.name,
    path: exportedState.path,
    files: 3,
    sizeBytes: 1500,
    contents: [
      { agent: 'claude', kind: 'plugins', files: 2, sizeBytes: 1400 },
      { agent: 'claude', kind: 'settings', files: 1, sizeBytes: 100 },
    ],
    leftOut: [
      { path: parseEntryPath('.claude.json'), reason: 'credential' },
      { path: evilName, reason: 'secret' },
    ],
  },
  complete: true,
  sourceTool: 'edit',
  phase: 'p1',
  decision: null,
  resource: 'a\nb',
  meta: { ticket: '12' },
  messages: [],
};

export function change(action: PlannedChange['action'], path: string): PlannedChange {
  return {
    mount,
    path: path as EntryPath,
    hostPath: `/work/m/${path}` as HostPath,
    action,
    reason: action === 'delete' ? 'made after the snapshot' : '',
    from: action === 'create' ? 'nothing' : 'file',
    to: action === 'delete' ? 'nothing' : 'file',
    bytes: 2,
  };
}

export const plan: readonly PlannedChange[] = [
  change('overwrite', 'a'),
  change('delete', 'new'),
  change('create', foreignName),
];

export const restored: RestoreResult = {
  instance,
  fromSnapshot: pointer(1),
  emergencySnapshot: pointer(2),
  dryRun: false,
  restoredFiles: 2,
  deletedFiles: 1,
  changed: plan.map(({ path }) => ({ mount, path })),
  plan,
  kept: [{ mount, path: parseEntryPath('clone'), reason: 'a repository made since' }],
  failed: [],
  filesAffected: 3,
  bytesWritten: 4,
  activeSnapshot: pointer(1),
  verified: true,
  destination: null,
  messages: ['HEAD moved since the snapshot.'],
};

export const summary: InstanceSummary = {
  name: instance,
  state: 'open',
  status: 'active',
  active: true,
  owner: 'pid 12',
  mounts: [{ name: mount, path: '/work/m' as HostPath, present: true }],
  snapshots: 3,
  latest: 3 as Seq,
  sizeBytes: 1_234_567,
  pendingRestore: false,
  policy: defaultPolicy,
  createdAt: '2026-03-01T12:00:00.000Z',
  exitPolicy: 'ask',
};
