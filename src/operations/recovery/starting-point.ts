import type { SnapshotPointer } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { type KnownSnapshot, knowIfReadable, pointerTo, resolveSnapshot, know } from '../snapshots.js';
import { findInstance } from './find-instance.js';

/**
 * The snapshot that a recovery goes by: the one that is named, else that of the last start of a run, else the first.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, SNAPSHOT_NOT_FOUND, SNAPSHOT_AMBIGUOUS
 */
export async function startingPoint(
  context: Context,
  selector: string,
  snapshot: string | undefined,
): Promise<SnapshotPointer> {
  const instance = await findInstance(context, selector);
  if (snapshot !== undefined) return pointerTo(know((await resolveSnapshot(context, snapshot, () => instance)).ref));
  const start = startingPointOf((await context.store.snapshots(instance)).flatMap((ref) => knowIfReadable(ref) ?? []));
  if (start !== undefined) return pointerTo(start);
  throw new SnapError('SNAPSHOT_NOT_FOUND', `Instance ${instance} has no snapshot that can be read.`, {
    selector: 'first',
    instance,
  });
}

export function startingPointOf(known: readonly KnownSnapshot[]): KnownSnapshot | undefined {
  return known.findLast(({ record }) => record.trigger === 'run_start') ?? known[0];
}
