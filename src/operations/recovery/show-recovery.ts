import { endOfActivity } from '../../core/activity.js';
import { type HostPath, pathFromJson } from '../../core/entry-path.js';
import { holdsState } from '../../core/state/holds-state.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { Manifest, ManifestMount } from '../../core/manifest.js';
import { type MountOrigin, indexOfFolders } from '../../core/recovery-index.js';
import type { RecoveryMount, RecoveryResult } from '../../core/recovery-results.js';
import type { RepositoryState } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { activityOf } from '../session/activity.js';
import { endedOf } from '../session/instances.js';
import { readManifest } from '../snapshot-content.js';
import { type KnownSnapshot, knowIfReadable, pointerTo } from '../snapshots.js';
import { findInstance, recordOrLast } from './find-instance.js';
import { startingPointOf } from './starting-point.js';

/**
 * The recovery index of an instance: where its mounts came from and what it takes to have the session again, with what the
 * last snapshot knows of the repositories. It needs neither jackin's data nor the instance's record, if there is a snapshot.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS
 */
export async function showRecovery(context: Context, selector: string): Promise<RecoveryResult> {
  const name = await findInstance(context, selector);
  const record = await recordOrLast(context, name);
  if (record === undefined)
    throw new SnapError('INSTANCE_NOT_FOUND', `Of instance ${name} no snapshot can be read.`, { instance: name });
  const refs = await context.store.snapshots(name);
  const known = refs.flatMap((ref) => knowIfReadable(ref) ?? []);
  const last = known.at(-1);
  const manifest = last === undefined ? undefined : await readableManifest(context, last);
  const { owner, session } = await activityOf(context, record);
  const end = endOfActivity(context.registry.readActivity(name), context.processes);
  const index = record.recovery ?? indexOfFolders(record.mounts);
  return {
    instance: name,
    recorded: context.registry.all().some((one) => one.name === name),
    index,
    policy: record.policy,
    session,
    ended: endedOf(context, record, end).ended ?? null,
    exit: record.exit ?? null,
    owner,
    mounts: record.mounts.map((mount) =>
      mountOf(
        context,
        mount,
        index.mounts.find((origin) => origin.name === mount.name),
        manifest?.mounts.find((seen) => seen.name === mount.name),
      ),
    ),
    snapshots: refs.length,
    latest: last === undefined ? null : pointerTo(last),
    latestHoldsState: manifest !== undefined && holdsState(manifest),
    start: startingPointOf(context, known, record.mounts) ?? null,
    store: context.host.dataDirectory,
  };
}

/** A look at what is there does not fail for one snapshot that is damaged. */
async function readableManifest(context: Context, known: KnownSnapshot): Promise<Manifest | undefined> {
  const reader = context.store.reader();
  try {
    return await readManifest(reader, known);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED') && !isSnapError(error, 'FORMAT_UNKNOWN')) throw error;
    return undefined;
  } finally {
    await reader.close();
  }
}

function mountOf(
  context: Context,
  { name, path }: InstanceRecord['mounts'][number],
  origin: MountOrigin | undefined,
  seen: ManifestMount | undefined,
): RecoveryMount {
  return {
    name,
    path,
    present: context.host.identity(path) !== undefined,
    ...placeOf(origin),
    kind: seen?.kind ?? null,
    repository: (seen?.repository ?? null) as RepositoryState | null,
  };
}

function placeOf(origin: MountOrigin | undefined): Pick<RecoveryMount, 'source' | 'containerPath' | 'isolation'> {
  if (origin === undefined) return { source: 'named', containerPath: null, isolation: null };
  const { source, container_path: path, isolation } = origin;
  return { source, containerPath: path === null ? null : (pathFromJson(path) as HostPath), isolation };
}
