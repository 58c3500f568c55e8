import { endOfActivity } from '../../core/activity.js';
import type { InstanceName } from '../../core/ids.js';
import type { HeldLock } from '../../core/ports.js';
import { isSnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/**
 * Takes away the marks of owners that are gone, and notes in the records how they ended. Where somebody holds the lock, or
 * nothing can be written, that is left to the next: nobody believes such a mark.
 */
export async function reconcile(context: Context): Promise<void> {
  for (const { name } of context.registry.all()) await reconcileOne(context, name);
}

async function reconcileOne(context: Context, name: InstanceName): Promise<void> {
  try {
    if (endOfActivity(context.registry.readActivity(name), context.processes) === null) return;
    const lock: HeldLock = await context.locks.instance(name, 0);
    try {
      reconcileHeld(context, name);
    } finally {
      lock.release();
    }
  } catch (error) {
    const isHarmless = isSnapError(error, 'BUSY') || isSnapError(error, 'CONFIGURATION_INVALID');
    if (!isHarmless && systemCode(error) === undefined) throw error;
  }
}

/** The same for one whose lock is held. The record comes first: a mark that is left means the same. */
export function reconcileHeld(context: Context, name: InstanceName): void {
  const how = endOfActivity(context.registry.readActivity(name), context.processes);
  const record = how === null ? undefined : context.registry.find(name);
  if (how === null || record === undefined) return;
  context.registry.write({ ...record, ended: { how, noticed_at: context.now().toISOString() } });
  context.registry.clearActivity(name);
}
