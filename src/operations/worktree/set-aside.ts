import { type EntryPath, type HostPath, baseName, hostPathBelow, parentOf } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/*
 * A worktree that is about to go is given another name beside its own first: who writes to it by its path finds nothing
 * there, or makes it anew, which shows.
 */

type Place = Pick<WorktreeRecord, 'path'>;

/** Where the files of a worktree lie while they are removed. */
export function asidePath({ path }: Place): HostPath {
  return hostPathBelow(parentOf(path), asideName({ path }));
}

function asideName({ path }: Place): string {
  return ownName({ path }) === '.removing' ? '.removing-files' : '.removing';
}

function ownName({ path }: Place): string {
  return baseName(path as string as EntryPath);
}

/** The time by the clock of the file system that the worktree lies on; undefined where its folder is gone. */
export function timeBeside(context: Context, { path }: Place): bigint | undefined {
  return inFolder(context, parentOf(path), (folder) => {
    const name = `.now-${context.newId()}`;
    folder.makeDirectory(name);
    const now = folder.stat(name)?.ctimeNs;
    folder.removeDirectory(name);
    return now;
  });
}

/** Where its files are moved from is nothing then; done also where there was nothing, or something is aside already. */
export function setAside(context: Context, place: Place): void {
  inFolder(context, parentOf(place.path), (folder) => {
    if (folder.stat(ownName(place)) === undefined || folder.stat(asideName(place)) !== undefined) return;
    folder.rename(ownName(place), asideName(place));
    folder.sync();
  });
}

/** Whether its files have that other name: a removal goes on, or was cut off. */
export function isAside({ host }: Pick<Context, 'host'>, place: Place): boolean {
  return host.identity(asidePath(place)) !== undefined;
}

/** Back to its own name. False where somebody made something there: then it stays aside. */
export function putBack(context: Context, place: Place): boolean {
  const isBack = inFolder(context, parentOf(place.path), (folder) => {
    if (folder.stat(asideName(place)) === undefined) return true;
    if (folder.stat(ownName(place)) !== undefined) return false;
    folder.rename(asideName(place), ownName(place));
    folder.sync();
    return true;
  });
  return isBack ?? true;
}

/** Undefined where the folder is gone. */
function inFolder<Result>(
  context: Context,
  path: HostPath,
  act: (folder: WritableDirectory) => Result,
): Result | undefined {
  let folder: WritableDirectory;
  try {
    folder = context.host.openMount(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return act(folder);
  } finally {
    folder.close();
  }
}
