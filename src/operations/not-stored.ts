import { type EntryPath, displayPath } from '../core/entry-path.js';
import type { LeftOutReason } from '../core/entry.js';
import type { MountName } from '../core/ids.js';
import { SnapError } from '../errors.js';

/** What is said of a path that a snapshot has seen, and not stored. */
export function seenAndNotStored(reason: LeftOutReason): string {
  return `was seen and not stored (${reason})`;
}

/** A path that was asked for and is not there. @param nowhere what is said of one that was not seen either */
export function pathNotFound(
  mount: MountName,
  path: EntryPath,
  reason: LeftOutReason | undefined,
  nowhere: string,
): SnapError<'PATH_NOT_FOUND'> {
  const shown = displayPath(path === '' ? '.' : path);
  const why = reason === undefined ? nowhere : seenAndNotStored(reason);
  return new SnapError('PATH_NOT_FOUND', `${shown} ${why}.`, { path: displayPath(path), where: `mount ${mount}` });
}
