import { parseEntryPath, pathFromJson } from '../../core/entry-path.js';
import type { InstanceName, MountName } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { JackinSnap, PathArgument } from '../../core/requests.js';
import type { RestoreResult } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { refuseLostStore } from '../lost-store.js';
import { readManifest } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { isFetched, know, knowIfReadable } from '../snapshots.js';
import { restore } from './restore.js';

/** Restores the emergency snapshot of the last restore, as far as that restore reached. */
export async function undo(context: Context, request: Parameters<JackinSnap['undo']>[0]): Promise<RestoreResult> {
  const instance = chooseInstance(context);
  const known = know(await lastEmergency(context, instance));
  const reader = context.store.reader();
  try {
    const { recovery } = await readManifest(reader, known);
    const paths: PathArgument[] | undefined = recovery?.paths?.map(({ mount, path }) => ({
      mount: mount as MountName,
      path: parseEntryPath(pathFromJson(path)),
    }));
    const limited = paths === undefined ? {} : { paths };
    const gitState = recovery?.git_state === true ? { gitState: true } : {};
    // What the restore made may be gone again: that is no reason not to take back the rest.
    return await restore(context, {
      ...request,
      ...limited,
      ...gitState,
      snapshot: known.ref.ref,
      unknownPaths: 'pass',
    });
  } finally {
    await reader.close();
  }
}

/**
 * The emergency snapshot of the last restore, never that of an earlier one: taking back something else than what was
 * asked for would lose what was done since.
 */
async function lastEmergency(context: Context, instance: InstanceName): Promise<SnapshotRef> {
  refuseLostStore(context);
  const snapshots = context.store.exists() ? await context.store.snapshots(instance) : [];
  const fetched = context.registry.fetched(instance);
  const newest = snapshots
    .filter((ref) => !isFetched(ref, fetched) && knowIfReadable(ref)?.record.trigger === 'emergency')
    .at(-1);
  const seq = Math.max(newest?.seq ?? 0, context.registry.lastRestore(instance) ?? 0);
  const last = snapshots.find((ref) => ref.seq === seq);
  if (last !== undefined) return last;
  const why =
    seq === 0
      ? `No restore of instance ${instance} is on record.`
      : `The last restore cannot be undone: its emergency snapshot ${instance}/${String(seq)} was removed.`;
  throw new SnapError('NOTHING_TO_UNDO', why, { instance });
}
