import { displayPath } from '../core/entry-path.js';
import {
  type InstanceName,
  type ObjectId,
  type Seq,
  isSnapshotId,
  parseInstanceName,
  toSeq,
  zeroObjectId,
} from '../core/ids.js';
import type { SnapshotRef } from '../core/ports.js';
import type { ListedSnapshot, Snapshot, SnapshotPointer } from '../core/results.js';
import { type SnapshotRecord, formatVersion, openMessage } from '../core/snapshot-record.js';
import { unknownFormat } from '../core/manifest.js';
import { SnapError, isSnapError } from '../errors.js';
import type { Context } from './context.js';
import { raiseLastSeq } from './last-seq.js';
import { refuseLostStore } from './lost-store.js';

/*
 * From what was typed to one snapshot.
 */

/** A snapshot's ref together with what its message says. */
export interface KnownSnapshot {
  readonly ref: SnapshotRef;
  readonly record: SnapshotRecord;
}

/** False where nothing is left of a snapshot but its ref, or a ruin of it. */
export function isThere({ tree }: SnapshotRef): boolean {
  return tree !== zeroObjectId;
}

/**
 * Whether it came from another store, and may be somebody else's.
 * @param fetched as the registry has it
 */
export function isFetched(
  { seq, commit }: Pick<SnapshotRef, 'seq' | 'commit'>,
  fetched: ReadonlyMap<Seq, ObjectId>,
): boolean {
  return fetched.get(seq) === commit;
}

/** @throws SnapError FORMAT_UNKNOWN, STORE_DAMAGED */
export function know(ref: SnapshotRef): KnownSnapshot {
  if (!isThere(ref)) throw lost(ref);
  const { format, decode } = openMessage(ref.message);
  if (format !== undefined && format !== formatVersion) throw unknownFormat(ref.ref, format);
  const record = decode();
  if (record.instance === ref.instance && record.seq === ref.seq) return { ref, record };
  throw new SnapError('STORE_DAMAGED', `${ref.ref} holds another snapshot: ${record.instance}/${String(record.seq)}.`, {
    problem: 'a ref holds another snapshot',
  });
}

function lost({ ref, commit }: SnapshotRef): SnapError {
  const problem =
    commit === zeroObjectId ? `${ref} is no ref that git can read` : `the commit of ${ref} cannot be read`;
  return new SnapError('STORE_DAMAGED', `A snapshot is damaged: ${problem}.`, { problem });
}

/** Undefined where `know` would fail: such a snapshot is listed as unreadable and otherwise left alone. */
export function knowIfReadable(ref: SnapshotRef): KnownSnapshot | undefined {
  try {
    return know(ref);
  } catch (error) {
    if (isSnapError(error, 'FORMAT_UNKNOWN') || isSnapError(error, 'STORE_DAMAGED')) return undefined;
    throw error;
  }
}

export function pointerTo({ ref, record }: KnownSnapshot): SnapshotPointer {
  return { instance: ref.instance, seq: ref.seq, id: record.id, ref: ref.ref };
}

/** The snapshot as results carry it. `numbers` are those that exist, ascending. */
export function describe({ ref, record }: KnownSnapshot, numbers: readonly Seq[]): Snapshot {
  return {
    instance: ref.instance,
    seq: ref.seq,
    id: record.id,
    ref: ref.ref,
    commit: ref.commit,
    tree: ref.tree,
    trigger: record.trigger,
    message: record.message,
    createdAt: record.createdAt.toISOString(),
    parentSeq: numberBefore(numbers, ref.seq),
  };
}

/** The last of ascending numbers that is less. */
function numberBefore(numbers: readonly Seq[], seq: Seq): Seq | null {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? seq) < seq) low = middle + 1;
    else high = middle;
  }
  return numbers[low - 1] ?? null;
}

/** As a list has it. Without spreading another object into it: there may be ten thousand, and that takes longer. */
export function describeListed(
  { ref, record }: KnownSnapshot,
  numbers: readonly Seq[],
  marks: { readonly pinned: ReadonlySet<string>; readonly broken: ReadonlySet<ObjectId> },
): ListedSnapshot {
  return {
    instance: ref.instance,
    seq: ref.seq,
    id: record.id,
    ref: ref.ref,
    commit: ref.commit,
    tree: ref.tree,
    trigger: record.trigger,
    message: record.message,
    createdAt: record.createdAt.toISOString(),
    parentSeq: numberBefore(numbers, ref.seq),
    files: record.files,
    sizeBytes: record.sizeBytes,
    pinned: marks.pinned.size > 0 && marks.pinned.has(`${ref.instance}/${String(ref.seq)}`),
    recoveryOf: record.recoveryOf,
    restorable: !marks.broken.has(ref.commit),
  };
}

/** The pinned snapshots as `<instance>/<seq>`. A pin that is damaged still pins. */
export function pinned(context: Context): Set<string> {
  const prefix = 'refs/jackin-pin/';
  return new Set(context.store.refNames(prefix).map((name) => name.slice(prefix.length)));
}

/** What a new snapshot comes after. */
export interface Earlier {
  /** The numbers of all that exist, ascending. */
  readonly numbers: readonly Seq[];
  /** The last one that is there. */
  readonly last: SnapshotRef | null;
}

/** The number of a damaged snapshot that comes after all that are there is noted as used. */
export async function earlierSnapshots(context: Context, instance: InstanceName): Promise<Earlier> {
  const numbers = context.store.snapshotNumbers(instance);
  const newest = numbers.at(-1);
  if (newest === undefined) return { numbers, last: null };
  const last = await context.store.snapshot(instance, newest);
  if (last !== undefined && isThere(last)) return { numbers, last };
  raiseLastSeq(context.registry, instance, newest);
  return { numbers, last: (await context.store.snapshots(instance)).filter(isThere).at(-1) ?? null };
}

export interface Resolved {
  readonly ref: SnapshotRef;
  /** All snapshot refs of its instance, ascending. */
  readonly siblings: readonly SnapshotRef[];
}

/**
 * The snapshot that a selector names: `<seq>`, `latest`, `first`, `latest~N`, a ULID or its prefix, a full ref, a
 * commit id or its prefix, `NAME/<seq>`.
 * @throws SnapError SNAPSHOT_NOT_FOUND, SNAPSHOT_AMBIGUOUS, INSTANCE_NOT_FOUND, STORE_DAMAGED where the store is gone
 */
export async function resolveSnapshot(
  context: Context,
  selector: string,
  chooseInstance: () => InstanceName,
): Promise<Resolved> {
  const [instance, own] = placeOf(selector, chooseInstance);
  refuseLostStore(context);
  const siblings = context.store.exists() ? await context.store.snapshots(instance) : [];
  const ref = select(own, siblings);
  if (ref !== undefined) return { ref, siblings };
  if (siblings.length === 0 && context.registry.find(instance) === undefined)
    throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
  throw new SnapError('SNAPSHOT_NOT_FOUND', `No snapshot of ${instance} is ${JSON.stringify(displayPath(selector))}.`, {
    selector,
    instance,
  });
}

/** The same for whoever needs that one alone: where the selector tells its number, no other is read. */
export async function findSnapshot(
  context: Context,
  selector: string,
  chooseInstance: () => InstanceName,
): Promise<SnapshotRef> {
  const [instance, own] = placeOf(selector, chooseInstance);
  const seq = toSeq(own) ?? counted(own, () => context.store.snapshotNumbers(instance));
  const found = seq === undefined ? undefined : await context.store.snapshot(instance, seq);
  return found ?? (await resolveSnapshot(context, selector, () => instance)).ref;
}

/** The instance, and what names the snapshot in it. */
function placeOf(selector: string, chooseInstance: () => InstanceName): readonly [instance: InstanceName, own: string] {
  const [, instance, seq] = /^(?:refs\/jackin\/)?([^/]+)\/([1-9][0-9]*)$/.exec(selector) ?? [];
  if (instance === undefined || seq === undefined) return [chooseInstance(), selector];
  return [parseInstanceName(instance), seq];
}

/** What is counted off from one end; undefined for selectors of another kind. */
function counted<Each>(selector: string, ascending: () => readonly Each[]): Each | undefined {
  if (selector === 'first') return ascending()[0];
  const back = selector === 'latest' ? '0' : /^latest~(\d{1,9})$/.exec(selector)?.[1];
  return back === undefined ? undefined : ascending().at(-1 - Number(back));
}

function select(selector: string, siblings: readonly SnapshotRef[]): SnapshotRef | undefined {
  const fromOneEnd = counted(selector, () => siblings);
  if (fromOneEnd !== undefined) return fromOneEnd;
  const seq = toSeq(selector);
  const numbered = seq === undefined ? undefined : siblings.find((ref) => ref.seq === seq);
  return numbered ?? byIdPrefix(selector, siblings);
}

/**
 * For whoever resolved a snapshot before it had the lock.
 * @throws SnapError SNAPSHOT_NOT_FOUND when the snapshot was removed meanwhile
 */
export async function refuseRemoved(context: Context, { instance, ref, commit }: SnapshotRef): Promise<void> {
  const [present] = await context.store.refs(ref);
  if (present?.oid === commit) return;
  throw new SnapError('SNAPSHOT_NOT_FOUND', `Snapshot ${ref} was removed just now.`, { selector: ref, instance });
}

/** The fewest characters of an id that are taken for one, as git does it: a mistyped number must not name a snapshot. */
const shortestPrefix = 4;

function byIdPrefix(selector: string, siblings: readonly SnapshotRef[]): SnapshotRef | undefined {
  const upper = selector.toUpperCase();
  if (selector.length < shortestPrefix) return undefined;
  const isUlidPrefix = isSnapshotId(upper.padEnd(26, '0'));
  const isCommitPrefix = /^[0-9a-f]{4,40}$/i.test(selector);
  const matching = siblings.filter((ref) => {
    if (isCommitPrefix && ref.commit.startsWith(selector.toLowerCase())) return true;
    return isUlidPrefix && knowIfReadable(ref)?.record.id.startsWith(upper) === true;
  });
  if (matching.length < 2) return matching[0];
  throw new SnapError(
    'SNAPSHOT_AMBIGUOUS',
    `${JSON.stringify(selector)} is the beginning of ${String(matching.length)} snapshots' ids.`,
    { selector },
  );
}
