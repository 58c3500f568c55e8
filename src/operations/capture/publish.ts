import type { EntryPath } from '../../core/entry-path.js';
import { pathToJson } from '../../core/entry-path.js';
import type { MountName, ObjectId, Seq } from '../../core/ids.js';
import { type InstanceRecord, recordToJson } from '../../core/instance-record.js';
import {
  type Manifest,
  type ObservedLine,
  encodeAttributes,
  encodeManifest,
  encodeObserved,
} from '../../core/manifest.js';
import { usualDetector } from '../../core/stacks/in-force.js';
import type { Policy } from '../../core/policy.js';
import type { ObjectWriter, RefChange, SnapshotRef, TreeEntry } from '../../core/ports.js';
import type { Snapshot, SnapshotPointer, Trigger } from '../../core/results.js';
import {
  type SnapshotRecord,
  encodeCommit,
  encodeMessage,
  replaceRefName,
  snapshotRefName,
} from '../../core/snapshot-record.js';
import type { StateMissing } from '../../core/state/results.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { type AttributeDefaults, usualAttributes } from './attributes.js';
import type { CapturedMount } from './capture-mounts.js';
import type { GitStatesByMount } from './protect-commits.js';
import type { CapturedState } from './state/capture-state.js';

/*
 * From captured mounts to a snapshot: meta data, trees and commit into the same pack, the pack into the store, the
 * ref last.
 */

export interface SnapshotDraft {
  readonly record: InstanceRecord;
  readonly mounts: readonly CapturedMount[];
  /** What is stored of the session's state, beside the mounts. */
  readonly state?: CapturedState | undefined;
  /** Why there is none, although there should be. */
  readonly stateMissing?: StateMissing | undefined;
  readonly policy: Policy;
  readonly trigger: Trigger;
  readonly message: (seq: Seq) => string;
  readonly scope: readonly { readonly mount: MountName; readonly path: EntryPath }[] | null;
  readonly complete: boolean;
  readonly recovery: Manifest['recovery'];
  readonly recoveryOf: SnapshotPointer | null;
  readonly labels: Pick<SnapshotRecord, 'sourceTool' | 'phase' | 'decision' | 'resource'>;
  readonly meta: Readonly<Record<string, string>>;
}

/** What a snapshot holds apart from its manifest, written. */
export interface WrittenContent {
  readonly mounts: ObjectId;
  readonly attributes: ReadonlyMap<MountName, ObjectId>;
  readonly meta: readonly TreeEntry[];
  readonly defaults: ReadonlyMap<MountName, AttributeDefaults>;
  /** Where commits are protected. */
  readonly gitTrees: ReadonlyMap<MountName, ObjectId>;
}

/** Writes what the snapshot holds, apart from its manifest. */
export function writeContent(
  writer: ObjectWriter,
  mounts: readonly Pick<CapturedMount, 'mount' | 'captured' | 'attributes'>[],
  gitStates: GitStatesByMount = new Map(),
): WrittenContent {
  const trees: TreeEntry[] = [];
  const meta: TreeEntry[] = [];
  const attributes = new Map<MountName, ObjectId>();
  const allDefaults = new Map<MountName, AttributeDefaults>();
  const gitTrees = new Map<MountName, ObjectId>();
  for (const { mount, captured, attributes: known } of mounts) {
    const { defaults } = known;
    const attributesId = writer.writeBlob(encodeAttributes(known.lines));
    const observedId = writer.writeBlob(encodeObserved(observedLines(captured)));
    trees.push(directoryEntry(mount.name, captured.tree ?? writer.writeTree([])));
    const git = gitStates.get(mount.name)?.tree ?? null;
    const ofMount = [
      fileEntry('attributes', attributesId),
      fileEntry('observed', observedId),
      ...(git === null ? [] : [directoryEntry('git', git)]),
    ];
    meta.push(directoryEntry(mount.name, writer.writeTree(ofMount)));
    if (git !== null) gitTrees.set(mount.name, git);
    attributes.set(mount.name, attributesId);
    allDefaults.set(mount.name, defaults);
  }
  return { mounts: writer.writeTree(trees), meta, attributes, defaults: allDefaults, gitTrees };
}

function observedLines(captured: CapturedMount['captured']): ObservedLine[] {
  return [
    ...captured.leftOut,
    ...captured.incomplete.map((path) => ({ path, reason: 'incomplete' as const, directory: true })),
    ...captured.absent.map((path) => ({ path, reason: 'absent' as const, directory: false })),
  ];
}

function fileEntry(name: string, oid: ObjectId): TreeEntry {
  return { mode: 0o100644, name, oid };
}

function directoryEntry(name: string, oid: ObjectId): TreeEntry {
  return { mode: 0o40000, name, oid };
}

/**
 * Publishes the draft as the instance's next snapshot. Durable when it returns; on failure nothing is visible and no
 * number is used. The caller holds the instance's lock and the store's shared lock.
 */
export async function publish(
  context: Context,
  writer: ObjectWriter,
  draft: SnapshotDraft,
  content: WrittenContent,
  previous: SnapshotRef | null,
): Promise<Snapshot> {
  const seq = (Math.max(previous?.seq ?? 0, context.registry.lastSeq(draft.record.name) ?? 0) + 1) as Seq;
  const record = recordOf(context, draft, seq, previous);
  const manifest = writer.writeBlob(encodeManifest(manifestOf(context, draft, record, content)));
  const meta = writer.writeTree([
    fileEntry('manifest.json', manifest),
    directoryEntry('mounts', writer.writeTree(content.meta)),
  ]);
  const tree = writer.writeTree([directoryEntry('meta', meta), directoryEntry('mounts', content.mounts)]);
  const message = encodeMessage(record);
  const commit = writer.writeCommit(encodeCommit({ tree, parent: null, createdAt: record.createdAt, message }));
  const graft =
    previous === null
      ? null
      : writer.writeCommit(encodeCommit({ tree, parent: previous.commit, createdAt: record.createdAt, message }));
  await writer.publish();
  await context.store.checkConnected([commit], previous === null ? [] : [previous.commit]);
  context.interruption.check();
  const ref = snapshotRefName(draft.record.name, seq);
  await createRefs(context, [
    { name: ref, old: null, new: commit },
    ...(graft === null ? [] : [{ name: replaceRefName(commit), old: null, new: graft }]),
  ]);
  return {
    instance: record.instance,
    seq,
    id: record.id,
    ref,
    commit,
    tree,
    trigger: record.trigger,
    message: record.message,
    createdAt: record.createdAt.toISOString(),
    parentSeq: previous?.seq ?? null,
  };
}

/** A git that was killed may have left its lock on just these refs; nobody else uses them. */
async function createRefs(context: Context, changes: readonly RefChange[]): Promise<void> {
  try {
    await context.store.changeRefs(changes);
  } catch (error) {
    if (!isSnapError(error, 'BUSY')) throw error;
    context.store.dropRefLocks(changes.map(({ name }) => name));
    await context.store.changeRefs(changes);
  }
}

function recordOf(context: Context, draft: SnapshotDraft, seq: Seq, previous: SnapshotRef | null): SnapshotRecord {
  const bases = draft.mounts.flatMap(({ mount, repository }) => {
    const head = repository?.head ?? null;
    return head === null ? [] : [{ mount: mount.name, commit: head, branch: repository?.branch ?? null }];
  });
  return {
    instance: draft.record.name,
    seq,
    id: context.newId(),
    trigger: draft.trigger,
    message: draft.message(seq),
    createdAt: context.now(),
    previous: previous?.commit ?? null,
    mounts: draft.mounts.map(({ mount, kind }) => ({ name: mount.name, kind, path: mount.path })),
    bases,
    recoveryOf: draft.recoveryOf,
    files: sum(draft.mounts, ({ captured }) => captured.stats.filesStored),
    sizeBytes: sum(draft.mounts, ({ captured }) => captured.stats.bytesStored),
    ...draft.labels,
  };
}

function manifestOf(context: Context, draft: SnapshotDraft, record: SnapshotRecord, content: WrittenContent): Manifest {
  return {
    format: '1',
    instance: record.instance,
    seq: record.seq,
    id: record.id,
    created_at: record.createdAt.toISOString(),
    trigger: record.trigger,
    program: context.program,
    policy: draft.policy,
    scope: draft.scope?.map(({ mount, path }) => ({ mount, path: pathToJson(path) })) ?? null,
    complete: draft.complete,
    stats: {
      files_observed: sum(draft.mounts, ({ captured }) => captured.stats.filesObserved),
      files_stored: record.files,
      bytes_stored: record.sizeBytes,
    },
    mounts: draft.mounts.map((mount) =>
      manifestMount(draft, mount, content.defaults.get(mount.mount.name) ?? usualAttributes([])),
    ),
    ...(draft.state === undefined ? {} : { state: manifestState(draft.state) }),
    ...(draft.stateMissing === undefined ? {} : { state_missing: draft.stateMissing }),
    ...stacksOf(draft),
    recovery: draft.recovery,
    meta: { ...draft.meta },
    instance_record: recordToJson(draft.record),
  };
}

function manifestMount(
  draft: SnapshotDraft,
  captured: CapturedMount,
  defaults: AttributeDefaults,
): Manifest['mounts'][number] {
  const { mount, kind, repository, nested, excludeFiles, rulesUnknown } = captured;
  return {
    name: mount.name,
    path: pathToJson(mount.path),
    kind,
    device: String(mount.dev),
    inode: String(mount.ino),
    repository: repository === null ? null : { ...repository, unknown: [...repository.unknown] },
    nested: nested.map(({ path, ...state }) => ({ ...state, path: pathToJson(path), unknown: [...state.unknown] })),
    defaults,
    exclude_files: excludeFiles.map(({ path, content }) => ({ path: pathToJson(path), content: pathToJson(content) })),
    rules_unknown: rulesUnknown.map(pathToJson),
    ...(hasOwnStacks(draft, captured) ? { stacks: captured.stacks.detector.presets.map(({ name }) => name) } : {}),
  };
}

function manifestState({ mount, attributes }: CapturedState): Manifest['mounts'][number] {
  return {
    name: mount.name,
    path: pathToJson(mount.path),
    kind: 'plain',
    device: String(mount.dev),
    inode: String(mount.ino),
    repository: null,
    nested: [],
    defaults: attributes.defaults,
    exclude_files: [],
    rules_unknown: [],
  };
}

/** The presets themselves: their files may change, or go, and what they left out stays left out. */
function stacksOf(draft: SnapshotDraft): Pick<Manifest, 'stacks'> {
  const presets = draft.mounts
    .filter((mount) => hasOwnStacks(draft, mount))
    .flatMap(({ stacks }) => stacks.detector.presets)
    .map(({ name, detect, patterns }) => [name, { name, detect, patterns }] as const);
  return presets.length === 0 ? {} : { stacks: [...new Map(presets).values()] };
}

function hasOwnStacks({ policy }: SnapshotDraft, { stacks }: CapturedMount): boolean {
  return policy.stacks && stacks.detector.key() !== usualDetector.key();
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
