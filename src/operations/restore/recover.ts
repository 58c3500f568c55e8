import { inverse } from '../../core/journal-record.js';
import type { JackinSnap } from '../../core/requests.js';
import type { PlannedChange, RestoreResult, SnapshotPointer } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type Finished, type ResumeJob, resumeRestore } from './execute.js';
import { activeOverlaps, refuseActive } from './guards.js';
import { type PendingRestore, clearFinished, readPending } from './pending.js';
import { toPlannedChange } from './plan-mounts.js';

/** Finishes a restore that was interrupted, or takes it back: to the snapshot, or to the state before. */
export async function recover(context: Context, request: RecoverRequest): Promise<RestoreResult> {
  const instance = chooseInstance(context);
  const locks = await lockForSnapshot(context, instance);
  const reader = context.store.reader();
  try {
    const pending = readPending(context, instance);
    if (pending === undefined) {
      clearFinished(context, instance);
      throw new SnapError('NOTHING_PENDING', `No restore of instance ${instance} is pending.`, { instance });
    }
    return await resume(context, request, { instance, pending, reader });
  } finally {
    await reader.close();
    locks.release();
  }
}

type RecoverRequest = Parameters<JackinSnap['recover']>[0];

/** Guards, asks, and goes on with a pending restore in the direction asked for. */
export async function resume(
  context: Context,
  { direction, confirm, force = false }: RecoverRequest,
  job: Pick<ResumeJob, 'instance' | 'pending' | 'reader'>,
): Promise<RestoreResult> {
  const { begin } = job.pending;
  const itself = context.registry.find(job.instance);
  const reaches = begin.mounts.map(({ name, path }) => ({
    folder: path,
    paths: (job.pending.changes.get(name) ?? []).map((change) => change.path),
  }));
  if (!force) refuseActive(await activeOverlaps(context, reaches, itself));
  const plan = planOf(job.pending, direction);
  const target = direction === 'continue' ? begin.snapshot : begin.emergency;
  if (!(await confirm({ snapshot: target, plan, kept: [], messages: [] })))
    throw new SnapError('DECLINED', 'Declined: the restore is still pending.', { what: 'recover' });
  if (!force) refuseActive(await activeOverlaps(context, reaches, itself));
  const finished = await resumeRestore(context, { ...job, direction, force });
  const blocked = direction === 'continue' ? job.pending.blocked : [];
  return toResult(job, plan, target, { ...finished, failed: [...blocked, ...finished.failed] });
}

function toResult(
  { instance, pending }: Pick<ResumeJob, 'instance' | 'pending'>,
  plan: readonly PlannedChange[],
  target: SnapshotPointer,
  finished: Finished,
): RestoreResult {
  return {
    instance,
    fromSnapshot: target,
    emergencySnapshot: pending.begin.emergency,
    dryRun: false,
    restoredFiles: finished.restoredFiles,
    deletedFiles: finished.deletedFiles,
    changed: finished.changed,
    plan,
    kept: [],
    failed: finished.failed,
    filesAffected: finished.restoredFiles + finished.deletedFiles,
    bytesWritten: finished.bytesWritten,
    activeSnapshot: finished.failed.length === 0 ? target : null,
    verified: finished.verified,
    destination: null,
    messages: finished.messages,
  };
}

function planOf(pending: PendingRestore, direction: 'continue' | 'abort'): PlannedChange[] {
  return pending.begin.mounts.flatMap(({ name, path }) =>
    (pending.changes.get(name) ?? []).map((change) =>
      toPlannedChange(name, path, direction === 'abort' ? inverse(change) : change),
    ),
  );
}
