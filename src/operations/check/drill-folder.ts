import { activeOwner, markOf } from '../../core/activity.js';
import { type DrillNote, drillName } from '../../core/drill-note.js';
import { type HostPath, displayPath, hostPathBelow } from '../../core/entry-path.js';
import { isSnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { Interruption } from '../interruption.js';
import { removeFolder } from '../remove-folder.js';
import { refuseOurs } from '../restore/restore-elsewhere.js';

/*
 * The folder of a drill. It is noted in the data directory before it is made, so that one that a killed drill left is
 * found and removed, wherever it lies.
 */

/**
 * For nobody else to enter, whatever the modes of what is restored in it. Gone at the end; where it cannot be removed,
 * that is one more of the messages, and it stays noted.
 */
export async function inPrivateFolder<Result extends { readonly messages: readonly string[] }>(
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
  const messages: string[] = [];
  const result = await act(folder).finally(async () => {
    messages.push(...(await removeOrSay(context, { parent, name })));
  });
  return { ...result, messages: [...result.messages, ...messages] };
}

async function removeOrSay(context: Context, note: Pick<DrillNote, 'parent' | 'name'>): Promise<string[]> {
  try {
    await removeNoted(context, note);
    return [];
  } catch (error) {
    if (!isUnremovable(error)) throw error;
    const folder = displayPath(hostPathBelow(note.parent, note.name));
    return [`${folder} could not be removed, which "doctor --fix" tries again: ${(error as Error).message}`];
  }
}

function isUnremovable(error: unknown): boolean {
  return systemCode(error) !== undefined && (!isSnapError(error) || error.code === 'SYSTEM_FAILED');
}

function ownMark({ processes, pid }: Context): string {
  return markOf({ pid, start: processes.startOf(pid) ?? '', bootId: processes.bootId() });
}

/** Folders that killed drills left, by their paths. */
export function leftByDrills(context: Context): string[] {
  return leftovers(context).map(({ parent, name }) => displayPath(hostPathBelow(parent, name)));
}

/** Removes them. @returns those that are gone now */
export async function sweepDrills(context: Context): Promise<string[]> {
  const gone: string[] = [];
  for (const note of leftovers(context)) {
    const folder = hostPathBelow(note.parent, note.name);
    const wasThere = context.host.identity(folder) !== undefined;
    try {
      if ((await removeNoted(context, note)) && wasThere) gone.push(displayPath(folder));
    } catch (error) {
      // On a disk that is not there, or no longer ours to remove: it stays noted.
      if (!isUnremovable(error)) throw error;
    }
  }
  return gone;
}

function leftovers(context: Context): DrillNote[] {
  return context.drillNotes.all().filter(({ owner }) => activeOwner(owner, context.processes) === null);
}

/** Also after a signal. False where others work in it, so that something stays: then it stays noted, too. */
async function removeNoted(
  { host, drillNotes }: Context,
  { parent, name }: Pick<DrillNote, 'parent' | 'name'>,
): Promise<boolean> {
  const undisturbed = { host, interruption: new Interruption(undefined) };
  const stays = await removeFolder(undisturbed, hostPathBelow(parent, name));
  if (stays.length > 0) return false;
  drillNotes.forget(name);
  return true;
}
