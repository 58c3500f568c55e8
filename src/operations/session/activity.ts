import { activeOwner } from '../../core/activity.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { SessionStatus } from '../../core/jackin/session-status.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readPending, refusePending } from '../restore/pending.js';

/** Who keeps an instance active, in words: a process, or the container that it stands for. Null when nobody does. */
export async function ownerOf(context: Context, record: InstanceRecord): Promise<string | null> {
  return (await activityOf(context, record)).owner;
}

/** The same with what is known of the session that the instance stands for; null where it stands for none. */
export async function activityOf(
  context: Context,
  record: InstanceRecord,
): Promise<{ readonly owner: string | null; readonly session: SessionStatus | null }> {
  const owner = activeOwner(context.registry.readActivity(record.name), context.processes);
  if ((record.recovery?.jackin ?? null) === null) return { owner, session: null };
  // Loaded for the first instance of jackin's.
  const session = await (await import('../jackin/session.js')).sessionOf(context, record);
  return { owner: owner ?? session?.owner ?? null, session };
}

/** @throws SnapError INSTANCE_ACTIVE */
export async function refuseActive(context: Context, record: InstanceRecord): Promise<void> {
  const owner = await ownerOf(context, record);
  if (owner === null) return;
  const { name: instance } = record;
  throw new SnapError('INSTANCE_ACTIVE', `Instance ${instance} is active (${owner}).`, { instance, owner });
}

/**
 * An instance is not closed while a restore of it is pending, nor while somebody works in it: neither could be ended as
 * it should be. The caller holds the instance's lock, or asks again when it does.
 * @throws SnapError RESTORE_PENDING, INSTANCE_ACTIVE, JOURNAL_DAMAGED
 */
export async function refuseUnended(context: Context, record: InstanceRecord): Promise<void> {
  const pending = readPending(context, record.name);
  if (pending !== undefined) refusePending(record.name, pending);
  await refuseActive(context, record);
}
