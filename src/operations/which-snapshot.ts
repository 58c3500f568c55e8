import type { SnapshotRef } from '../core/ports.js';
import { SnapError, isSnapError } from '../errors.js';
import type { Context } from './context.js';
import { chooseInstance } from './session/choose-instance.js';
import { knowIfReadable, resolveSnapshot } from './snapshots.js';

/**
 * Does something with the snapshot that a selector names. Where a path is not found in it, the error says in which
 * snapshot; after a restore, `latest` is its emergency snapshot, which need not hold all mounts and paths: the error
 * says that too, and which snapshot is the one before.
 */
export async function sayingWhichSnapshot<T>(
  context: Context,
  selector: string,
  act: (context: Context) => Promise<T>,
): Promise<T> {
  try {
    return await act(context);
  } catch (error) {
    if (!isSnapError(error, 'PATH_NOT_FOUND') || error.data.where === 'host') throw error;
    throw await withSnapshot(context, selector, error);
  }
}

async function withSnapshot(
  context: Context,
  selector: string,
  error: SnapError<'PATH_NOT_FOUND'>,
): Promise<SnapError<'PATH_NOT_FOUND'>> {
  const { ref, siblings } = await resolveSnapshot(context, selector, () => chooseInstance(context));
  const recoveryOf = knowIfReadable(ref)?.record.recoveryOf ?? null;
  const asked = { ...error.data, snapshot: nameOf(ref) };
  if (recoveryOf === null || !selector.startsWith('latest'))
    return new SnapError('PATH_NOT_FOUND', error.message, asked, { cause: error });
  const before = siblings.filter((sibling) => sibling.seq < ref.seq && !isEmergency(sibling)).at(-1);
  const restore = `before the restore to snapshot ${String(recoveryOf.seq)}`;
  const then = before === undefined ? '' : `; the one before it is ${String(before.seq)}`;
  const emergency = `"${selector}" is the emergency snapshot ${String(ref.seq)}, taken ${restore}${then}.`;
  const data = before === undefined ? asked : { ...error.data, snapshot: nameOf(before) };
  return new SnapError('PATH_NOT_FOUND', `${error.message} ${emergency}`, data, { cause: error });
}

function isEmergency(ref: SnapshotRef): boolean {
  return knowIfReadable(ref)?.record.trigger === 'emergency';
}

function nameOf({ instance, seq }: SnapshotRef): string {
  return `${instance}/${String(seq)}`;
}
