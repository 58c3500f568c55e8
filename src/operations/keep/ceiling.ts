import type { InstanceName, ObjectId } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { chosenOverCeiling, policyOf } from './chosen-by-policy.js';

/** What the store's size asks for. */
export interface OverCeiling {
  /** True when the store takes more than the instance's `max_store_bytes`. */
  readonly isOver: boolean;
  /** The snapshots that have to go for it, besides those that go anyway. */
  readonly gone: readonly SnapshotRef[];
  /** Why it cannot be met. */
  readonly messages: readonly string[];
}

export const underCeiling: OverCeiling = { isOver: false, gone: [], messages: [] };

export interface CeilingQuestion {
  readonly all: readonly SnapshotRef[];
  /** Those that go anyway. */
  readonly gone: ReadonlySet<SnapshotRef>;
  /** Which others may go. Default: all that are not protected. */
  readonly may?: (ref: SnapshotRef) => boolean;
  /** So many go at the least, when any has to. */
  readonly atLeast?: number;
}

/**
 * The oldest of the instance's snapshots that have to go for the store to take no more than `max_store_bytes` once
 * their objects are freed, and no more than have to. What nothing reaches does not count: no snapshot goes for it. Where
 * the other instances alone take more, none goes, since it would not help.
 */
export async function overCeiling(
  context: Context,
  instance: InstanceName,
  { all, gone, may = () => true, atLeast = 0 }: CeilingQuestion,
): Promise<OverCeiling> {
  const ceiling = policyOf(context, instance).max_store_bytes;
  if (ceiling === null || (await context.store.sizeOnDisk()) <= ceiling) return underCeiling;
  const order = chosenOverCeiling(context, instance, all).filter((ref) => !gone.has(ref) && may(ref));
  try {
    const scale = await newScale(context, instance, gone);
    if ((await scale.without([])) <= ceiling) return { isOver: true, gone: [], messages: [] };
    const others = await scale.others();
    if (others > ceiling) return { isOver: true, gone: [], messages: [othersTake(others, ceiling)] };
    const least = await scale.without(order);
    if (least > ceiling) return { isOver: true, gone: order, messages: [keptTakes(least, ceiling, others)] };
    const count = await fewest(order.length, async (some) => (await scale.without(order.slice(0, some))) <= ceiling);
    return { isOver: true, gone: order.slice(0, Math.max(count, atLeast)), messages: [] };
  } catch (error) {
    if (!isSnapError(error, 'GIT_FAILED')) throw error;
    return { isOver: true, gone: [], messages: ['What the snapshots take could not be measured; see "verify".'] };
  }
}

/** The smallest number for which it holds; it holds for the greatest, and for all above one for which it does. */
async function fewest(greatest: number, holds: (count: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, greatest];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await holds(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

interface Scale {
  /** What the store takes when these are gone too. */
  without(refs: readonly SnapshotRef[]): Promise<number>;
  /** What it takes without this instance. */
  others(): Promise<number>;
}

/** One git process for each weighing, and nothing is written. */
async function newScale(context: Context, instance: InstanceName, gone: ReadonlySet<SnapshotRef>): Promise<Scale> {
  const { store } = context;
  const besides = (await store.sizeOnDisk()) - store.bytesOfObjects();
  // Grafts take next to nothing, and name snapshots that may go.
  const refs = (await store.refs('refs/')).filter(({ name }) => !name.startsWith('refs/replace/'));
  const weigh = async (names: (name: string) => boolean): Promise<number> => {
    const tips = new Set<ObjectId>(refs.flatMap(({ name, oid }) => (names(name) ? [oid] : [])));
    return besides + (await store.bytesReachable([...tips]));
  };
  return {
    without: async (others) => {
      const left = new Set([...gone, ...others].map(({ ref }) => ref));
      return weigh((name) => !left.has(name));
    },
    others: () => {
      const own = [`refs/jackin/${instance}/`, `refs/jackin-pin/${instance}/`];
      return weigh((name) => !own.some((prefix) => name.startsWith(prefix)));
    },
  };
}

function othersTake(others: number, ceiling: number): string {
  return (
    `The store cannot be kept to max_store_bytes (${sizeOf(ceiling)}): other instances alone take ${sizeOf(others)}. ` +
    'No snapshot was removed for it.'
  );
}

function keptTakes(least: number, ceiling: number, others: number): string {
  return (
    `The store cannot be kept to max_store_bytes (${sizeOf(ceiling)}): what is kept takes ${sizeOf(least)}, ` +
    `${sizeOf(others)} of it without this instance.`
  );
}

export function sizeOf(bytes: number): string {
  return bytes < 1024 * 1024 ? `${String(bytes)} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
