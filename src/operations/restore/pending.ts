import type { EntryPath } from '../../core/entry-path.js';
import type { InstanceName, MountName } from '../../core/ids.js';
import type { JournalBegin, JournalRecord } from '../../core/journal-record.js';
import type { Change } from '../../core/restore-plan.js';
import type { KeptPath, SnapshotPointer } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';

/** A restore that was interrupted, as its journal tells it. */
export interface PendingRestore {
  readonly begin: JournalBegin;
  readonly changes: ReadonlyMap<MountName, readonly Change[]>;
  readonly lent: ReadonlyMap<MountName, ReadonlyMap<EntryPath, number>>;
  /** What the plan could not have: the restore is done without it. */
  readonly blocked: readonly KeptPath[];
  /** The way that an interrupted `recover` had chosen. */
  readonly direction: 'continue' | 'abort' | null;
}

/** Undefined when none is pending. One that was interrupted before its plan was complete has changed nothing. */
export function readPending(context: Context, instance: InstanceName): PendingRestore | undefined {
  const records = context.journals.read(instance);
  return records === undefined ? undefined : toPending(records);
}

/** For those who change nothing that it could tell of: `damaged` where the journal cannot be read. */
export function readPendingOr<Damaged>(
  context: Context,
  instance: InstanceName,
  damaged: Damaged,
): PendingRestore | Damaged | undefined {
  try {
    return readPending(context, instance);
  } catch (error) {
    if (!isSnapError(error, 'JOURNAL_DAMAGED')) throw error;
    return damaged;
  }
}

/** The restores that are pending, of all instances. One whose journal is damaged does not hide the others. */
export function pendingRestores(context: Context): { instance: InstanceName; snapshot: SnapshotPointer }[] {
  return context.journals.pending().flatMap((instance) => {
    const pending = readPendingOr(context, instance, undefined);
    return pending === undefined ? [] : [{ instance, snapshot: pending.begin.snapshot }];
  });
}

/**
 * Removes a journal that tells of nothing pending: of a restore that was killed before its plan was complete, or when
 * it was done. The caller holds the instance's lock.
 */
export function clearFinished(context: Context, instance: InstanceName): void {
  if (context.journals.read(instance) === undefined || readPending(context, instance) !== undefined) return;
  context.journals.reopen(instance).remove();
}

function toPending(records: readonly JournalRecord[]): PendingRestore | undefined {
  const begin = records.find((record) => record.kind === 'begin');
  const planned = records.find((record) => record.kind === 'planned');
  const done = records.some((record) => record.kind === 'done');
  if (begin === undefined || planned === undefined || done) return undefined;
  const direction = records.filter((record) => record.kind === 'direction').at(-1)?.direction ?? null;
  return { begin, changes: changesIn(records), lent: lentIn(records), blocked: planned.blocked ?? [], direction };
}

function changesIn(records: readonly JournalRecord[]): Map<MountName, Change[]> {
  const changes = new Map<MountName, Change[]>();
  for (const record of records)
    if (record.kind === 'change') entryOf(changes, record.mount, () => []).push(record.change);
  return changes;
}

function lentIn(records: readonly JournalRecord[]): Map<MountName, Map<EntryPath, number>> {
  const lent = new Map<MountName, Map<EntryPath, number>>();
  for (const record of records) {
    if (record.kind !== 'lent') continue;
    const modes = entryOf(lent, record.mount, () => new Map<EntryPath, number>());
    // The first mode is the directory's own: a later one may be what we lent.
    if (!modes.has(record.path)) modes.set(record.path, record.mode);
  }
  return lent;
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** How the temporary files of a restore are called. */
export function temporaryPrefix(id: string): string {
  return `.jackin-${id}-`;
}

/**
 * The temporary names that a pending restore may have left in the mounts; null when none is pending. Where they are not
 * known, since its journal is damaged, they are files like others: better saved than nothing saved.
 */
export function pendingTemporaryPrefix(context: Context, instance: InstanceName): string | null {
  const pending = readPendingOr(context, instance, undefined);
  return pending === undefined ? null : temporaryPrefix(pending.begin.id);
}

/** @throws SnapError RESTORE_PENDING */
export function refusePending(instance: InstanceName, pending: PendingRestore): never {
  const of = `${pending.begin.snapshot.instance}/${String(pending.begin.snapshot.seq)}`;
  throw new SnapError('RESTORE_PENDING', `A restore of snapshot ${of} was interrupted and is pending.`, { instance });
}
