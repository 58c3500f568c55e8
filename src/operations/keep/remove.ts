import type { InstanceName, ObjectId } from '../../core/ids.js';
import type { RefChange, SnapshotRef } from '../../core/ports.js';
import { pinRefName, replaceRefName } from '../../core/snapshot-record.js';
import type { Context } from '../context.js';
import { raiseLastSeq } from '../last-seq.js';
import { newGrafts } from '../history.js';
import { readPending } from '../restore/pending.js';

/**
 * Removes snapshots' refs in one transaction: refs, pins and grafts go, the grafts of those that follow are pointed
 * anew, and the highest number that was used is written down first, so that it is never used again. A graft that is
 * missing or points past a neighbour, since git was killed between two refs, is mended on the way; with nothing to
 * remove that is all that is done. A save has no time for that: it looks only at what follows the removed ones.
 */
export async function removeSnapshots(
  context: Context,
  instance: InstanceName,
  all: readonly SnapshotRef[],
  gone: ReadonlySet<SnapshotRef>,
  mends: 'all' | 'only what follows' = 'all',
): Promise<void> {
  const last = all.at(-1);
  if (last === undefined || (mends !== 'all' && gone.size === 0)) return;
  if (gone.size > 0) raiseLastSeq(context.registry, instance, last.seq);
  const grafts = new Map((await context.store.refs('refs/replace/')).map(({ name, oid }) => [name, oid]));
  const pins = await pinsOf(context, instance);
  const writer = context.store.newWriter();
  const reader = context.store.reader();
  try {
    const changes = [
      ...removals(gone, grafts, pins),
      ...(await newGrafts({ reader, writer, mends }, all, gone, grafts)),
    ];
    await writer.publish();
    if (changes.length > 0) await context.store.changeRefs(changes);
  } finally {
    await reader.close();
    await writer.abandon();
  }
}

async function pinsOf({ store }: Context, instance: InstanceName): Promise<Map<string, ObjectId>> {
  const prefix = `refs/jackin-pin/${instance}/`;
  const refs = store.refNames(prefix).length === 0 ? [] : await store.refs(prefix);
  return new Map(refs.map(({ name, oid }) => [name, oid]));
}

function removals(
  gone: ReadonlySet<SnapshotRef>,
  grafts: ReadonlyMap<string, ObjectId>,
  pins: ReadonlyMap<string, ObjectId>,
): RefChange[] {
  const removal = (name: string, old: ObjectId | undefined): RefChange[] =>
    old === undefined ? [] : [{ name, old, new: null }];
  return [...gone].flatMap(({ instance, seq, ref, commit }) => {
    const [pin, graft] = [pinRefName(instance, seq), replaceRefName(commit)];
    // The pin goes first: one without a snapshot is a snapshot that was lost, not one whose removal was killed.
    return [...removal(pin, pins.get(pin)), ...removal(ref, commit), ...removal(graft, grafts.get(graft))];
  });
}

/** The snapshots that a pending restore of the instance cannot do without. */
export function neededByPending(context: Context, instance: InstanceName): ReadonlySet<string> {
  const pending = readPending(context, instance);
  return new Set(pending === undefined ? [] : [pending.begin.emergency.ref, pending.begin.snapshot.ref]);
}
