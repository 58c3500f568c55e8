import { type InstanceName, zeroObjectId } from '../ids.js';
import type { RemoteSnapshot } from './report.js';
import type { RefusedSnapshot } from './results.js';

/** Snapshots of one side, by what the other side has under their numbers. */
export interface SortedSnapshots {
  /** The other side has nothing under the number. */
  readonly missing: readonly RemoteSnapshot[];
  readonly present: readonly RemoteSnapshot[];
  readonly refused: readonly RefusedSnapshot[];
}

/**
 * Which of `given` may go to the other side. Where a number is used on both sides for different snapshots, these are two
 * instances of one name: nothing of it goes over, so that no history is mixed of two.
 * @param ours all that this side has of the instances concerned
 * @param theirs all that the other side has of them
 */
export function sortSnapshots(
  given: readonly RemoteSnapshot[],
  ours: readonly RemoteSnapshot[],
  theirs: readonly RemoteSnapshot[],
): SortedSnapshots {
  const there = new Map(theirs.map(({ ref, commit }) => [ref, commit]));
  const isOther = ({ ref, commit }: RemoteSnapshot): boolean => {
    const other = there.get(ref);
    return other !== undefined && other !== commit && other !== zeroObjectId && commit !== zeroObjectId;
  };
  const mixed = new Set<InstanceName>(ours.filter(isOther).map(({ instance }) => instance));
  const sorted = { missing: [] as RemoteSnapshot[], present: [] as RemoteSnapshot[], refused: [] as RefusedSnapshot[] };
  for (const snapshot of given) {
    const other = there.get(snapshot.ref);
    // One of ours that cannot be read is named by who looks into it.
    if (snapshot.commit === zeroObjectId) sorted.missing.push(snapshot);
    else if (other === snapshot.commit) sorted.present.push(snapshot);
    else if (other === zeroObjectId) sorted.refused.push({ ...snapshot, reason: 'damaged_here', detail: '' });
    else if (other !== undefined)
      sorted.refused.push({ ...snapshot, reason: 'other_snapshot', detail: `the other one is ${other}` });
    else if (mixed.has(snapshot.instance)) sorted.refused.push({ ...snapshot, reason: 'other_history', detail: '' });
    else sorted.missing.push(snapshot);
  }
  return sorted;
}
