import { activeOwner, markOf } from '../../core/activity.js';
import { type DrillNote, drillName } from '../../core/drill-note.js';
import { type HostPath, displayPath, hostPathBelow } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { refuseOurs } from '../restore/restore-elsewhere.js';

/*
 * The folder of a drill. It is noted in the data directory before it is made, so that one that a killed drill left is
 * found and removed, wherever it lies.
 */

/** For nobody else to enter, whatever the modes of what is restored in it. Gone at the end. */
export async function inPrivateFolder<Result>(
  context: Context,
  parent: HostPath,
  act: (folder: HostPath) => Promise<Result>,
): Promise<Result> {
  const name = drillName(context.newId());
  const folder = hostPathBelow(parent, name);
  refuseOurs(context, folder);
  context.drillNotes.write({ name, parent, owner: ownMark(context) });
  try {
    context.host.makeDirectory(folder);
  } catch (error) {
    context.drillNotes.forget(name);
    throw error;
  }
  try {
    return await act(folder);
  } finally {
    removeFolder(context, parent, name);
    context.drillNotes.forget(name);
  }
}

function ownMark({ processes, pid }: Context): string {
  return markOf({ pid, start: processes.startOf(pid) ?? '', bootId: processes.bootId() });
}

/** Folders that killed drills left, by their paths. */
export function leftByDrills(context: Context): string[] {
  return leftovers(context).map(({ parent, name }) => displayPath(hostPathBelow(parent, name)));
}

/** Removes them. @returns those that are gone now */
export function sweepDrills(context: Context): string[] {
  return leftovers(context).flatMap(({ parent, name }) => {
    const folder = hostPathBelow(parent, name);
    const wasThere = context.host.identity(folder) !== undefined;
    try {
      removeFolder(context, parent, name);
    } catch (error) {
      // On a disk that is not there, or no longer ours to remove: it stays noted.
      if (systemCode(error) === undefined) throw error;
      return [];
    }
    context.drillNotes.forget(name);
    return wasThere ? [displayPath(folder)] : [];
  });
}

function leftovers(context: Context): DrillNote[] {
  return context.drillNotes.all().filter(({ owner }) => activeOwner(owner, context.processes) === null);
}

/** Whatever modes its directories were given. */
function removeFolder(context: Context, parent: HostPath, name: string): void {
  const outer = context.host.openMount(parent);
  try {
    if (outer.stat(name) !== undefined) removeDirectory(outer, name);
  } finally {
    outer.close();
  }
}

function removeDirectory(outer: WritableDirectory, name: string): void {
  const stat = outer.stat(name);
  if (stat !== undefined) outer.setAttributes(name, stat, { uid: stat.uid, gid: stat.gid, mode: 0o700 });
  const directory = outer.enter(name);
  try {
    for (const inner of directory.list()) {
      if (directory.stat(inner)?.kind === 'directory') removeDirectory(directory, inner);
      else directory.unlink(inner);
    }
  } finally {
    directory.close();
  }
  outer.removeDirectory(name);
}
