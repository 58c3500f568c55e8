import { type InstanceName, type ObjectId, zeroObjectId } from '../../core/ids.js';
import type { FoundCommit } from '../../core/lost-refs.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { DoctorFinding } from '../../core/results.js';
import { pinRefName, replaceRefName } from '../../core/snapshot-record.js';
import type { Context } from '../context.js';
import { removeSnapshots } from '../keep/remove.js';
import { lockForRemoval } from '../locking.js';
import { isThere, knowIfReadable } from '../snapshots.js';
import { sweepDrills } from './drill-folder.js';
import { lostPinned } from './lost-pinned.js';
import { mendContent } from './mend-content.js';
import { mendPackedRefs } from './mend-packed-refs.js';

/*
 * Mends what follows from what is there. Nothing is taken away that a snapshot needs: refs that git cannot read get
 * back the value that the store proves, leftovers of killed processes and damaged caches go.
 */

/** @throws SnapError BUSY when others do not leave the store in time */
export async function mend(context: Context): Promise<DoctorFinding[]> {
  const { store, statCaches } = context;
  const missing = store.missingParts();
  if (!store.exists() && missing.length === 0) return [];
  await store.prepare();
  const fixed = missing.map((name) => `${name === '' ? 'The store' : name} was missing or not as it is to be.`);
  fixed.push(...(await sweepDrills(context)).map((folder) => `What a killed drill had left in ${folder} is removed.`));
  const lock = await context.locks.storeExclusive();
  try {
    if (store.hasLeftovers()) {
      await store.sweep();
      fixed.push('What killed processes had left is removed.');
    }
    fixed.push(...(await mendPackedRefs(context)));
    const caches = statCaches.removeDamaged();
    if (caches > 0) fixed.push(`Damaged stat caches are removed: ${String(caches)}. The next save reads all files.`);
  } finally {
    lock.release();
  }
  fixed.push(...(await mendRefs(context)));
  fixed.push(...(await mendContent(context)));
  return fixed.map((what) => ({ level: 'fixed', what, hint: null }));
}

async function mendRefs(context: Context): Promise<string[]> {
  const refs = await context.store.snapshots(null);
  const lost = (await lostPinned(context)).map(({ ref }) => ref);
  const commits = refs.every(isThere) && lost.length === 0 ? [] : await context.store.findCommits();
  const fixed: string[] = [];
  for (const instance of new Set([...refs, ...lost].map((ref) => ref.instance)))
    fixed.push(...(await mendInstance(context, instance, commits)));
  return fixed;
}

/** Snapshots first, then what names them, then the history that leads through them. */
async function mendInstance(
  context: Context,
  instance: InstanceName,
  commits: readonly FoundCommit[],
): Promise<string[]> {
  const locks = await lockForRemoval(context, instance);
  try {
    return [
      ...(await mendLostPinned(context, instance, commits)),
      ...(await mendSnapshots(context, instance, commits)),
      ...(await mendPins(context, instance)),
      ...(await mendHistory(context, instance)),
    ];
  } finally {
    locks.release();
  }
}

/** A pin that still names something names the snapshot; else the one commit is taken that says it is this one. */
async function mendLostPinned(
  context: Context,
  instance: InstanceName,
  commits: readonly FoundCommit[],
): Promise<string[]> {
  const fixed: string[] = [];
  for (const { pin, ref } of await lostPinned(context, instance)) {
    const isNamed = ref.commit !== zeroObjectId;
    const commit = await snapshotOf(
      context,
      ref,
      isNamed ? commits.filter((one) => one.commit === ref.commit) : commits,
    );
    if (commit === undefined) continue;
    context.store.putRefFile(ref.ref, commit);
    fixed.push(`${ref.ref} was gone, and ${pin} proves that it was there: it names its snapshot again (${commit}).`);
  }
  return fixed;
}

async function mendSnapshots(
  context: Context,
  instance: InstanceName,
  commits: readonly FoundCommit[],
): Promise<string[]> {
  const fixed: string[] = [];
  for (const ref of (await context.store.snapshots(instance)).filter((one) => !isThere(one))) {
    const commit = await snapshotOf(context, ref, commits);
    if (commit === undefined) continue;
    if (ref.commit !== zeroObjectId && !(await isInHistory(context, ref, commit))) continue;
    context.store.putRefFile(ref.ref, commit);
    fixed.push(`${ref.ref} names its snapshot again (${commit}).`);
  }
  return fixed;
}

/**
 * A ref that names a lost commit says what the snapshot was. A save that was killed may have left a commit that says it
 * is the same one; only the published one has a link in the history, or is named by a later snapshot.
 */
async function isInHistory({ store }: Context, { instance }: SnapshotRef, commit: ObjectId): Promise<boolean> {
  if (store.refNames('refs/replace/').includes(replaceRefName(commit))) return true;
  return (await store.snapshots(instance)).some((ref) => knowIfReadable(ref)?.record.previous === commit);
}

/** A pin holds by its name; its value is for git, which must be able to read it. */
async function mendPins({ store }: Context, instance: InstanceName): Promise<string[]> {
  const prefix = `refs/jackin-pin/${instance}/`;
  const values = new Map((await store.refs(prefix)).map(({ name, oid }) => [name, oid]));
  const names = new Set(store.refNames(prefix));
  const wrong = (await store.snapshots(instance)).filter((ref) => {
    const pin = pinRefName(instance, ref.seq);
    return knowIfReadable(ref) !== undefined && names.has(pin) && values.get(pin) !== ref.commit;
  });
  return wrong.map(({ seq, commit }) => {
    store.putRefFile(pinRefName(instance, seq), commit);
    return `${pinRefName(instance, seq)} pins its snapshot again.`;
  });
}

async function mendHistory(context: Context, instance: InstanceName): Promise<string[]> {
  const { store } = context;
  for (const name of await store.unreadableRefs('refs/replace/')) store.putRefFile(name, null);
  const before = await grafts(context);
  await removeSnapshots(context, instance, await store.snapshots(instance), new Set());
  const after = await grafts(context);
  const made = [...after].filter(([name, oid]) => before.get(name) !== oid).length;
  return made === 0 ? [] : [`The history of ${instance} had wrong or missing links (${String(made)}).`];
}

async function grafts({ store }: Context): Promise<ReadonlyMap<string, ObjectId>> {
  return new Map((await store.refs('refs/replace/')).map(({ name, oid }) => [name, oid]));
}

/** The one commit that says it is this very snapshot, if all that it needs is there. */
async function snapshotOf(
  { store }: Context,
  ref: SnapshotRef,
  commits: readonly FoundCommit[],
): Promise<ObjectId | undefined> {
  const named = commits.filter(
    ({ hasParent, ...commit }) => !hasParent && knowIfReadable({ ...ref, ...commit }) !== undefined,
  );
  const [only] = named;
  if (only === undefined || named.length > 1) return undefined;
  // A later snapshot that came right after this one says which commit it was.
  const next = (await store.snapshots(ref.instance)).find(({ seq }) => seq === ref.seq + 1);
  const previous = next === undefined ? undefined : knowIfReadable(next)?.record.previous;
  if (previous !== undefined && previous !== null && previous !== only.commit) return undefined;
  return (await store.brokenSnapshots([only.commit])).size === 0 ? only.commit : undefined;
}
