import { type EntryStat, type StoredEntry, isSettled, sameStat } from '../../core/entry.js';
import type { Directory } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import { type ContentForm, readStable } from '../capture/read-stable.js';
import type { ContentHasher } from './hashing.js';

/** What an earlier look at a path found, for a cheaper second look. */
export interface Remembered {
  readonly stat: EntryStat;
  /** When it was captured, nanoseconds since the epoch. */
  readonly momentNs: bigint;
}

/**
 * True when the directory's entry `name` is in the given state (null: is not there). A directory counts as itself
 * whatever its mode, since its mode is set last.
 */
export async function isInState(
  directory: Directory,
  name: string,
  state: StoredEntry | null,
  hasher: ContentHasher,
  remembered?: Remembered,
): Promise<boolean> {
  const stat = directory.stat(name);
  if (stat === undefined || state === null) return (stat === undefined) === (state === null);
  if (stat.kind !== state.kind) return false;
  if (remembered !== undefined && sameStat(stat, remembered.stat) && isSettled(stat, remembered.momentNs)) return true;
  return hasContent(directory, name, state, stat, hasher);
}

/** True when what has this stat has the content of the state, which is of its kind. */
export async function hasContent(
  directory: Directory,
  name: string,
  state: StoredEntry,
  stat: EntryStat,
  hasher: ContentHasher,
): Promise<boolean> {
  switch (state.kind) {
    case 'directory':
      return true;
    case 'symlink':
      return hasher.writeBlob(Buffer.from(directory.readLink(name), 'latin1')) === state.oid;
    case 'file':
      if (stat.size !== state.size) return false;
      return (await contentOf(directory, name, hasher, state.byRanges === true ? 'by_ranges' : 'as_is')) === state.oid;
  }
}

/** The id of the blob that holds a file's content in this form, or undefined when it cannot be read as a file. */
async function contentOf(
  directory: Directory,
  name: string,
  hasher: ContentHasher,
  form: ContentForm,
): Promise<string | undefined> {
  try {
    const read = await readStable(directory, name, hasher, form);
    return typeof read === 'string' ? undefined : read.oid;
  } catch (error) {
    if (['EACCES', 'EPERM', 'ENOENT', 'ELOOP', 'ENXIO'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** True when the mode, and where it matters the owner, are those of the state too. */
export function hasAttributes(stat: EntryStat, state: StoredEntry): boolean {
  const owner = stat.uid === state.uid && stat.gid === state.gid;
  return state.kind === 'symlink' ? owner : owner && stat.mode === state.mode;
}
