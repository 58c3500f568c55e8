import type { InstanceName } from '../core/ids.js';
import type { HeldLock } from '../core/ports.js';
import { isSnapError } from '../errors.js';
import type { Context } from './context.js';

/*
 * The instance's lock always comes before the store's: in another order, two that each hold what the other waits for
 * would wait in vain.
 */

/** The locks of everything that makes a snapshot: the instance for itself, the store together with others. */
export async function lockForSnapshot(context: Context, instance: InstanceName): Promise<HeldLock> {
  const { locks } = context;
  const atOnce = await bothAtOnce([() => locks.instance(instance, 0), () => locks.storeShared(0)]);
  return atOnce ?? inOrder(context, instance, () => locks.storeShared());
}

/** The lock of everything that reads the store. */
export async function lockForReading(context: Context): Promise<HeldLock> {
  return context.locks.storeShared();
}

/** The locks of everything that takes objects or refs away: nobody else is in the store. */
export async function lockForRemoval(context: Context, instance: InstanceName): Promise<HeldLock> {
  const lock = await inOrder(context, instance, () => context.locks.storeExclusive());
  try {
    // What a killed removal left of git's own locks must not stop the next one.
    if (context.store.hasLeftovers()) await context.store.sweep();
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Side by side, which takes less time. Undefined when one is not free: who holds one here waits for no other. */
async function bothAtOnce(locks: readonly (() => Promise<HeldLock>)[]): Promise<HeldLock | undefined> {
  const outcomes = await Promise.allSettled(locks.map(async (lock) => lock()));
  const [ownHeld, storeHeld] = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  if (ownHeld !== undefined && storeHeld !== undefined) return together(ownHeld, storeHeld);
  ownHeld?.release();
  storeHeld?.release();
  for (const outcome of outcomes)
    if (outcome.status === 'rejected' && !isSnapError(outcome.reason, 'BUSY')) throw outcome.reason;
  return undefined;
}

function together(own: HeldLock, store: HeldLock): HeldLock {
  return {
    release: () => {
      store.release();
      own.release();
    },
  };
}

async function inOrder(
  context: Context,
  instance: InstanceName,
  lockStore: () => Promise<HeldLock>,
): Promise<HeldLock> {
  const own = await context.locks.instance(instance);
  try {
    return together(own, await lockStore());
  } catch (error) {
    own.release();
    throw error;
  }
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
