import { activeOwner } from '../../core/activity.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { withSettings } from '../../core/policy.js';
import type { InstanceSummary } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { readPending } from '../restore/pending.js';
import { knowIfReadable } from '../snapshots.js';
import { chosenRecord } from './choose-instance.js';

/** All instances, by name. */
export async function listInstances(context: Context): Promise<InstanceSummary[]> {
  const summaries: InstanceSummary[] = [];
  for (const record of context.registry.all()) summaries.push(await summarizeInstance(context, record));
  return summaries;
}

export async function showInstance(context: Context): Promise<InstanceSummary> {
  return summarizeInstance(context, chosenRecord(context));
}

async function summarizeInstance(context: Context, record: InstanceRecord): Promise<InstanceSummary> {
  const refs = await context.store.snapshots(record.name);
  const owner = activeOwner(context.registry.readActivity(record.name), context.processes);
  const latest = refs.at(-1);
  return {
    name: record.name,
    state: record.state,
    active: owner !== null,
    owner,
    mounts: record.mounts.map(({ name, path }) => ({ name, path, present: context.host.identity(path) !== undefined })),
    snapshots: refs.length,
    latest: latest?.seq ?? null,
    sizeBytes: latest === undefined ? 0 : (knowIfReadable(latest)?.record.sizeBytes ?? 0),
    pendingRestore: readPending(context, record.name) !== undefined,
    policy: record.policy,
    createdAt: record.createdAt,
  };
}

/** Marks the instance active for as long as the process lives. @throws SnapError USAGE when there is no such process */
export async function activate(context: Context, pid: number): Promise<InstanceSummary> {
  const { name } = chosenRecord(context);
  // A restore that is under way has the lock: it is not surprised by somebody who starts to work.
  const lock = await context.locks.instance(name);
  try {
    const record = chosenRecord(context);
    if (record.state === 'closed')
      throw new SnapError('INSTANCE_CLOSED', `Instance ${record.name} is closed.`, { instance: record.name });
    markActive(context, record, pid);
    return await summarizeInstance(context, record);
  } finally {
    lock.release();
  }
}

/** @returns what was written down, to know one's own mark by */
export function markActive(context: Context, record: InstanceRecord, pid: number): string {
  const start = context.processes.startOf(pid);
  if (start === undefined) throw new SnapError('USAGE', `There is no process ${String(pid)}.`, { what: 'process' });
  const mark = JSON.stringify({ pid, start, bootId: context.processes.bootId() });
  context.registry.writeActivity(record.name, mark);
  return mark;
}

export async function deactivate(context: Context): Promise<InstanceSummary> {
  const record = chosenRecord(context);
  context.registry.clearActivity(record.name);
  return summarizeInstance(context, record);
}

/** Ends an instance for good: its snapshots stay readable, no save and no in-place restore is made any more. */
export async function close(context: Context): Promise<InstanceSummary> {
  return changeRecord(context, (record) => ({ ...record, state: 'closed' }));
}

/** @throws SnapError USAGE naming the setting that is unknown or the value that it does not take */
export async function set(context: Context, settings: Readonly<Record<string, string>>): Promise<InstanceSummary> {
  return changeRecord(context, (record) => ({ ...record, policy: withSettings(record.policy, settings) }));
}

async function changeRecord(
  context: Context,
  change: (record: InstanceRecord) => InstanceRecord,
): Promise<InstanceSummary> {
  const { name } = chosenRecord(context);
  const locks = await lockForSnapshot(context, name);
  try {
    const record = change(chosenRecord(context));
    context.registry.write(record);
    return await summarizeInstance(context, record);
  } finally {
    locks.release();
  }
}
