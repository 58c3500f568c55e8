import { displayPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import type { KnownSnapshot } from '../snapshots.js';
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
  const read = new Set<ObjectId>();
  for (const { action, after, path } of planned.flatMap(({ plan }) => plan.changes)) {
    if (action === 'chmod' || after === null || after.kind === 'directory' || read.has(after.oid)) continue;
    read.add(after.oid);
    await context.interruption.pause();
    try {
      await reader.stream(after.oid, () => undefined);
    } catch (error) {
      if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
      const snapshot = `${known.ref.instance}/${String(known.ref.seq)}`;
      const message = `Snapshot ${snapshot} is damaged: ${displayPath(path)} cannot be restored, and nothing was changed.`;
      throw new SnapError('SNAPSHOT_DAMAGED', message, { snapshot }, { cause: error });
    }
  }
}
