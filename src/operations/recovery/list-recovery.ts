import type { InstanceSummary, ListResult } from '../../core/results.js';
import type { Context } from '../context.js';
import { list } from '../look/list.js';
import { listInstances } from '../session/instances.js';
import { findInstance } from './find-instance.js';

/** The snapshots of the instance that is meant, newest first. @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS */
export async function listRecovery(context: Context, selector: string): Promise<ListResult> {
  return list({ ...context, instance: await findInstance(context, selector) }, {});
}

/** All instances that have a snapshot, those too that have no record. */
export async function recoverableInstances(context: Context): Promise<readonly InstanceSummary[]> {
  return (await listInstances(context)).filter(({ snapshots }) => snapshots > 0);
}
