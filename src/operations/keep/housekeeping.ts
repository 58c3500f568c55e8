import { isSnapError } from '../../errors.js';
import type { HeldLock } from '../../core/ports.js';
import type { Context } from '../context.js';

/** How long others who are in the store are waited for, in seconds. */
const patience = 60;

/** So many packs are put together. Finding an object among fewer costs next to nothing. */
const manyPacks = 50;

/**
 * True when there are many packs, and after that at every tenth more: where putting them together fails, saves go on
 * as before.
 */
export function isDue(context: Context): boolean {
  const packs = countPacks(context);
  return packs >= manyPacks && packs % 10 === 0;
}

function countPacks({ store }: Context): number {
  return store.exists() ? store.countPacks() : 0;
}

/**
 * Puts the packs of many saves together, beside others who save and read; they wait for the last moments of it at
 * most. Nothing is done when there are few, when somebody else is at it, or when others are too busy.
 */
export async function housekeep(context: Context): Promise<void> {
  // Not `isDue`: saves have gone on since somebody found that it was.
  if (countPacks(context) < manyPacks) return;
  const lock = await lockIfFree(() => context.locks.housekeeping(0));
  if (lock === undefined) return;
  try {
    // Whoever had the lock may just have done it; and nothing may come back where a data directory was removed.
    if (countPacks(context) < manyPacks) return;
    const gathered = await gather(context);
    const alone = await lockIfFree(() => context.locks.storeExclusive(patience));
    if (alone === undefined) return;
    try {
      if (gathered !== undefined) await context.store.removeGathered(gathered);
      await context.store.packRefs();
    } finally {
      alone.release();
    }
  } finally {
    lock.release();
  }
}

async function gather(context: Context): ReturnType<Context['store']['gatherPacks']> {
  const beside = await context.locks.storeShared();
  try {
    return await context.store.gatherPacks();
  } finally {
    beside.release();
  }
}

async function lockIfFree(lock: () => Promise<HeldLock>): Promise<HeldLock | undefined> {
  try {
    return await lock();
  } catch (error) {
    if (isSnapError(error, 'BUSY')) return undefined;
    throw error;
  }
}
