import { type HostPath, baseName, displayPath, textOfBytes } from '../../core/entry-path.js';
import type { EntryPath } from '../../core/entry-path.js';
import { type InstanceName, type MountName, parseMountName, slug } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import { defaultPolicy } from '../../core/policy.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { SaveRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { knowIfReadable } from '../snapshots.js';
import { derivedName, instanceOfFolder, instancesWithMounts } from './choose-instance.js';
import { liesIn } from './folders.js';
import { refuseUnsafeMount } from './mount-guards.js';

/**
 * The instance that a save is for, made up (not yet written) when there is none.
 * @param session the record of a new instance that stands for a session, where there is one
 */
export function instanceForSave(
  context: Context,
  request: SaveRequest,
  session?: InstanceRecord,
): { record: InstanceRecord; isNew: boolean } {
  const folders = realFolders(context, request);
  const record = existing(context, folders);
  if (record === undefined && session !== undefined) return { record: session, isNew: true };
  if (record === undefined) return { record: newInstance(context, request, folders), isNew: true };
  if (record.state === 'closed') {
    throw new SnapError('INSTANCE_CLOSED', `Instance ${record.name} is closed.`, { instance: record.name });
  }
  if (folders.length > 0) refuseOtherFolders(record, folders);
  for (const mount of record.mounts) refuseGone(context, mount);
  return { record, isNew: false };
}

interface Folder {
  readonly name: MountName | null;
  readonly path: HostPath;
}

function existing(context: Context, folders: readonly Folder[]): InstanceRecord | undefined {
  if (context.instance !== null) return context.registry.find(context.instance);
  if (folders.length === 0) return instanceOfFolder(context, context.host.cwd);
  const same = instancesWithMounts(
    context,
    folders.map(({ path }) => path),
  );
  const [first] = same;
  if (same.length < 2)
    return first ?? context.registry.find(derivedName(context, folders[0]?.path ?? context.host.cwd));
  const derived = derivedName(context, folders[0]?.path ?? context.host.cwd);
  const own = same.find(({ name }) => name === derived);
  if (own !== undefined) return own;
  throw new SnapError(
    'INSTANCE_AMBIGUOUS',
    `Several instances have this folder: ${same.map(({ name }) => name).join(', ')}.`,
    {
      candidates: same.map(({ name }) => name),
    },
  );
}

function realFolders(context: Context, request: SaveRequest): Folder[] {
  return (request.folders ?? []).map(({ name, path }) => {
    const real = context.host.realPath(path);
    if (real === undefined || context.host.identity(real)?.directory !== true) {
      const why = real === undefined ? 'There is no folder' : 'This is no folder:';
      throw new SnapError('MOUNT_GONE', `${why} ${displayPath(path)}.`, {
        mount: name ?? displayPath(path),
        path: displayPath(path),
        named: true,
      });
    }
    return { name, path: real };
  });
}

function newInstance(context: Context, request: SaveRequest, given: readonly Folder[]): InstanceRecord {
  const here = context.host.realPath(context.host.cwd) ?? context.host.cwd;
  const folders = given.length > 0 ? given : [{ name: null, path: here }];
  const mounts: MountRecord[] = [];
  for (const folder of folders) {
    if (request.allowUnsafeMount !== true) refuseUnsafeMount(context, folder.path);
    mounts.push(newMount(context, folder, mounts));
  }
  refuseOverlap(context, mounts);
  const name = context.instance ?? derivedName(context, folders[0]?.path ?? here);
  refuseTaken(context, name, folders);
  return { name, createdAt: context.now().toISOString(), state: 'open', mounts, policy: defaultPolicy };
}

/**
 * A name that is derived from a folder may be that of an instance which has others, or whose folders are not known. One
 * of the same folders was made at this moment by another save.
 */
function refuseTaken(context: Context, name: InstanceName, folders: readonly Folder[]): void {
  const record = context.registry.find(name);
  const isDamaged = context.registry.damaged().some((damaged) => damaged.name === name);
  if (record !== undefined) refuseOtherFolders(record, isDamaged ? [] : folders);
}

function newMount(context: Context, folder: Folder, taken: readonly MountRecord[]): MountRecord {
  const { path } = folder;
  const identity = context.host.identity(path);
  const shown = displayPath(path);
  if (identity === undefined) throw new SnapError('MOUNT_GONE', `${shown} is gone.`, { mount: shown, path: shown });
  const name = folder.name ?? freeName(path, taken);
  if (taken.some((mount) => mount.name === name))
    throw new SnapError('USAGE', `Two mounts are named ${name}.`, { what: 'mount name' });
  return { name, path, dev: identity.dev, ino: identity.ino };
}

function freeName(path: HostPath, taken: readonly MountRecord[]): MountName {
  const base = slug(textOfBytes(baseName(path as string as EntryPath)) ?? '', 80);
  for (let number = 1; ; number++) {
    const name = parseMountName(number === 1 ? base : `${base}-${String(number)}`);
    if (!taken.some((mount) => mount.name === name)) return name;
  }
}

function refuseOverlap(context: Context, mounts: readonly MountRecord[]): void {
  for (const outer of mounts) {
    const inner = mounts.find((mount) => mount !== outer && liesIn(context, mount.path, outer.path));
    if (inner === undefined) continue;
    throw new SnapError(
      'MOUNT_UNSAFE',
      `${displayPath(inner.path)} lies in ${displayPath(outer.path)}: two mounts of one instance may not overlap.`,
      {
        path: displayPath(inner.path),
        why: 'overlap',
      },
    );
  }
}

function refuseOtherFolders(record: InstanceRecord, folders: readonly Folder[]): void {
  const registered = new Set<string>(record.mounts.map(({ path }) => path));
  const named = folders.every(
    ({ name, path }) =>
      registered.has(path) &&
      (name === null || record.mounts.some((mount) => mount.path === path && mount.name === name)),
  );
  if (named && new Set(folders.map(({ path }) => path)).size === registered.size) return;
  const has = record.mounts.map(({ path }) => displayPath(path)).join(', ');
  throw new SnapError('MOUNTS_DIFFER', `Instance ${record.name} has the folders ${has}, not those that were named.`, {
    instance: record.name,
  });
}

/**
 * Snapshots of that name may be there without its record: a fetch brought them, or the record is lost. Only who names
 * folders, or a session of jackin's, goes on with other ones than those.
 * @param last the newest that is there
 * @throws SnapError MOUNTS_DIFFER
 */
export function refuseOtherSnapshots(
  { folders = [] }: Pick<SaveRequest, 'folders'>,
  { record, isNew }: ReturnType<typeof instanceForSave>,
  last: SnapshotRef | undefined,
): void {
  const known = last === undefined ? undefined : knowIfReadable(last)?.record.mounts;
  if (known === undefined || !isNew || folders.length > 0 || record.recovery !== undefined) return;
  const paths = new Set<string>(known.map(({ path }) => path));
  if (paths.size === record.mounts.length && record.mounts.every(({ path }) => paths.has(path))) return;
  const had = known.map(({ path }) => displayPath(path)).join(', ');
  throw new SnapError(
    'MOUNTS_DIFFER',
    `The snapshots of ${record.name} are of ${had}. Name the folder that the instance is to go on with.`,
    { instance: record.name, unnamed: true },
  );
}

function refuseGone(context: Context, mount: MountRecord): void {
  if (context.host.identity(mount.path)?.directory === true) return;
  throw new SnapError('MOUNT_GONE', `The folder ${displayPath(mount.path)} of mount ${mount.name} is gone.`, {
    mount: mount.name,
    path: displayPath(mount.path),
  });
}
