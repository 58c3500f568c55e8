import type { InstanceName, Seq } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { defaultPolicy } from '../../core/policy.js';
import type { JackinSnap } from '../../core/requests.js';
import type { RemovalResult, SnapshotPointer } from '../../core/results.js';
import type { SnapshotRef } from '../../core/ports.js';
import { type Candidate, expired } from '../../core/retention.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForRemoval } from '../locking.js';
import { refusePending, readPending } from '../restore/pending.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, know, knowIfReadable, pinned, pointerTo, resolveSnapshot } from '../snapshots.js';
import { neededByPending, removeSnapshots } from './remove.js';

/** Removes what the instance's policy no longer keeps, then frees the space. */
export async function prune(context: Context, request: Parameters<JackinSnap['prune']>[0]): Promise<RemovalResult> {
  const instance = chooseInstance(context);
  refuseUnknown(context, instance, context.store.exists() ? await context.store.snapshots(instance) : []);
  return removing(context, instance, request, (all) => chosenByPolicy(context, instance, all));
}

/** Removes the named snapshots, then frees the space. Pinned ones have to be unpinned first. */
export async function deleteSnapshots(
  context: Context,
  request: Parameters<JackinSnap['delete']>[0],
): Promise<RemovalResult> {
  const refs = await Promise.all(
    request.snapshots.map((selector) => resolveSnapshot(context, selector, () => chooseInstance(context))),
  );
  const [first] = refs;
  if (first === undefined) throw new SnapError('USAGE', 'No snapshot was named.', { what: 'snapshots' });
  const { instance } = first.ref;
  if (refs.some(({ ref }) => ref.instance !== instance))
    throw new SnapError('USAGE', 'The snapshots belong to different instances.', { what: 'snapshots' });
  const seqs = new Set(refs.map(({ ref }) => ref.seq));
  return removing(context, instance, request, (all) => {
    const needed = neededByPending(context, instance);
    const chosen = all.filter(({ seq }) => seqs.has(seq));
    // One that this version cannot read is not its to remove.
    for (const ref of chosen) know(ref);
    const pending = readPending(context, instance);
    if (pending !== undefined && chosen.some(({ ref }) => needed.has(ref))) refusePending(instance, pending);
    refusePinned(chosen, pinned(context));
    return chosen;
  });
}

/** @throws SnapError SNAPSHOT_PINNED: a pin is there to keep a snapshot from going by mistake */
function refusePinned(chosen: readonly SnapshotRef[], pins: ReadonlySet<string>): void {
  const first = chosen.find(({ instance, seq }) => pins.has(`${instance}/${String(seq)}`));
  if (first === undefined) return;
  const snapshot = `${first.instance}/${String(first.seq)}`;
  throw new SnapError('SNAPSHOT_PINNED', `Snapshot ${snapshot} is pinned: nothing was removed.`, { snapshot });
}

type Choose = (all: readonly SnapshotRef[]) => readonly SnapshotRef[];

async function removing(
  context: Context,
  instance: InstanceName,
  request: { readonly dryRun?: boolean; readonly confirm: (what: readonly SnapshotPointer[]) => Promise<boolean> },
  choose: Choose,
): Promise<RemovalResult> {
  const preview = await split(context, instance, choose);
  const answer = {
    instance,
    dryRun: request.dryRun ?? false,
    removed: preview.removed,
    kept: preview.kept,
    freedBytes: 0,
    messages: [],
  };
  if (request.dryRun === true || preview.removed.length === 0) return answer;
  if (!(await request.confirm(preview.removed)))
    throw new SnapError('DECLINED', 'Declined: nothing was removed.', { what: 'remove' });
  const locks = await lockForRemoval(context, instance);
  try {
    const { gone, all, removed, kept } = await split(context, instance, (refs) =>
      // No more than was shown and confirmed, whatever came meanwhile.
      choose(refs).filter(({ seq }) => preview.gone.some((shown) => shown.seq === seq)),
    );
    const before = await context.store.sizeOnDisk();
    await removeSnapshots(context, instance, all, new Set(gone));
    await context.store.collectGarbage();
    const freedBytes = Math.max(0, before - (await context.store.sizeOnDisk()));
    return { ...answer, removed, kept, freedBytes };
  } finally {
    locks.release();
  }
}

async function split(context: Context, instance: InstanceName, choose: Choose) {
  const all = await context.store.snapshots(instance);
  const gone = choose(all);
  const pointer = (ref: SnapshotRef): SnapshotPointer[] => {
    const known = knowIfReadable(ref);
    return known === undefined ? [] : [pointerTo(known)];
  };
  return { all, gone, removed: gone.flatMap(pointer), kept: all.filter((ref) => !gone.includes(ref)).flatMap(pointer) };
}

function chosenByPolicy(context: Context, instance: InstanceName, all: readonly SnapshotRef[]): SnapshotRef[] {
  const policy = context.registry.find(instance)?.policy ?? defaultPolicy;
  const pins = pinned(context);
  const needed = neededByPending(context, instance);
  const readable = all.flatMap((ref) => {
    const known = knowIfReadable(ref);
    return known === undefined ? [] : [known];
  });
  const candidates = readable.map((known) => toCandidate(known, pins, needed));
  const gone = new Set(expired(candidates, policy).map(({ seq }) => seq));
  return all.filter(({ seq }) => gone.has(seq));
}

function toCandidate(
  { ref, record }: KnownSnapshot,
  pins: ReadonlySet<string>,
  needed: ReadonlySet<string>,
): Candidate {
  const name = `${ref.instance}/${String(ref.seq)}`;
  const { id, trigger, createdAt } = record;
  return { seq: ref.seq, id, trigger, createdAt, pinned: pins.has(name), needed: needed.has(ref.ref) };
}

function refuseUnknown(context: Context, instance: InstanceName, refs: readonly SnapshotRef[]): void {
  if (refs.length > 0 || context.registry.find(instance) !== undefined) return;
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
}

/**
 * Retention after a save: refs that the policy no longer keeps go at once; their space is freed by `gc` or `prune`.
 * The caller holds the instance's lock and the store's shared lock; the snapshot stands whatever comes of this.
 */
export async function pruneAfterSave(context: Context, record: InstanceRecord): Promise<string[]> {
  const { auto_prune: autoPrune, keep_last: keepLast, keep_emergency: keepEmergency } = record.policy;
  if (!autoPrune) return [];
  try {
    const numbers = context.store.snapshotNumbers(record.name);
    if (numbers.length <= Math.min(keepLast, keepEmergency + 1) || isPutOff(context, record.name, numbers)) return [];
    const all = await context.store.snapshots(record.name);
    const gone = chosenByPolicy(context, record.name, all);
    if (gone.length === 0) {
      if (numbers.length > manySnapshots) noteLook(context, record.name, numbers);
      return [];
    }
    await removeSnapshots(context, record.name, all, new Set(gone));
    return [`Retention removed snapshot ${gone.map(({ seq }) => String(seq)).join(', ')}; see instance set keep_last.`];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [`Old snapshots were not removed: ${error.message}`];
  }
}

/** Among so many snapshots, looking for old ones takes longer than a save: only a save after fifty more does. */
const manySnapshots = 1000;
const putOffFor = 50;

/** The last look left the number that was the highest then, whether it removed something or not. */
function isPutOff({ registry }: Context, instance: InstanceName, numbers: readonly Seq[]): boolean {
  if (numbers.length <= manySnapshots) return false;
  return (numbers.at(-1) ?? 0) - (registry.lastSeq(instance) ?? 0) < putOffFor;
}

function noteLook({ registry }: Context, instance: InstanceName, numbers: readonly Seq[]): void {
  const newest = numbers.at(-1);
  if (newest !== undefined && newest > (registry.lastSeq(instance) ?? 0)) registry.recordLastSeq(instance, newest);
}

/** Removes what nothing reaches, mends histories and puts packs together. Nothing that is kept goes. */
export async function gc(context: Context, request: { readonly dryRun?: boolean }): Promise<RemovalResult> {
  const answer = {
    instance: null,
    dryRun: request.dryRun ?? false,
    removed: [],
    kept: [],
    freedBytes: 0,
    messages: [],
  };
  if (request.dryRun === true || !context.store.exists()) return answer;
  const lock = await context.locks.storeExclusive();
  try {
    const before = await context.store.sizeOnDisk();
    await context.store.sweep();
    await mendHistories(context);
    await context.store.collectGarbage();
    return { ...answer, freedBytes: Math.max(0, before - (await context.store.sizeOnDisk())) };
  } finally {
    lock.release();
  }
}

async function mendHistories(context: Context): Promise<void> {
  const all = await context.store.snapshots(null);
  const instances = new Set(all.map(({ instance }) => instance));
  for (const name of instances) {
    const own = all.filter(({ instance }) => instance === name);
    await removeSnapshots(context, name, own, new Set());
  }
}
