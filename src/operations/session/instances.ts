import { type InstanceName, isInstanceName } from '../../core/ids.js';
import { endOfActivity, markOf } from '../../core/activity.js';
import { type EndedActivity, type InstanceRecord, exitPolicyOf } from '../../core/instance-record.js';
import { statusOf } from '../../core/session-status.js';
import { defaultPolicy, withSettings } from '../../core/policy.js';
import type { InstanceSummary } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import { allPresets, refuseUnknown } from '../capture/stacks-in-force.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { recordInSnapshots } from '../recovery/find-instance.js';
import { readPendingOr } from '../restore/pending.js';
import { knowIfReadable } from '../snapshots.js';
import { activityOf, refuseUnended } from './activity.js';
import { chooseInstance, chosenRecord } from './choose-instance.js';
import { reconcile } from './reconcile.js';

/** All instances, by name: the damaged ones too, and those of which there are only snapshots. */
export async function listInstances(context: Context): Promise<InstanceSummary[]> {
  const summaries = new Map<InstanceName, InstanceSummary>();
  await reconcile(context);
  for (const record of context.registry.all()) summaries.set(record.name, await summarizeInstance(context, record));
  for (const { name } of context.registry.damaged())
    summaries.set(name, {
      ...(summaries.get(name) ?? (await summarizeLost(context, name))),
      state: 'damaged',
      status: 'damaged',
    });
  for (const name of instancesWithSnapshots(context))
    if (!summaries.has(name)) summaries.set(name, await summarizeUnrecorded(context, name));
  return [...summaries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function instancesWithSnapshots({ store }: Context): ReadonlySet<InstanceName> {
  const names = store.exists() ? store.refNames('refs/jackin/') : [];
  return new Set(names.map((name) => name.split('/')[2] ?? '').filter(isInstanceName));
}

/** Where any of its snapshots was not fetched, it was made here: then a record was there once. */
async function summarizeUnrecorded(context: Context, name: InstanceName): Promise<InstanceSummary> {
  const summary = await summarizeLost(context, name);
  const fetched = unlessDamaged(() => context.registry.fetched(name));
  const numbers = context.store.snapshotNumbers(name);
  const isFetched = numbers.length > 0 && numbers.every((seq) => fetched?.has(seq) === true);
  const state = isFetched ? 'fetched' : 'lost';
  return { ...summary, state, status: state };
}

/** What the last readable snapshot tells of an instance whose own record cannot be read. */
async function summarizeLost(context: Context, name: InstanceName): Promise<InstanceSummary> {
  return summarizeInstance(
    context,
    (await recordInSnapshots(context, await context.store.snapshots(name))) ?? nothingKnown(name),
  );
}

function nothingKnown(name: InstanceName): InstanceRecord {
  return { name, createdAt: new Date(0).toISOString(), state: 'open', mounts: [], policy: defaultPolicy };
}

export async function showInstance(context: Context): Promise<InstanceSummary> {
  await reconcile(context);
  return summarizeInstance(context, chosenRecord(context));
}

/** What is known of an instance, by its record, be that of the registry or of a snapshot. */
export async function summarizeInstance(context: Context, record: InstanceRecord): Promise<InstanceSummary> {
  const refs = await context.store.snapshots(record.name);
  const { owner, session } = await activityOf(context, record);
  const end = endOfActivity(context.registry.readActivity(record.name), context.processes);
  const latest = refs.at(-1);
  return {
    name: record.name,
    state: record.state,
    status: statusOf(record, { active: owner !== null, session, end, removed: isRemoved(context, record) }),
    active: owner !== null,
    owner,
    mounts: record.mounts.map(({ name, path }) => ({ name, path, present: context.host.identity(path) !== undefined })),
    snapshots: refs.length,
    latest: latest?.seq ?? null,
    sizeBytes: latest === undefined ? 0 : (knowIfReadable(latest)?.record.sizeBytes ?? 0),
    pendingRestore: readPendingOr(context, record.name, 'damaged') !== undefined,
    policy: record.policy,
    createdAt: record.createdAt,
    exitPolicy: exitPolicyOf(record),
    ...(record.exit === undefined ? {} : { exit: record.exit }),
    ...endedOf(context, record, end),
    ...(session === null ? {} : { session }),
  };
}

function unlessDamaged<Value>(read: () => Value | undefined): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!isSnapError(error, 'CONFIGURATION_INVALID')) throw error;
    return undefined;
  }
}

/** A worktree's own instance has no other folder. */
function isRemoved({ registry }: Context, { name, mounts }: InstanceRecord): boolean {
  const worktree = unlessDamaged(() => registry.findWorktree(name));
  return worktree?.stage === 'removed' && mounts.every(({ path }) => path === worktree.path);
}

/** What a mark tells that nobody cleared yet is noticed now. */
export function endedOf(
  context: Context,
  { ended }: InstanceRecord,
  end: EndedActivity['how'] | null,
): Pick<InstanceSummary, 'ended'> {
  const how = end === null ? ended : { how: end, noticed_at: context.now().toISOString() };
  return how === undefined ? {} : { ended: how };
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
export function markActive(context: Context, record: InstanceRecord, pid: number, by?: 'run'): string {
  const start = context.processes.startOf(pid);
  if (start === undefined) throw new SnapError('USAGE', `There is no process ${String(pid)}.`, { what: 'process' });
  const mark = markOf({ pid, start, bootId: context.processes.bootId(), by });
  if (record.ended !== undefined) context.registry.write(withoutEnd(record));
  context.registry.writeActivity(record.name, mark);
  return mark;
}

function withoutEnd({ ended, ...record }: InstanceRecord): InstanceRecord {
  return ended === undefined ? { ...record } : record;
}

export async function deactivate(context: Context): Promise<InstanceSummary> {
  const name = chooseInstance(context);
  if (context.registry.damaged().some((damaged) => damaged.name === name)) {
    context.registry.clearActivity(name);
    return { ...(await summarizeLost(context, name)), state: 'damaged', status: 'damaged' };
  }
  const record = chosenRecord(context);
  context.registry.clearActivity(record.name);
  return summarizeInstance(context, record);
}

/**
 * Ends an instance for good: its snapshots stay readable, no save and no in-place restore is made any more.
 * @throws SnapError RESTORE_PENDING, INSTANCE_ACTIVE
 */
export async function close(context: Context): Promise<InstanceSummary> {
  return changeRecord(context, async (record) => {
    await refuseUnended(context, record);
    return { ...record, state: 'closed' };
  });
}

/** @throws SnapError USAGE naming the setting that is unknown or the value that it does not take */
export async function set(context: Context, settings: Readonly<Record<string, string>>): Promise<InstanceSummary> {
  await refuseUnknownPresets(context, settings);
  return changeRecord(context, (record) => ({ ...record, policy: withSettings(record.policy, settings) }));
}

/** A name that is mistyped would stand in the way of every later save and restore. */
async function refuseUnknownPresets(context: Context, settings: Readonly<Record<string, string>>): Promise<void> {
  if (settings['more_stacks'] === undefined) return;
  const { more_stacks: named } = withSettings(chosenRecord(context).policy, settings);
  if (named.length > 0) refuseUnknown(allPresets(await context.stackFiles.presets()), named);
}

export async function changeRecord(
  context: Context,
  change: (record: InstanceRecord) => InstanceRecord | Promise<InstanceRecord>,
): Promise<InstanceSummary> {
  const { name } = chosenRecord(context);
  const locks = await lockForSnapshot(context, name);
  try {
    const record = await change(chosenRecord(context));
    context.registry.write(record);
    return await summarizeInstance(context, record);
  } finally {
    locks.release();
  }
}
