import type { InstanceName } from '../core/ids.js';
import type { HeldLock } from '../core/ports.js';
import { isSnapError } from '../errors.js';
import type { Context } from './context.js';

/** The locks of everything that makes a snapshot: the instance for itself, the store together with others. */
export async function lockForSnapshot(context: Context, instance: InstanceName): Promise<HeldLock> {
  return both(context.locks.instance(instance), context.locks.storeShared());
}

/** The lock of everything that reads the store. */
export async function lockForReading(context: Context): Promise<HeldLock> {
  return context.locks.storeShared();
}

/** The locks of everything that takes objects or refs away: nobody else is in the store. */
export async function lockForRemoval(context: Context, instance: InstanceName): Promise<HeldLock> {
  const own = await context.locks.instance(instance);
  try {
    const store = await context.locks.storeExclusive();
    return joined(own, store);
  } catch (error) {
    own.release();
    throw error;
  }
}

async function both(first: Promise<HeldLock>, second: Promise<HeldLock>): Promise<HeldLock> {
  const [one, two] = await Promise.allSettled([first, second]);
  if (one.status === 'fulfilled' && two.status === 'fulfilled') return joined(one.value, two.value);
  for (const settled of [one, two]) if (settled.status === 'fulfilled') settled.value.release();
  const failed = one.status === 'rejected' ? one : two;
  throw failed.status === 'rejected' ? (failed.reason as unknown) : undefined;
}

function joined(first: HeldLock, second: HeldLock): HeldLock {
  return {
    release: () => {
      second.release();
      first.release();
    },
  };
}

/**
 * Clears away what killed processes left in the data directory, when nobody else is in the store just now; else the
 * next save does.
 */
export async function sweepIfAlone(context: Context): Promise<void> {
  if (!context.store.hasLeftovers()) return;
  let lock: HeldLock;
  try {
    lock = await context.locks.storeExclusive(0);
  } catch (error) {
    if (isSnapError(error, 'BUSY')) return;
    throw error;
  }
  try {
    await context.store.sweep();
  } finally {
    lock.release();
  }
}
