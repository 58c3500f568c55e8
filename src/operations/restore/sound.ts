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
 * Reads all content that a restore is to write: what turns out to be damaged when half of it is done would leave neither
 * state.
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
    const form = after.kind === 'file' && after.byRanges === true ? 'ranges' : 'bytes';
    const key = `${after.oid} ${form}`;
    if (!contents.has(key)) contents.set(key, after);
  }
  for (const some of inTurns([...contents.values()])) {
    reader.expect(some.map(({ oid }) => oid));
    for (const entry of some) {
      await context.interruption.pause();
      await refuseIfDamaged(reader, entry, known);
    }
  }
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
