import type { InstanceName, ObjectId } from '../../core/ids.js';
import type { ObjectWriter, RefChange, SnapshotRef } from '../../core/ports.js';
import { encodeCommit, decodeMessage, pinRefName, replaceRefName } from '../../core/snapshot-record.js';
import type { Context } from '../context.js';
import { readPending } from '../restore/pending.js';

/**
 * Removes snapshots' refs in one transaction: refs, pins and grafts go, the grafts of those that follow are pointed
 * anew, and the highest number that was used is written down first, so that it is never used again.
 */
export async function removeSnapshots(
  context: Context,
  instance: InstanceName,
  all: readonly SnapshotRef[],
  gone: ReadonlySet<SnapshotRef>,
): Promise<void> {
  const last = all.at(-1);
  if (last === undefined || gone.size === 0) return;
  if (last.seq > (context.registry.lastSeq(instance) ?? 0)) context.registry.recordLastSeq(instance, last.seq);
  const grafts = new Map((await context.store.refs('refs/replace/')).map(({ name, oid }) => [name, oid]));
  const pins = new Map((await context.store.refs(`refs/jackin-pin/${instance}/`)).map(({ name, oid }) => [name, oid]));
  const writer = context.store.newWriter();
  try {
    const changes = [...removals(gone, grafts, pins), ...newGrafts(writer, all, gone, grafts)];
    await writer.publish();
    await context.store.changeRefs(changes);
  } finally {
    await writer.abandon();
  }
}

function removals(
  gone: ReadonlySet<SnapshotRef>,
  grafts: ReadonlyMap<string, ObjectId>,
  pins: ReadonlyMap<string, ObjectId>,
): RefChange[] {
  return [...gone].flatMap(({ instance, seq, ref, commit }) => {
    const pin = pinRefName(instance, seq);
    const others: [string, ObjectId | undefined][] = [
      [replaceRefName(commit), grafts.get(replaceRefName(commit))],
      [pin, pins.get(pin)],
    ];
    return [
      { name: ref, old: commit, new: null },
      ...others.flatMap(([name, oid]) => (oid === undefined ? [] : [{ name, old: oid, new: null }])),
    ];
  });
}

/** A kept snapshot that stood behind a removed one now follows the last kept one before it. */
function newGrafts(
  writer: ObjectWriter,
  all: readonly SnapshotRef[],
  gone: ReadonlySet<SnapshotRef>,
  grafts: ReadonlyMap<string, ObjectId>,
): RefChange[] {
  const changes: RefChange[] = [];
  let kept: SnapshotRef | undefined;
  let broken = false;
  for (const ref of all) {
    if (gone.has(ref)) {
      broken = true;
      continue;
    }
    if (broken) changes.push(...graftAnew(writer, ref, kept, grafts.get(replaceRefName(ref.commit))));
    broken = false;
    kept = ref;
  }
  return changes;
}

function graftAnew(
  writer: ObjectWriter,
  ref: SnapshotRef,
  parent: SnapshotRef | undefined,
  old: ObjectId | undefined,
): RefChange[] {
  const name = replaceRefName(ref.commit);
  if (parent === undefined) return old === undefined ? [] : [{ name, old, new: null }];
  const { createdAt } = decodeMessage(ref.message);
  const graft = writer.writeCommit(
    encodeCommit({ tree: ref.tree, parent: parent.commit, createdAt, message: ref.message }),
  );
  return graft === old ? [] : [{ name, old: old ?? null, new: graft }];
}

/** The snapshots that a pending restore of the instance cannot do without. */
export function neededByPending(context: Context, instance: InstanceName): ReadonlySet<string> {
  const pending = readPending(context, instance);
  return new Set(pending === undefined ? [] : [pending.begin.emergency.ref, pending.begin.snapshot.ref]);
}
