import type { JackinSnap } from '../index.js';
import { recoverCommands } from './explain.js';
import { isSnapError } from './library.js';
import type { NextCommand } from './next-command.js';

/** One line for each restore that was interrupted, with the two commands that end it. */
export async function pendingNotices(
  snap: JackinSnap,
  instance: string | undefined,
  next: NextCommand,
): Promise<readonly string[]> {
  const pending = await pendingRestores(snap);
  return pending
    .filter((one) => instance === undefined || one.instance === instance)
    .map(
      ({ instance: name, snapshot }) =>
        `A restore of ${name} to snapshot ${snapshot.seq} was interrupted and is pending. ${recoverCommands(name, next)}`,
    );
}

async function pendingRestores(snap: JackinSnap): ReturnType<JackinSnap['pendingRestores']> {
  try {
    return await snap.pendingRestores();
  } catch (error) {
    // The command itself meets the same trouble, and tells it better.
    if (isSnapError(error)) return [];
    throw error;
  }
}
