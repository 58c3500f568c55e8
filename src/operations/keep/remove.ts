import type { InstanceName, ObjectId } from '../../core/ids.js';
import type { ObjectReader, ObjectWriter, RefChange, SnapshotRef } from '../../core/ports.js';
import { formatVersion, openMessage, pinRefName, replaceRefName, withParent } from '../../core/snapshot-record.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readPending } from '../restore/pending.js';
import { isThere } from '../snapshots.js';

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
  if (gone.size > 0 && last.seq > (context.registry.lastSeq(instance) ?? 0))
    context.registry.recordLastSeq(instance, last.seq);
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

/**
 * Gives refs to new snapshots of an instance, whose objects are there, each only if absent, and in the same transaction
 * their place in the history: grafts of their own, and those that follow them point to them.
 * @param all those that have refs and the new ones, ascending
 */
export async function addSnapshots(
  context: Context,
  all: readonly SnapshotRef[],
  added: readonly SnapshotRef[],
): Promise<void> {
  const grafts = new Map((await context.store.refs('refs/replace/')).map(({ name, oid }) => [name, oid]));
  const writer = context.store.newWriter();
  const reader = context.store.reader();
  try {
    const changes = [
      ...added.map(({ ref, commit }) => ({ name: ref, old: null, new: commit })),
      ...(await newGrafts({ reader, writer, mends: 'all' }, all, new Set(), grafts)),
    ];
    await writer.publish();
    context.interruption.check();
    await context.store.changeRefs(changes);
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

interface Grafting {
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly mends: 'all' | 'only what follows';
}

/** Every kept snapshot follows the last kept one before it that is not damaged. */
async function newGrafts(
  { reader, writer, mends }: Grafting,
  all: readonly SnapshotRef[],
  gone: ReadonlySet<SnapshotRef>,
  grafts: ReadonlyMap<string, ObjectId>,
): Promise<RefChange[]> {
  const changes: RefChange[] = [];
  let kept: SnapshotRef | undefined;
  let follows = false;
  for (const ref of all) {
    if (gone.has(ref)) follows = true;
    if (gone.has(ref) || !isThere(ref) || isAnother(ref)) continue;
    if (mends === 'all' || follows)
      changes.push(...(await graftAnew(reader, writer, ref, kept, grafts.get(replaceRefName(ref.commit)))));
    kept = ref;
    follows = false;
  }
  return changes;
}

/** True for a ref that by now holds another snapshot: that has its place in the history already. */
function isAnother(ref: SnapshotRef): boolean {
  const { format, decode } = openMessage(ref.message);
  if (format !== formatVersion) return false;
  try {
    const { instance, seq } = decode();
    return instance !== ref.instance || seq !== ref.seq;
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return false;
    throw error;
  }
}

/** Made of the commit's own bytes: it may be in a format that this version does not know. */
async function graftAnew(
  reader: ObjectReader,
  writer: ObjectWriter,
  ref: SnapshotRef,
  parent: SnapshotRef | undefined,
  old: ObjectId | undefined,
): Promise<RefChange[]> {
  const name = replaceRefName(ref.commit);
  const commit = parent === undefined ? undefined : await reader.find(ref.commit, 'commit');
  if (parent === undefined || commit === undefined) return old === undefined ? [] : [{ name, old, new: null }];
  const graft = writer.writeCommit(withParent(commit.content, parent.commit));
  return graft === old ? [] : [{ name, old: old ?? null, new: graft }];
}

/** The snapshots that a pending restore of the instance cannot do without. */
export function neededByPending(context: Context, instance: InstanceName): ReadonlySet<string> {
  const pending = readPending(context, instance);
  return new Set(pending === undefined ? [] : [pending.begin.emergency.ref, pending.begin.snapshot.ref]);
}
