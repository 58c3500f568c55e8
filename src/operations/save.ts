import { type EntryPath, displayPath } from '../core/entry-path.js';
import { partialReasons } from '../core/entry.js';
import type { MountName, ObjectId } from '../core/ids.js';
import type { InstanceRecord } from '../core/instance-record.js';
import { withOverrides } from '../core/policy.js';
import type { ObjectReader, ObjectWriter, SnapshotRef } from '../core/ports.js';
import type { SaveRequest } from '../core/requests.js';
import type { ObservedOnlyEntry, SaveResult, SaveStats, Snapshot } from '../core/results.js';
import { tidyMessage } from '../core/snapshot-record.js';
import { SnapError } from '../errors.js';
import type { AttributeDefaults } from './capture/attributes.js';
import { type CapturedMount, captureMounts, summarize } from './capture/capture-mounts.js';
import { type SnapshotDraft, type WrittenContent, publish, writeContent } from './capture/publish.js';
import type { Context } from './context.js';
import { limitsOf } from './path-arguments.js';
import { pruneAfterSave } from './keep/prune.js';
import { lockForSnapshot, sweepIfAlone } from './locking.js';
import { pendingTemporaryPrefix } from './restore/pending.js';
import { instanceForSave } from './session/instance-for-save.js';
import { readManifest } from './snapshot-content.js';
import { describe, know } from './snapshots.js';

/**
 * Snapshots the instance's mounts: all of it is published, durably, or nothing is and no number is used.
 * @throws SnapError MOUNT_UNSAFE, MOUNT_GONE, MOUNTS_DIFFER, INSTANCE_CLOSED, INCOMPLETE_REFUSED, BUSY, NO_SPACE …
 */
export async function save(context: Context, request: SaveRequest): Promise<SaveResult> {
  const name = instanceForSave(context, request).record.name;
  await context.store.prepare();
  await sweepIfAlone(context);
  const locks = await lockForSnapshot(context, name);
  try {
    // Under the lock the instance may be another one than before it.
    const { record, isNew } = instanceForSave(context, request);
    return await saveLocked(context, request, record, isNew);
  } finally {
    locks.release();
  }
}

async function saveLocked(
  context: Context,
  request: SaveRequest,
  record: InstanceRecord,
  isNew: boolean,
): Promise<SaveResult> {
  const existing = await context.store.snapshots(record.name);
  const writer = context.store.newWriter();
  try {
    const captured = await captureForSave(context, request, record, writer);
    const incomplete = incompletePaths(captured);
    refuseIncomplete(request, incomplete);
    refuseTooLarge(record, captured);
    const content = writeContent(writer, captured);
    const unchanged = request.ifChanged === true ? await unchangedSince(context, existing.at(-1), content) : undefined;
    if (unchanged !== undefined) {
      await writer.abandon();
      return result(unchanged(existing), false, captured, 0, [
        'Nothing changed since that snapshot: no new one was made.',
      ]);
    }
    if (isNew) context.registry.write(record);
    const snapshot = await publish(
      context,
      writer,
      draftOf(request, record, captured, incomplete.length === 0),
      content,
      existing,
    );
    for (const mount of captured) mount.rememberStats();
    const messages = await pruneAfterSave(context, record);
    return result(snapshot, true, captured, writer.bytesAdded, [...messages, ...notesOn(captured)]);
  } catch (error) {
    await writer.abandon();
    if (isNew && existing.length === 0) context.registry.remove(record.name);
    throw error;
  }
}

async function captureForSave(
  context: Context,
  request: SaveRequest,
  record: InstanceRecord,
  writer: ObjectWriter,
): Promise<CapturedMount[]> {
  const limits = limitsIn(request, record);
  return captureMounts(context, {
    record,
    mounts: record.mounts,
    policy: withOverrides(record.policy, request.overrides ?? {}),
    writer,
    full: request.full ?? false,
    scope: (mount: MountName): readonly EntryPath[] | null => limits?.get(mount) ?? (limits === null ? null : []),
    forced: () => null,
    temporaryPrefix: pendingTemporaryPrefix(context, record.name),
  });
}

function draftOf(
  request: SaveRequest,
  record: InstanceRecord,
  mounts: readonly CapturedMount[],
  complete: boolean,
): SnapshotDraft {
  const trigger = request.trigger ?? 'manual';
  const limits = limitsIn(request, record);
  return {
    record,
    mounts,
    policy: withOverrides(record.policy, request.overrides ?? {}),
    trigger,
    message: (seq) => tidyMessage(request.message, `${trigger} snapshot ${String(seq)} of ${record.name}`),
    scope: limits === null ? null : [...limits].flatMap(([mount, paths]) => paths.map((path) => ({ mount, path }))),
    complete,
    recovery: null,
    recoveryOf: null,
    labels: labelsOf(request),
    meta: request.meta ?? {},
  };
}

function labelsOf({ sourceTool, phase, decision, resource }: SaveRequest): SnapshotDraft['labels'] {
  return {
    sourceTool: sourceTool ?? null,
    phase: phase ?? null,
    decision: decision ?? null,
    resource: resource ?? null,
  };
}

/** What the save is limited to, by mount; null for everything. */
function limitsIn(request: SaveRequest, record: InstanceRecord): Map<MountName, EntryPath[]> | null {
  const { paths } = request;
  return paths === undefined || paths.length === 0
    ? null
    : limitsOf(
        record.mounts.map(({ name }) => name),
        paths,
      );
}

/** Paths that should have been stored and could not be read. */
export function incompletePaths(captured: readonly CapturedMount[]): EntryPath[] {
  return captured.flatMap(({ captured: { leftOut, incomplete } }) => [
    ...leftOut.filter(({ reason }) => partialReasons.has(reason)).map(({ path }) => path),
    ...incomplete,
  ]);
}

function refuseIncomplete(request: SaveRequest, incomplete: readonly EntryPath[]): void {
  if (request.strict !== true || incomplete.length === 0) return;
  const names = incomplete
    .slice(0, 5)
    .map((path) => displayPath(path))
    .join(', ');
  throw new SnapError(
    'INCOMPLETE_REFUSED',
    `Nothing was saved: ${String(incomplete.length)} paths could not be read (${names}).`,
    { paths: incomplete },
  );
}

/** Under `on_limit=fail` a limit ends the save. */
function refuseTooLarge({ policy }: InstanceRecord, captured: readonly CapturedMount[]): void {
  if (policy.on_limit === 'skip') return;
  const first = observedOnly(captured).find(({ reason }) => reason === 'too_large');
  if (first === undefined) return;
  const { path } = first;
  throw new SnapError('LIMIT_EXCEEDED', `Nothing was saved: ${displayPath(path)} is over the size limit.`, { path });
}

/** The snapshot that holds just the same, if the last one does. */
async function unchangedSince(
  context: Context,
  last: SnapshotRef | undefined,
  content: WrittenContent,
): Promise<((existing: readonly SnapshotRef[]) => Snapshot) | undefined> {
  if (last === undefined) return undefined;
  const known = know(last);
  const reader = context.store.reader();
  try {
    if ((await idOf(reader, `${last.commit}:mounts`, 'tree')) !== content.mounts) return undefined;
    const { mounts } = await readManifest(reader, known);
    for (const [mount, oid] of content.attributes) {
      const before = mounts.find(({ name }) => name === mount)?.defaults;
      // Attributes are exceptions: the same list means the same only beside the same defaults.
      if (!sameDefaults(before, content.defaults.get(mount))) return undefined;
      if ((await idOf(reader, `${last.commit}:meta/mounts/${mount}/attributes`, 'blob')) !== oid) return undefined;
    }
    return (existing) => describe(known, existing);
  } finally {
    await reader.close();
  }
}

function sameDefaults(a: AttributeDefaults | undefined, b: AttributeDefaults | undefined): boolean {
  const keys = ['file', 'executable', 'directory', 'uid', 'gid'] as const;
  return a !== undefined && b !== undefined && keys.every((key) => a[key] === b[key]);
}

async function idOf(reader: ObjectReader, name: string, type: 'tree' | 'blob'): Promise<ObjectId | undefined> {
  return (await reader.find(name, type))?.oid;
}

function notesOn(captured: readonly CapturedMount[]): string[] {
  return captured.flatMap(({ mount, repository, nested, rulesUnknown }) => [
    ...(repository?.unknown ?? []).map(
      (what) => `The repository of mount ${mount.name} is not known in full: ${what}.`,
    ),
    ...nested.flatMap(({ path, unknown }) =>
      unknown.map((what) => `The repository in ${displayPath(path)} is not known in full: ${what}.`),
    ),
    ...rulesUnknown.map(
      (path) =>
        `The ignore rules of ${displayPath(path === '' ? '.' : path)} could not be read: nothing there counts as ignored, and nothing there will be deleted.`,
    ),
  ]);
}

function result(
  snapshot: Snapshot,
  created: boolean,
  captured: readonly CapturedMount[],
  bytesAdded: number,
  messages: readonly string[],
): SaveResult {
  return {
    snapshot,
    created,
    stats: statsOf(captured, bytesAdded),
    mounts: captured.map(summarize),
    observedOnly: observedOnly(captured),
    complete: incompletePaths(captured).length === 0,
    messages,
  };
}

export function observedOnly(captured: readonly CapturedMount[]): ObservedOnlyEntry[] {
  return captured.flatMap(({ mount, captured: { leftOut } }) =>
    leftOut.map(({ path, reason }) => ({ mount: mount.name, path, reason })),
  );
}

function statsOf(captured: readonly CapturedMount[], bytesAdded: number): SaveStats {
  const total = { filesObserved: 0, filesStored: 0, filesReused: 0, filesRead: 0, bytesRead: 0, bytesStored: 0 };
  for (const {
    captured: { stats },
  } of captured) {
    for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += stats[key];
  }
  return { ...total, bytesAdded };
}
