import { isSnapError } from '../../errors.js';
import type { HeldLock } from '../../core/ports.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { collectWithLock, patience } from './collect-garbage.js';
import { noteHighestNumbers } from './note-numbers.js';

/** So many packs are put together. Finding an object among fewer costs next to nothing. */
const manyPacks = 50;

/** Below so many bytes nobody looks for garbage until there are many packs. */
const fewBytes = 64 * 1024 * 1024;

/**
 * True when there are many packs, and after that at every tenth more: where putting them together fails, saves go on
 * as before. Also when the objects have grown to a size at which garbage is to be looked for.
 */
export function isDue(context: Context): boolean {
  const packs = countPacks(context);
  if (packs === 0) return false;
  // A save adds one, or two where retention removes something.
  return (packs >= manyPacks && packs % 10 < 2) || isGrown(context);
}

function countPacks({ store }: Context): number {
  return store.exists() ? store.countPacks() : 0;
}

function isGrown({ store }: Context): boolean {
  return store.bytesOfObjects() >= (store.nextLook() ?? fewBytes);
}

/**
 * Frees what nothing reaches where that is much; else puts the packs of many saves together. Beside others who save and
 * read; they wait for the last moments of it at most. Nothing is done when there is nothing to it, when somebody else is
 * at it, or when others are too busy.
 */
export async function housekeep(context: Context): Promise<void> {
  if (!isWorthwhile(context)) return;
  await unlessBusy(
    () => context.locks.housekeeping(0),
    async () => {
      // Whoever had the lock may just have done it; and nothing may come back where a data directory was removed.
      if (!isWorthwhile(context)) return;
      try {
        if (await isMuchGarbage(context)) await collect(context);
        else if (countPacks(context) >= manyPacks) await putTogether(context);
      } finally {
        // Just where something is damaged, packs cannot be put together.
        await checkSome(context);
      }
    },
  );
}

/** Not `isDue`: saves have gone on since somebody found that it was. */
function isWorthwhile(context: Context): boolean {
  const packs = countPacks(context);
  return packs >= manyPacks || (packs > 0 && isGrown(context));
}

/**
 * Whether so much is garbage, and old enough to go, that freeing it is worth writing everything else anew: a third of
 * all, or a twentieth where the store takes more than some instance allows. Notes when to look again.
 */
async function isMuchGarbage(context: Context): Promise<boolean> {
  const { store, registry, now, graceSeconds } = context;
  const size = await store.sizeOnDisk();
  const isOver = registry.all().some(({ policy }) => size > (policy.max_store_bytes ?? Infinity));
  const needed = await bytesNeeded(context);
  if (needed === undefined) return false;
  const total = store.bytesOfObjects();
  const old = store.bytesOfObjects(now().getTime() - graceSeconds * 1000);
  const isMuch = old - needed > needed * (isOver ? 0.05 : 0.5);
  const isClean = isMuch || total <= needed * 1.5;
  // What is too young to go is looked at again before long, and not at every save.
  if (isOver) store.noteNextLook((isMuch ? needed : total) * 1.05);
  else store.noteNextLook(Math.max(fewBytes, isClean ? needed * 2 : total * 1.25));
  return isMuch;
}

/** Undefined where something is missing: nothing is freed then. */
async function bytesNeeded(context: Context): Promise<number | undefined> {
  const beside = await lockForReading(context);
  try {
    return await context.store.bytesReachable((await context.store.refs('refs/')).map(({ oid }) => oid));
  } catch (error) {
    if (isSnapError(error, 'GIT_FAILED')) return undefined;
    throw error;
  } finally {
    beside.release();
  }
}

async function collect(context: Context): Promise<void> {
  try {
    await collectWithLock(context);
  } catch (error) {
    if (!isSnapError(error, 'BUSY')) throw error;
  }
}

async function putTogether(context: Context): Promise<void> {
  const gathered = await gather(context);
  await unlessBusy(
    () => context.locks.storeExclusive(patience),
    async () => {
      if (gathered !== undefined) await context.store.removeGathered(gathered);
      noteHighestNumbers(context);
      await context.store.packRefs();
    },
  );
}

async function gather(context: Context): ReturnType<Context['store']['gatherPacks']> {
  const beside = await lockForReading(context);
  try {
    return await context.store.gatherPacks();
  } finally {
    beside.release();
  }
}

/** So long somebody who wants the store for itself may have to wait for it. */
const checkedForMs = 2000;

/**
 * Reads some of what the store has, going on where the last check ended: a save does not read again what is there, and
 * would build on what is damaged. What is found is noted, and the next save says so.
 */
async function checkSome(context: Context): Promise<void> {
  const end = context.now().getTime() + checkedForMs;
  const isOver = (): boolean => context.interruption.raised || context.now().getTime() >= end;
  await unlessBusy(
    () => lockForReading(context),
    async () => {
      try {
        await context.store.checkContent({ percent: 100, isOver }, () => undefined);
      } catch (error) {
        // Where git cannot even list what there is, the next command finds that out.
        if (!isSnapError(error, 'GIT_FAILED')) throw error;
      }
    },
  );
}

async function unlessBusy(lock: () => Promise<HeldLock>, act: () => Promise<void>): Promise<void> {
  let held: HeldLock;
  try {
    held = await lock();
  } catch (error) {
    if (isSnapError(error, 'BUSY')) return;
    throw error;
  }
  try {
    await act();
  } finally {
    held.release();
  }
}
