import { type Dirent, statSync } from 'node:fs';
import { join } from 'node:path';

import { SnapError, systemCode } from '../errors.js';
import { entriesIn } from './names-in.js';

/*
 * Below `refs` are files and directories, and nothing else: git would wait for whoever writes to a pipe, read a device
 * without end, and go round where a link leads back.
 */

/** @throws SnapError STORE_DAMAGED where something in the directory is of a kind that git cannot be let to. */
export function refuseOtherKindsIn(storeDirectory: string, directory: string): void {
  for (const entry of entriesIn(join(storeDirectory, directory)))
    refuseOtherKind(storeDirectory, `${directory}/${entry.name}`, entry);
}

/** The same for all that lies below the directory: before git reads every ref. @throws SnapError STORE_DAMAGED */
export function refuseOtherKindsBelow(storeDirectory: string, directory: string): void {
  for (const entry of entriesIn(join(storeDirectory, directory))) {
    const name = `${directory}/${entry.name}`;
    if (entry.isDirectory()) refuseOtherKindsBelow(storeDirectory, name);
    else refuseOtherKind(storeDirectory, name, entry);
  }
}

/**
 * A link to a file, or to nothing, is left to git: it is read as a ref, or is a broken one.
 * @param name below the store's directory
 * @throws SnapError STORE_DAMAGED
 */
export function refuseOtherKind(storeDirectory: string, name: string, entry: Dirent): void {
  if (entry.isFile() || entry.isDirectory()) return;
  if (entry.isSymbolicLink() && leadsToFileOrNothing(join(storeDirectory, name))) return;
  const why = entry.isSymbolicLink() ? 'it is a link to what is no file' : 'it is neither file nor directory';
  throw damagedPart(storeDirectory, name, why);
}

function leadsToFileOrNothing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch (error) {
    if (['ELOOP', 'EACCES', 'ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '')) return true;
    throw error;
  }
}

/** The whole store is refused for a part of it that no store of ours has. */
export function damagedPart(storeDirectory: string, name: string, why: string): SnapError<'STORE_DAMAGED'> {
  const path = join(storeDirectory, name);
  return new SnapError('STORE_DAMAGED', `${JSON.stringify(path)} cannot be part of a store: ${why}.`, {
    problem: `${name}: ${why}`,
  });
}
