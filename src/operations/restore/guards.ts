import { type EntryPath, type HostPath, displayPath, isWithin } from '../../core/entry-path.js';
import { activeOwner } from '../../core/activity.js';
import type { InstanceName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { MountRecord } from '../../core/instance-record.js';
import type { ManifestMount } from '../../core/manifest.js';
import type { Directory } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { ownerOf } from '../session/activity.js';
import { liesIn, placeIn } from '../session/folders.js';

/** An instance that somebody works in, with a mount that overlaps those asked about. */
export interface ActiveOverlap {
  readonly instance: InstanceName;
  readonly owner: string;
}

/** What somebody means to change: paths in a folder, or, with null, any in it. */
export interface Reach {
  readonly folder: HostPath;
  readonly paths: readonly EntryPath[] | null;
}

/**
 * The active instances with a mount in, around or at what is to be changed.
 * @param itself the instance that is to be restored: active, it counts whatever is to be changed, and although nothing
 *   else may know of it any more
 */
export async function activeOverlaps(
  context: Context,
  reaches: readonly Reach[],
  itself?: InstanceRecord,
): Promise<ActiveOverlap[]> {
  const found: ActiveOverlap[] = [];
  // Whose folders are not known, they may be these.
  for (const { name } of context.registry.damaged()) {
    const owner = activeOwner(context.registry.readActivity(name), context.processes);
    if (owner !== null) found.push({ instance: name, owner });
  }
  const records = context.registry.all();
  const lost = itself === undefined || records.some(({ name }) => name === itself.name) ? [] : [itself];
  for (const record of [...records, ...lost]) {
    const touches = ({ path }: MountRecord): boolean => reaches.some((reach) => overlaps(context, path, reach));
    if (record.name !== itself?.name && !record.mounts.some(touches)) continue;
    const owner = await ownerOf(context, record);
    if (owner !== null) found.push({ instance: record.name, owner });
  }
  return found;
}

function overlaps(context: Context, mount: HostPath, { folder, paths }: Reach): boolean {
  if (paths?.length === 0) return false;
  if (liesIn(context, folder, mount)) return true;
  const place = placeIn(context, mount, folder);
  if (place === undefined || paths === null) return place !== undefined;
  // What is mounted there may be a folder that has other names in this one.
  const mounted = context.host.mountPointsBelow(context.host.realPath(folder) ?? folder);
  if ([...mounted].some((point) => isWithin(place, point))) return true;
  return paths.some((path) => isWithin(path, place) || isWithin(place, path));
}

/** @throws SnapError INSTANCE_ACTIVE, naming the instance that stands in the way */
export function refuseActive(active: readonly ActiveOverlap[]): void {
  const [first] = active;
  if (first === undefined) return;
  throw new SnapError(
    'INSTANCE_ACTIVE',
    `Instance ${first.instance} is active (${first.owner}): a restore would change files under it.`,
    {
      instance: first.instance,
      owner: first.owner,
    },
  );
}

/** @throws SnapError INSTANCE_CLOSED */
export function refuseClosed(record: InstanceRecord | undefined): void {
  if (record?.state !== 'closed') return;
  throw new SnapError('INSTANCE_CLOSED', `Instance ${record.name} is closed.`, { instance: record.name });
}

/**
 * The folder at the mount's recorded path must be the one that was recorded, under its real path.
 * @throws SnapError MOUNT_GONE, MOUNT_REPLACED
 */
export function refuseReplaced(
  context: Context,
  {
    mount,
    path,
    instance,
  }: { readonly mount: ManifestMount; readonly path: HostPath; readonly instance: InstanceName },
  force: boolean,
): void {
  const identity = context.host.identity(path);
  if (identity === undefined) {
    throw new SnapError('MOUNT_GONE', `The folder ${displayPath(path)} of mount ${mount.name} is gone.`, {
      mount: mount.name,
      path: displayPath(path),
      instance,
    });
  }
  if (force && identity.directory) return;
  const same = String(identity.dev) === mount.device && String(identity.ino) === mount.inode;
  if (same && context.host.realPath(path) === path) return;
  throw new SnapError('MOUNT_REPLACED', `${displayPath(path)} is not the folder that the snapshot was taken of.`, {
    mount: mount.name,
    path: displayPath(path),
  });
}

/**
 * The folder that was opened to be changed must be the one that the plan was made of: its path may lead elsewhere by now.
 * @throws SnapError MOUNT_REPLACED
 */
export function refuseSwapped(root: Pick<Directory, 'identity'>, mount: MountRecord): void {
  if (root.identity.dev === mount.dev && root.identity.ino === mount.ino) return;
  throw new SnapError('MOUNT_REPLACED', `${displayPath(mount.path)} is not the folder that the plan was made of.`, {
    mount: mount.name,
    path: displayPath(mount.path),
  });
}
