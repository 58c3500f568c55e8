import { type EntryPath, displayPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import type { KnownSnapshot } from '../snapshots.js';
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
  const paths = new Map<ObjectId, EntryPath>();
  for (const { action, after, path } of planned.flatMap(({ plan }) => plan.changes)) {
    if (action === 'chmod' || after === null || after.kind === 'directory' || paths.has(after.oid)) continue;
    paths.set(after.oid, path);
  }
  for (const some of inTurns([...paths])) {
    reader.expect(some.map(([oid]) => oid));
    for (const [oid, path] of some) {
      await context.interruption.pause();
      await refuseIfDamaged(reader, oid, known, path);
    }
  }
}

async function refuseIfDamaged(
  reader: ObjectReader,
  oid: ObjectId,
  known: KnownSnapshot,
  path: EntryPath,
): Promise<void> {
  try {
    await reader.stream(oid, () => undefined);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    const snapshot = `${known.ref.instance}/${String(known.ref.seq)}`;
    const message = `Snapshot ${snapshot} is damaged: ${displayPath(path)} cannot be restored, and nothing was changed.`;
    throw new SnapError('SNAPSHOT_DAMAGED', message, { snapshot }, { cause: error });
  }
}
