import type { InstanceName, ObjectId, SnapshotId } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { ListRequest } from '../../core/requests.js';
import type { ListResult, ListedSnapshot } from '../../core/results.js';
import { openMessage } from '../../core/snapshot-record.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { refuseLostStore } from '../lost-store.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, describeListed, isThere, knowIfReadable, pinned } from '../snapshots.js';

/** The snapshots of an instance, newest first. @throws SnapError INSTANCE_NOT_FOUND, STORE_DAMAGED */
export async function list(context: Context, request: ListRequest): Promise<ListResult> {
  const instance = chooseInstance(context);
  const { trigger, since, limit = Infinity } = request;
  const isFiltered = trigger !== undefined || since !== undefined;
  refuseLostStore(context);
  const refs = await existingSnapshots(context, instance, isFiltered ? Infinity : Math.max(1, limit));
  if (refs.length === 0) return { instance, snapshots: [], messages: [] };
  const lock = await lockForReading(context);
  try {
    const marks = { pinned: pinned(context), broken: await context.store.brokenSnapshots(refs.map(commitOf)) };
    const numbers = limit === Infinity ? refs.map(({ seq }) => seq) : context.store.snapshotNumbers(instance);
    const snapshots: ListedSnapshot[] = [];
    const odd: SnapshotRef[] = [];
    for (const ref of refs) {
      const known = knowIfReadable(ref);
      if (known === undefined) odd.push(ref);
      if (!isWanted(known, request)) continue;
      snapshots.push(known === undefined ? unreadable(ref) : describeListed(known, numbers, marks));
    }
    snapshots.reverse();
    return { instance, snapshots: snapshots.slice(0, limit), messages: unreadableMessages(odd) };
  } finally {
    lock.release();
  }
}

/** @param newest only so many, where that is enough */
async function existingSnapshots(context: Context, instance: InstanceName, newest: number): Promise<SnapshotRef[]> {
  const refs = context.store.exists() ? await context.store.snapshots(instance, newest) : [];
  if (refs.length > 0 || context.registry.find(instance) !== undefined) return refs;
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
}

function commitOf({ commit }: SnapshotRef): ObjectId {
  return commit;
}

/** Listed so that nobody thinks that it is gone; never restored, pruned or half-read. */
function unreadable(ref: SnapshotRef): ListedSnapshot {
  return {
    instance: ref.instance,
    seq: ref.seq,
    id: '0'.repeat(26) as SnapshotId,
    ref: ref.ref,
    commit: ref.commit,
    tree: ref.tree,
    trigger: 'manual',
    message: isThere(ref) ? `(unreadable: format ${openMessage(ref.message).format ?? 'unknown'})` : '(damaged)',
    createdAt: new Date(0).toISOString(),
    parentSeq: null,
    files: 0,
    sizeBytes: 0,
    pinned: false,
    recoveryOf: null,
    restorable: false,
  };
}

/** Of one that cannot be read neither trigger nor time is known: it matches no filter, and is named all the same. */
function isWanted(known: KnownSnapshot | undefined, { trigger, since }: ListRequest): boolean {
  if (known === undefined) return trigger === undefined && since === undefined;
  if (trigger !== undefined && known.record.trigger !== trigger) return false;
  return since === undefined || known.record.createdAt.getTime() >= since.getTime();
}

function unreadableMessages(odd: readonly SnapshotRef[]): string[] {
  return odd.map((ref) => {
    const why = isThere(ref) ? 'cannot be read by this version' : 'is damaged: see "verify"';
    return `Snapshot ${ref.instance}/${String(ref.seq)} ${why}.`;
  });
}
