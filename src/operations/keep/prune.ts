import type { InstanceName } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { JackinSnap } from '../../core/requests.js';
import type { RemovalResult, SnapshotPointer } from '../../core/results.js';
import { SnapError, afterDone, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForRemoval } from '../locking.js';
import { refusePending, readPending } from '../restore/pending.js';
import { chooseInstance } from '../session/choose-instance.js';
import { know, knowIfReadable, pinned, pointerTo, resolveSnapshot } from '../snapshots.js';
import { type OverCeiling, overCeiling, underCeiling } from './ceiling.js';
import { chosenByPolicy } from './chosen-by-policy.js';
import { collectGarbage, freedBy } from './collect-garbage.js';
import { neededByPending, removeSnapshots } from './remove.js';

/** Removes what the instance's policy no longer keeps, then frees the space. */
export async function prune(context: Context, request: Parameters<JackinSnap['prune']>[0]): Promise<RemovalResult> {
  const instance = chooseInstance(context);
  refuseUnknown(context, instance, context.store.exists() ? await context.store.snapshots(instance) : []);
  const choose: Choose = (all) => chosenByPolicy(context, instance, all);
  return removing(context, { instance, choose, ceiling: true }, request);
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
  const choose: Choose = (all) => {
    const needed = neededByPending(context, instance);
    const chosen = all.filter(({ seq }) => seqs.has(seq));
    // One that this version cannot read is not its to remove.
    for (const ref of chosen) know(ref);
    const pending = readPending(context, instance);
    if (pending !== undefined && chosen.some(({ ref }) => needed.has(ref))) refusePending(instance, pending);
    refusePinned(chosen, pinned(context));
    return chosen;
  };
  return removing(context, { instance, choose, ceiling: false }, request);
}

/** @throws SnapError SNAPSHOT_PINNED: a pin is there to keep a snapshot from going by mistake */
function refusePinned(chosen: readonly SnapshotRef[], pins: ReadonlySet<string>): void {
  const first = chosen.find(({ instance, seq }) => pins.has(`${instance}/${String(seq)}`));
  if (first === undefined) return;
  const snapshot = `${first.instance}/${String(first.seq)}`;
  throw new SnapError('SNAPSHOT_PINNED', `Snapshot ${snapshot} is pinned: nothing was removed.`, { snapshot });
}

type Choose = (all: readonly SnapshotRef[]) => readonly SnapshotRef[] | Promise<readonly SnapshotRef[]>;

interface Removal {
  readonly instance: InstanceName;
  readonly choose: Choose;
  /** Whether the instance's ceiling may take more. */
  readonly ceiling: boolean;
}

async function removing(
  context: Context,
  removal: Removal,
  request: { readonly dryRun?: boolean; readonly confirm: (what: readonly SnapshotPointer[]) => Promise<boolean> },
): Promise<RemovalResult> {
  const { instance } = removal;
  const { all, gone, over } = await preview(context, removal);
  const removed = pointers(gone);
  const answer = { instance, dryRun: request.dryRun ?? false, freedBytes: 0, messages: over.messages };
  const shown = { ...answer, removed, kept: pointers(without(all, gone)) };
  if (request.dryRun === true || (removed.length === 0 && !over.isOver)) return shown;
  if (removed.length > 0 && !(await request.confirm(removed)))
    throw new SnapError('DECLINED', 'Declined: nothing was removed.', { what: 'remove' });
  // No more than was shown and confirmed, whatever came meanwhile.
  const may = ({ seq }: SnapshotRef): boolean => gone.some((ref) => ref.seq === seq);
  const steps = new Steps(context, instance);
  await steps.remove(async (refs) => (await removal.choose(refs)).filter(may));
  const { unmet, left } = await steps.afterRemoval(async () => {
    await steps.free();
    const unmet = removal.ceiling ? await meetCeiling(context, steps, may) : [];
    return { unmet, left: await context.store.snapshots(instance) };
  });
  const messages = [...unmet, ...steps.messages];
  return { ...answer, removed: pointers(steps.gone), kept: pointers(left), freedBytes: steps.freedBytes, messages };
}

/** What would go: an estimate where a ceiling is concerned, since what is packed anew may take less. */
async function preview(
  context: Context,
  { instance, choose, ceiling }: Removal,
): Promise<{ all: readonly SnapshotRef[]; gone: readonly SnapshotRef[]; over: OverCeiling }> {
  const all = await context.store.snapshots(instance);
  const chosen = new Set(await choose(all));
  const over = ceiling ? await overCeiling(context, instance, { all, gone: chosen }) : underCeiling;
  const gone = new Set([...chosen, ...over.gone]);
  return { all, gone: all.filter((ref) => gone.has(ref)), over };
}

/**
 * What is kept was packed anew, so that its size is known. Where more has to go, and less came of it than was reckoned,
 * twice as many go the next time: it ends soon, however that goes on.
 */
async function meetCeiling(
  context: Context,
  steps: Steps,
  may: (ref: SnapshotRef) => boolean,
): Promise<readonly string[]> {
  let over = underCeiling;
  for (let atLeast = 1; ; atLeast *= 2) {
    const going = await steps.remove(async (all) => {
      over = await overCeiling(context, steps.instance, { all, gone: new Set(), may, atLeast });
      return over.gone;
    });
    if (going === 0) return over.messages;
    await steps.free();
  }
}

/** Removals and the freeing of their space, one after the other, and what came of all. */
class Steps {
  readonly instance: InstanceName;
  readonly gone: SnapshotRef[] = [];
  messages: readonly string[] = [];
  readonly #context: Context;
  #freed = 0;

  constructor(context: Context, instance: InstanceName) {
    this.#context = context;
    this.instance = instance;
  }

  get freedBytes(): number {
    return Math.max(0, this.#freed);
  }

  /** With the instance and the store for itself: refs only, a matter of moments. */
  async remove(choose: Choose): Promise<number> {
    const { store } = this.#context;
    let count = 0;
    this.#freed += await freedBy(this.#context, await lockForRemoval(this.#context, this.instance), async () => {
      const all = await store.snapshots(this.instance);
      const gone = new Set(await choose(all));
      if (gone.size > 0) await removeSnapshots(this.#context, this.instance, all, gone);
      this.gone.push(...gone);
      count = gone.size;
    });
    return count;
  }

  /** Where somebody else is at it, the refs are gone nevertheless, and the space is freed later. */
  async free(): Promise<void> {
    try {
      const { freedBytes, messages } = await collectGarbage(this.#context);
      this.#freed += freedBytes;
      this.messages = messages;
    } catch (error) {
      if (!isSnapError(error, 'BUSY')) throw error;
      this.messages = ['The space was not freed, since others are in the store: "gc" does it later.'];
    }
  }

  /** What fails after a removal says what is gone. */
  async afterRemoval<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      if (this.gone.length === 0) throw error;
      const named = this.gone.slice(0, 20).map(({ seq }) => String(seq));
      const more = this.gone.length > 20 ? ` and ${String(this.gone.length - 20)} more` : '';
      throw afterDone(error, `Removed from ${this.instance}: ${named.join(', ')}${more}.`);
    }
  }
}

function pointers(refs: readonly SnapshotRef[]): SnapshotPointer[] {
  return refs.flatMap((ref) => {
    const known = knowIfReadable(ref);
    return known === undefined ? [] : [pointerTo(known)];
  });
}

function without(all: readonly SnapshotRef[], gone: readonly SnapshotRef[]): SnapshotRef[] {
  return all.filter((ref) => !gone.includes(ref));
}

function refuseUnknown(context: Context, instance: InstanceName, refs: readonly SnapshotRef[]): void {
  if (refs.length > 0 || context.registry.find(instance) !== undefined) return;
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
}
