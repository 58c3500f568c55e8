import { isSnapError } from '../../errors.js';
import type { HeldLock } from '../../core/ports.js';
import type { Context } from '../context.js';

/** How long others who are in the store are waited for, in seconds. */
const patience = 60;

export function isDue(context: Context): boolean {
  return context.store.exists() && context.store.hasManyPacks();
}

/**
 * Puts the packs of many saves together, beside others who save and read; they wait for the last moments of it at
 * most. Nothing is done when it is not due, when somebody else is at it, or when others are too busy.
 */
export async function housekeep(context: Context): Promise<void> {
  if (!isDue(context)) return;
  const lock = await lockIfFree(() => context.locks.housekeeping(0));
  if (lock === undefined) return;
  try {
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
