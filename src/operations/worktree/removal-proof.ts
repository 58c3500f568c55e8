import { type EntryPath, joinPath, rootPath } from '../../core/entry-path.js';
import type { EntryStat } from '../../core/entry.js';
import type { InstanceName, MountName, ObjectId } from '../../core/ids.js';
import type { Directory } from '../../core/ports.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import type { MayGo } from '../remove-folder.js';
import { type MountContent, readManifest, readMountContent } from '../snapshot-content.js';
import { isThere, knowIfReadable } from '../snapshots.js';
import { contentHash } from './content-hash.js';

/*
 * What of a worktree may go: what a snapshot, or the commit that is checked out in it, has. A process that the command
 * left behind may go on writing, so that each path is looked at once more just before it goes.
 */

/** How each path was before the snapshot looked at it, and when that was by the clock of the file system. */
export interface SeenBefore {
  readonly moment: bigint;
  readonly stats: ReadonlyMap<EntryPath, string>;
}

/** Looks at all of a worktree. `moment` is the time of something that was made just before. */
export async function seeBefore(context: Context, root: Directory, moment: bigint): Promise<SeenBefore> {
  const stats = new Map<EntryPath, string>();
  await visit(context, root, rootPath, (path, stat) => stats.set(path, keyOf(stat)));
  return { moment, stats };
}

/** In byte order, directories before their content; what cannot be entered has none. */
export async function visit(
  context: Context,
  directory: Directory,
  path: EntryPath,
  see: (path: EntryPath, stat: EntryStat, directory: Directory, name: string) => void,
): Promise<void> {
  for (const name of directory.list()) {
    await context.interruption.pause();
    const stat = directory.stat(name);
    if (stat === undefined) continue;
    const at = joinPath(path, name);
    see(at, stat, directory, name);
    if (stat.kind === 'directory') await visitBelow(context, directory, name, at, see);
  }
}

async function visitBelow(
  context: Context,
  parent: Directory,
  name: string,
  path: EntryPath,
  see: Parameters<typeof visit>[3],
): Promise<void> {
  let directory: Directory;
  try {
    directory = parent.enter(name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return;
  }
  try {
    await visit(context, directory, path, see);
  } finally {
    directory.close();
  }
}

function keyOf({ kind, dev, ino, size, mtimeNs, ctimeNs }: EntryStat): string {
  return [kind, dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** What `seen`, the snapshot or the commit proves; undefined where there is no snapshot to go by. */
export async function removalProof(
  context: Context,
  record: WorktreeRecord,
  look: Pick<WorktreeLook, 'headFiles'>,
  seen: SeenBefore | null,
): Promise<MayGo | undefined> {
  const content = await lastContent(context, record.name);
  if (content === undefined) return undefined;
  const isStored = (path: EntryPath, oid: ObjectId | undefined): boolean => {
    if (oid === undefined) return false;
    const entry = content.entries.get(path);
    const held = entry !== undefined && entry.kind !== 'directory' ? entry : undefined;
    return held?.oid === oid || look.headFiles?.get(path) === oid;
  };
  // A snapshot of some paths, or of none, was not made of all that was seen.
  const before = content.scope === null ? seen : null;
  return (path, stat, directory, name) => {
    if (stat.kind === 'special') return true;
    const isSettled = before !== null && stat.ctimeNs < before.moment;
    if (isSettled && before.stats.get(path) === keyOf(stat)) return true;
    const reason = content.observed.leftOutAt(path);
    if (reason === 'ignored' || reason === 'excluded') return true;
    return isStored(path, hashOf(context, directory, name));
  };
}

/** Undefined for what cannot be read, or is another by now. */
function hashOf(context: Context, directory: Directory, name: string): ObjectId | undefined {
  try {
    return contentHash(context, directory, name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** The newest snapshot's content: that of the worktree, which is its instance's only mount. */
async function lastContent(context: Context, instance: InstanceName): Promise<MountContent | undefined> {
  const refs = context.store.exists() ? await context.store.snapshots(instance, 1) : [];
  const last = refs.filter(isThere).at(-1);
  const known = last === undefined ? undefined : knowIfReadable(last);
  if (known === undefined) return undefined;
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, known);
    const [mount] = manifest.mounts;
    if (mount === undefined) return undefined;
    return await readMountContent(context, reader, known, manifest, mount.name as MountName);
  } finally {
    await reader.close();
    lock.release();
  }
}
