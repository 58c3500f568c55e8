import type { InstanceSummary, ListResult } from '../../core/results.js';
import type { Context } from '../context.js';
import { list } from '../look/list.js';
import { listInstances, summarizeInstance } from '../session/instances.js';
import { findInstance, lostRecords } from './find-instance.js';

/** The snapshots of the instance that is meant, newest first. @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS */
export async function listRecovery(context: Context, selector: string): Promise<ListResult> {
  return list({ ...context, instance: await findInstance(context, selector) }, {});
}

/** All instances that have a snapshot, those too whose record is lost. */
export async function recoverableInstances(context: Context): Promise<readonly InstanceSummary[]> {
  const refs = context.store.exists() ? await context.store.snapshots(null) : [];
  const recorded = await listInstances(context);
  const names = new Set(recorded.map(({ name }) => name));
  const lost: InstanceSummary[] = [];
  for (const record of await lostRecords(context, refs)) {
    if (!names.has(record.name))
      lost.push({ ...(await summarizeInstance(context, record)), state: 'lost', status: 'lost' });
  }
  return [...recorded.filter(({ snapshots }) => snapshots > 0), ...lost].sort((a, b) => (a.name < b.name ? -1 : 1));
}
