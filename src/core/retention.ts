import type { Seq, SnapshotId } from './ids.js';
import type { Policy } from './policy.js';
import type { Trigger } from './results.js';

/** What retention looks at. */
export interface Candidate {
  readonly seq: Seq;
  readonly id: SnapshotId;
  readonly trigger: Trigger;
  readonly createdAt: Date;
  readonly pinned: boolean;
  /** True for the emergency snapshot of a restore that is pending. */
  readonly needed: boolean;
  /** Whether it came from another store. */
  readonly fetched: boolean;
}

export type RetentionPolicy = Pick<Policy, 'keep_last' | 'keep_daily' | 'keep_weekly' | 'keep_emergency'>;

/**
 * The snapshots of one instance that its policy no longer keeps, oldest first. The first, the latest, pinned and
 * needed ones always stay; emergency snapshots are counted apart from the others. Those that were fetched are not
 * counted, and stay, so that none of them takes the place of another.
 *
 * Their order is that of their numbers, whatever the clock said: dates only tell which of them are of the same day or
 * week, and days and weeks only add to what is kept. A clock that is wrong costs at most a place in their count.
 */
export function expired<C extends Candidate>(snapshots: readonly C[], policy: RetentionPolicy): C[] {
  const ascending = inOrder(snapshots).filter(({ fetched }) => !fetched);
  const usual = ascending.filter((snapshot) => !isEmergency(snapshot));
  const kept = new Set<C | undefined>([
    ascending[0],
    ascending.at(-1),
    ...newest(usual, policy.keep_last),
    ...newest(newestOfEach(usual, dayOf), policy.keep_daily),
    ...newest(newestOfEach(usual, weekOf), policy.keep_weekly),
    ...newest(ascending.filter(isEmergency), policy.keep_emergency),
  ]);
  return ascending.filter((snapshot) => !kept.has(snapshot) && !snapshot.pinned && !snapshot.needed);
}

/**
 * Of what the policy keeps, what goes nevertheless while the store is over its ceiling, in that order: all but the
 * first, the latest, pinned and needed ones, and emergency snapshots. What was fetched goes first, so that nothing that
 * was saved here goes for it; the first and the latest are those of all and of what was saved here.
 */
export function yielding<C extends Candidate>(snapshots: readonly C[], policy: RetentionPolicy): C[] {
  const gone = new Set(expired(snapshots, policy));
  const ascending = inOrder(snapshots);
  const saved = ascending.filter(({ fetched }) => !fetched);
  const ends = new Set([ascending[0], ascending.at(-1), saved[0], saved.at(-1)]);
  const mayGo = (snapshot: C): boolean => !ends.has(snapshot) && !snapshot.pinned && !snapshot.needed;
  return [
    ...ascending.filter((snapshot) => snapshot.fetched && mayGo(snapshot)),
    ...saved.filter((snapshot) => mayGo(snapshot) && !gone.has(snapshot) && !isEmergency(snapshot)),
  ];
}

function inOrder<C extends Candidate>(snapshots: readonly C[]): C[] {
  return [...snapshots].sort((a, b) => a.seq - b.seq);
}

function isEmergency({ trigger }: Candidate): boolean {
  return trigger === 'emergency';
}

function newest<C>(ascending: readonly C[], count: number): readonly C[] {
  return count === 0 ? [] : ascending.slice(-count);
}

/** The newest of each period, ascending: a period counts by its newest snapshot, not by its date. */
function newestOfEach<C extends Candidate>(ascending: readonly C[], periodOf: (date: Date) => number): C[] {
  const byPeriod = new Map<number, C>();
  for (const snapshot of ascending.toReversed()) {
    const period = periodOf(snapshot.createdAt);
    if (!byPeriod.has(period)) byPeriod.set(period, snapshot);
  }
  return [...byPeriod.values()].reverse();
}

/** Days by UTC, counted from 1970-01-01. */
function dayOf(date: Date): number {
  return Math.floor(date.getTime() / (24 * 60 * 60 * 1000));
}

/** ISO weeks by UTC, from Monday to Sunday; 1970-01-01 was a Thursday. */
function weekOf(date: Date): number {
  return Math.floor((dayOf(date) + 3) / 7);
}
