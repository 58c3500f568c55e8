import type { Seq, SnapshotId } from './ids.js';
import type { Policy } from './policy.js';
import type { Trigger } from './results.js';

/** What retention looks at. */
export interface Candidate {
  readonly seq: Seq;
  readonly id: SnapshotId;
  readonly trigger: Trigger;
  readonly pinned: boolean;
  /** True for the emergency snapshot of a restore that is pending. */
  readonly needed: boolean;
}

/**
 * The snapshots of one instance that its policy no longer keeps, oldest first. The first, the latest, pinned and
 * needed ones always stay; emergency snapshots are counted apart from the others.
 */
export function expired<C extends Candidate>(
  snapshots: readonly C[],
  policy: Pick<Policy, 'keep_last' | 'keep_emergency'>,
): C[] {
  const ascending = [...snapshots].sort((a, b) => a.seq - b.seq);
  const kept = new Set<C | undefined>([ascending[0], ascending.at(-1)]);
  const keepNewest = (group: C[], count: number): void => {
    for (const snapshot of count === 0 ? [] : group.slice(-count)) kept.add(snapshot);
  };
  keepNewest(
    ascending.filter(({ trigger }) => trigger !== 'emergency'),
    policy.keep_last,
  );
  keepNewest(
    ascending.filter(({ trigger }) => trigger === 'emergency'),
    policy.keep_emergency,
  );
  return ascending.filter((snapshot) => !kept.has(snapshot) && !snapshot.pinned && !snapshot.needed);
}
