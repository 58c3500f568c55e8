import type { MountRecord } from '../../core/instance-record.js';
import type { StartingPoint } from '../../core/recovery-results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { type KnownSnapshot, know, knowIfReadable, pointerTo, resolveSnapshot } from '../snapshots.js';
import { findInstance, recordOrLast } from './find-instance.js';

/**
 * The snapshot that a recovery goes by: the one that is named; else, where no folder of the instance is there any more, the
 * newest that is no emergency snapshot, since there is nothing to take back; else that of the last start of a run, else the
 * first.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS, SNAPSHOT_NOT_FOUND, SNAPSHOT_AMBIGUOUS
 */
export async function startingPoint(
  context: Context,
  selector: string,
  snapshot: string | undefined,
): Promise<StartingPoint> {
  const instance = await findInstance(context, selector);
  const known = (await context.store.snapshots(instance)).flatMap((ref) => knowIfReadable(ref) ?? []);
  if (snapshot !== undefined) {
    const named = know((await resolveSnapshot(context, snapshot, () => instance)).ref);
    return { ...pointerTo(named), chosen: 'named', ...amongst(known, named) };
  }
  const record = await recordOrLast(context, instance);
  const start = startingPointOf(context, known, record?.mounts ?? []);
  if (start !== undefined) return start;
  throw new SnapError('SNAPSHOT_NOT_FOUND', `Instance ${instance} has no snapshot that can be read.`, {
    selector: 'first',
    instance,
  });
}

/** @param known all that can be read, ascending */
export function startingPointOf(
  context: Pick<Context, 'host'>,
  known: readonly KnownSnapshot[],
  mounts: readonly MountRecord[],
): StartingPoint | undefined {
  const areGone = mounts.length > 0 && mounts.every(({ path }) => context.host.identity(path) === undefined);
  const newest = areGone ? known.findLast(({ record }) => record.trigger !== 'emergency') : undefined;
  const beforeRun = known.findLast(({ record }) => record.trigger === 'run_start');
  const start = newest ?? beforeRun ?? known[0];
  if (start === undefined) return undefined;
  const chosen = newest !== undefined ? 'newest' : beforeRun !== undefined ? 'before_last_run' : 'first';
  return { ...pointerTo(start), chosen, ...amongst(known, start) };
}

function amongst(known: readonly KnownSnapshot[], start: KnownSnapshot): Pick<StartingPoint, 'snapshots' | 'latest'> {
  return { snapshots: known.length, latest: (known.at(-1) ?? start).ref.seq };
}
