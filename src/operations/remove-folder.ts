import {
  type EntryPath,
  type HostPath,
  baseName,
  displayPath,
  joinPath,
  parentOf,
  rootPath,
} from '../core/entry-path.js';
import type { EntryStat } from '../core/entry.js';
import type { Directory, WritableDirectory } from '../core/ports.js';
import { SnapError, systemCode } from '../errors.js';
import type { Context } from './context.js';

/** Whether a path that is no directory may go. */
export type MayGo = (path: EntryPath, stat: EntryStat, directory: Directory, name: string) => boolean;

/**
 * Removes a folder and all below it, through held directories: no link is followed, and no other file system is entered.
 * Nothing to do where it is gone. Killed half-way, the rest is there, and is removed by the next call.
 * @param mayGo asked of each path that is no directory, just before it goes
 * @returns what stays, by its path in the folder; nothing where the folder is gone
 */
export async function removeFolder(
  context: Pick<Context, 'host' | 'interruption'>,
  path: HostPath,
  mayGo: MayGo = () => true,
): Promise<readonly EntryPath[]> {
  let parent: WritableDirectory;
  try {
    parent = context.host.openMount(parentOf(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  const removal: Removal = { context, mayGo, dev: parent.identity.dev, stays: [] };
  try {
    await removeEntry(removal, parent, baseName(path as string as EntryPath), rootPath);
    parent.sync();
  } finally {
    parent.close();
  }
  return removal.stays;
}

interface Removal {
  readonly context: Pick<Context, 'host' | 'interruption'>;
  readonly mayGo: MayGo;
  readonly dev: bigint;
  readonly stays: EntryPath[];
}

async function removeEntry(removal: Removal, parent: WritableDirectory, name: string, path: EntryPath): Promise<void> {
  const stat = parent.stat(name);
  if (stat === undefined) return;
  if (stat.dev !== removal.dev) {
    const problem = 'EXDEV';
    throw new SnapError('SYSTEM_FAILED', `Another file system is mounted at ${displayPath(name)}.`, { problem });
  }
  if (stat.kind === 'directory') await removeDirectory(removal, parent, name, { path, stat });
  else if (removal.mayGo(path, stat, parent, name)) unlinkIfThere(parent, name);
  else removal.stays.push(path);
}

/** Whoever still works there may have removed it. */
function unlinkIfThere(parent: WritableDirectory, name: string): void {
  try {
    parent.unlink(name);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

/** How often a directory is looked through once more, since something came into it that may go, too. */
const passesAtMost = 4;

async function removeDirectory(
  removal: Removal,
  parent: WritableDirectory,
  name: string,
  { path, stat }: { readonly path: EntryPath; readonly stat: EntryStat },
): Promise<void> {
  // Some tools take the right to write away from what they make, and a mode that was restored may be any.
  if ((stat.mode & 0o700) !== 0o700) parent.setAttributes(name, stat, { uid: stat.uid, gid: stat.gid, mode: 0o700 });
  const before = removal.stays.length;
  for (let pass = 0; pass < passesAtMost && removal.stays.length === before; pass += 1) {
    // Left before it is removed: far down, a directory above is held again only once this one is closed.
    const directory = parent.enter(name);
    try {
      if (!isSame(directory.identity, stat)) break;
      await emptyDirectory(removal, directory, path);
    } finally {
      directory.close();
    }
    if (removal.stays.length === before && isRemoved(parent, name)) return;
  }
  if (removal.stays.length === before) removal.stays.push(path);
}

/** Another one in its place is not what was looked at. */
function isSame(one: Pick<EntryStat, 'dev' | 'ino'>, other: Pick<EntryStat, 'dev' | 'ino'>): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

async function emptyDirectory(removal: Removal, directory: WritableDirectory, path: EntryPath): Promise<void> {
  for (const each of directory.list()) {
    await removal.context.interruption.pause();
    await removeEntry(removal, directory, each, joinPath(path, each));
  }
}

function isRemoved(parent: WritableDirectory, name: string): boolean {
  try {
    parent.removeDirectory(name);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'EEXIST') throw error;
    return false;
  }
}
