import type { StoredFile, StoredSymlink } from '../../core/entry.js';
import { displayPath } from '../../core/entry-path.js';
import type { ObjectReader } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import type { KnownSnapshot } from '../snapshots.js';
import { streamStored } from '../stored-bytes.js';
import { inTurns } from './expected.js';
import type { PlannedMount } from './plan-mounts.js';

/**
 * Makes sure that all content that a restore is to write can be read: what turns out to be damaged when half of it is
 * done would leave neither state. What lies in packs is held against the checksums that were noted when they were
 * written; everything else, and what does not match, is read and hashed. What is written is hashed in any case.
 * @throws SnapError SNAPSHOT_DAMAGED
 */
export async function refuseUnsound(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  planned: readonly PlannedMount[],
): Promise<void> {
  const contents = new Map<string, StoredFile | StoredSymlink>();
  for (const { action, after } of planned.flatMap(({ plan }) => plan.changes)) {
    if (action === 'chmod' || after === null || after.kind === 'directory') continue;
    const form = isAsItIs(after) ? 'bytes' : 'ranges';
    const key = `${after.oid} ${form}`;
    if (!contents.has(key)) contents.set(key, after);
  }
  const pause = (): Promise<void> => context.interruption.pause();
  const all = [...contents.values()];
  const asWritten = await context.store.findAsWritten(
    all.filter(isAsItIs).map(({ oid }) => oid),
    pause,
  );
  const doubtful = all.filter((entry) => !isAsItIs(entry) || !asWritten.has(entry.oid));
  for (const some of inTurns(doubtful)) {
    reader.expect(some.map(({ oid }) => oid));
    for (const entry of some) {
      await pause();
      await refuseIfDamaged(reader, entry, known);
    }
  }
}

/** The blob is the content. Whether a list of ranges is one shows only when it is read. */
function isAsItIs(entry: StoredFile | StoredSymlink): boolean {
  return entry.kind === 'symlink' || entry.byRanges !== true;
}

async function refuseIfDamaged(
  reader: ObjectReader,
  entry: StoredFile | StoredSymlink,
  known: KnownSnapshot,
): Promise<void> {
  try {
    await streamStored(reader, entry, { data: () => undefined, hole: () => undefined });
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    const snapshot = `${known.ref.instance}/${String(known.ref.seq)}`;
    const message = `Snapshot ${snapshot} is damaged: ${displayPath(entry.path)} cannot be restored, and nothing was changed.`;
    throw new SnapError('SNAPSHOT_DAMAGED', message, { snapshot }, { cause: error });
  }
}
