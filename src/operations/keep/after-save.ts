import type { InstanceName, Seq } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { Context } from '../context.js';
import { raiseLastSeq } from '../last-seq.js';
import { overCeiling } from './ceiling.js';
import { chosenByPolicy } from './chosen-by-policy.js';
import { removeSnapshots } from './remove.js';

/**
 * Retention after a save: refs that the policy no longer keeps go at once; their space is freed in the background, or
 * by `gc` or `prune`. The caller holds the instance's lock and the store's shared lock; the snapshot stands whatever
 * comes of this.
 * @param numbers those of all snapshots of the instance, ascending
 */
export async function pruneAfterSave(
  context: Context,
  record: InstanceRecord,
  numbers: readonly Seq[],
): Promise<string[]> {
  if (!record.policy.auto_prune) return [];
  try {
    const isOver = await exceeds(context, record);
    if (!isOver && (areFew(context, record, numbers) || isPutOff(context, record.name, numbers))) return [];
    const all = await context.store.snapshots(record.name);
    const byNumber = chosenByPolicy(context, record.name, all);
    const forSize = await overCeiling(context, record.name, { all, gone: new Set(byNumber) });
    if (byNumber.length === 0 && numbers.length > manySnapshots) noteLook(context, record.name, numbers);
    await removeSnapshots(context, record.name, all, new Set([...byNumber, ...forSize.gone]), 'only what follows');
    if (forSize.isOver) haveLookedAtSoon(context, forSize.gone.length > 0);
    return [...told(byNumber, 'keep_last'), ...told(forSize.gone, 'max_store_bytes'), ...forSize.messages];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [`Old snapshots were not removed: ${error.message}`];
  }
}

/**
 * The store takes too much: garbage in it is to be looked for now, where there is new one, or nobody has looked since.
 * Who looks, and finds that none of it can go yet, notes to look again when there is a twentieth more.
 */
function haveLookedAtSoon({ store }: Context, isNew: boolean): void {
  if (isNew || (store.nextLook() ?? Infinity) > store.bytesOfObjects() * 1.06) store.noteNextLook(0);
}

async function exceeds({ store }: Context, { policy }: InstanceRecord): Promise<boolean> {
  return policy.max_store_bytes !== null && (await store.sizeOnDisk()) > policy.max_store_bytes;
}

function areFew({ registry }: Context, { name, policy }: InstanceRecord, numbers: readonly Seq[]): boolean {
  const atMost = Math.min(policy.keep_last, policy.keep_emergency + 1);
  if (numbers.length <= atMost) return true;
  const fetched = registry.fetched(name);
  return numbers.filter((seq) => !fetched.has(seq)).length <= atMost;
}

function told(gone: readonly SnapshotRef[], setting: string): string[] {
  const numbers = gone.map(({ seq }) => String(seq)).join(', ');
  return gone.length === 0 ? [] : [`Retention removed snapshot ${numbers}; see instance set ${setting}.`];
}

/** Among so many snapshots, looking for old ones takes longer than a save: only a save after fifty more does. */
export const manySnapshots = 1000;
const putOffFor = 50;

/** The last look left the number that was the highest then, whether it removed something or not. */
function isPutOff({ registry }: Context, instance: InstanceName, numbers: readonly Seq[]): boolean {
  if (numbers.length <= manySnapshots) return false;
  return (numbers.at(-1) ?? 0) - (registry.lastSeq(instance) ?? 0) < putOffFor;
}

function noteLook({ registry }: Context, instance: InstanceName, numbers: readonly Seq[]): void {
  const newest = numbers.at(-1);
  if (newest !== undefined) raiseLastSeq(registry, instance, newest);
}
