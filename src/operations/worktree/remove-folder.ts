import { type EntryPath, type HostPath, baseName, displayPath, parentOf } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import { SnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/**
 * Removes a folder and all below it, through held directories: no link is followed, and no other file system is entered.
 * Nothing to do where it is gone. Killed half-way, the rest is there, and is removed by the next call.
 */
export async function removeFolder(context: Context, path: HostPath): Promise<void> {
  let parent: WritableDirectory;
  try {
    parent = context.host.openMount(parentOf(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  try {
    await removeEntry(context, parent, baseName(path as string as EntryPath), parent.identity.dev);
    parent.sync();
  } finally {
    parent.close();
  }
}

async function removeEntry(context: Context, parent: WritableDirectory, name: string, dev: bigint): Promise<void> {
  const stat = parent.stat(name);
  if (stat === undefined) return;
  if (stat.dev !== dev) {
    const problem = 'EXDEV';
    throw new SnapError('SYSTEM_FAILED', `Another file system is mounted at ${displayPath(name)}.`, { problem });
  }
  if (stat.kind !== 'directory') {
    parent.unlink(name);
    return;
  }
  const directory = parent.enter(name);
  try {
    // Some tools take the right to write away from what they make.
    if ((stat.mode & 0o700) !== 0o700) directory.setOwnMode(0o700);
    for (const each of directory.list()) {
      await context.interruption.pause();
      await removeEntry(context, directory, each, dev);
    }
  } finally {
    directory.close();
  }
  parent.removeDirectory(name);
}
