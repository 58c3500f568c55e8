import { type EntryPath, ancestorsOf, baseName, rootPath } from '../../core/entry-path.js';
import type { StoredEntry } from '../../core/entry.js';
import { isCredential, stateFileAtMost, stateLeftOut } from '../../core/jackin/state-paths.js';
import type { SecretScanner } from '../../core/content-secrets.js';
import type { ObjectReader } from '../../core/ports.js';
import type { StateLeftOut, StateLeftOutReason } from '../../core/state/results.js';
import type { Context } from '../context.js';
import { lookAtContent } from '../capture/state/scanned-tree.js';

type Entries = ReadonlyMap<EntryPath, StoredEntry>;

/** What of a stored state may be written outside the store, and what may not, although it is stored. */
export interface FitToLeave {
  readonly entries: Entries;
  readonly withheld: readonly StateLeftOut[];
}

/**
 * Holds stored state against the list and the scanner once more: a snapshot may have been made by a version that knew
 * less, or by nobody who looked at all.
 */
export async function fitToLeave(context: Context, reader: ObjectReader, stored: Entries): Promise<FitToLeave> {
  const scanner = await context.secretScanner();
  const withheld = new Map<EntryPath, StateLeftOutReason>();
  const entries = new Map<EntryPath, StoredEntry>();
  for (const entry of stored.values()) {
    const { path } = entry;
    if ([...ancestorsOf(path)].some((above) => withheld.has(above))) continue;
    await context.interruption.pause();
    const reason =
      path === rootPath ? null : ((await reasonAgainst(entry, reader, scanner)) ?? ofItsLinks(entry, withheld));
    if (reason === null) entries.set(path, linkedWithin(entry, entries));
    else withheld.set(path, reason);
  }
  return { entries, withheld: [...withheld].map(([path, reason]) => ({ path, reason })) };
}

/** What is the same file as one that may not leave may not either. */
function ofItsLinks(
  entry: StoredEntry,
  withheld: ReadonlyMap<EntryPath, StateLeftOutReason>,
): StateLeftOutReason | null {
  if (entry.kind === 'directory' || entry.linkedTo === undefined) return null;
  return withheld.get(entry.linkedTo) ?? null;
}

/** Of a group that does not begin among what leaves, each is a file of its own. */
function linkedWithin(entry: StoredEntry, entries: Entries): StoredEntry {
  if (entry.kind === 'directory' || entry.linkedTo === undefined) return entry;
  const { linkedTo, ...alone } = entry;
  return linkedTo === entry.path || entries.has(linkedTo) ? entry : alone;
}

async function reasonAgainst(
  entry: StoredEntry,
  reader: ObjectReader,
  scanner: SecretScanner,
): Promise<StateLeftOutReason | null> {
  const { path, kind } = entry;
  if (isCredential(path, kind)) return 'credential';
  if (kind === 'directory' && baseName(path) === '.git') return 'git_dir';
  const listed = stateLeftOut(path, { kind, size: kind === 'directory' ? 0 : entry.size });
  if (listed !== null || kind === 'directory') return listed;
  if (entry.kind === 'file' && entry.byRanges === true) return 'unsupported';
  const { content } = await reader.read(entry.oid, 'blob', stateFileAtMost);
  return lookAtContent(path, content.toString('latin1'), scanner);
}
