import type { LeftOutReason } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { ObservedLine } from '../../core/manifest.js';
import { ObservedSet } from '../../core/observed-set.js';
import type { ObjectReader } from '../../core/ports.js';
import { type SnapErrorCode, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readManifest, readObserved } from '../snapshot-content.js';
import { type KnownSnapshot, isFetched, knowIfReadable } from '../snapshots.js';

/*
 * A restore may put back ignore files, and so take a rule away that kept a path. What it kept is no more to be deleted
 * by the next one: restoring the same snapshot twice is restoring it once.
 */

const byRule: ReadonlySet<string> = new Set<LeftOutReason>(['ignored', 'excluded', 'secret']);

/** What a snapshot that cannot be read fails with, whoever reads it, and whenever. */
const saysNothing: ReadonlySet<SnapErrorCode> = new Set(['STORE_DAMAGED', 'FORMAT_UNKNOWN', 'SNAPSHOT_DAMAGED']);

/** What rules left out of a mount, at restores since the snapshot. */
export type LeftOutSince = (mount: MountName) => ObservedSet;

/** From the emergency snapshots that came later; one that is damaged says nothing. */
export async function readLeftOutSince(
  context: Context,
  reader: ObjectReader,
  { ref }: KnownSnapshot,
): Promise<LeftOutSince> {
  const fetched = context.registry.fetched(ref.instance);
  const lines = new Map<string, ObservedLine[]>();
  for (const other of await context.store.snapshots(ref.instance)) {
    const known = other.seq > ref.seq && !isFetched(other, fetched) ? knowIfReadable(other) : undefined;
    if (known?.record.trigger !== 'emergency') continue;
    for (const [name, observed] of await observedByMount(reader, known))
      lines.set(name, [...(lines.get(name) ?? []), ...observed.filter(({ reason }) => byRule.has(reason))]);
  }
  return (mount) => new ObservedSet(lines.get(mount) ?? [], () => false, null);
}

async function observedByMount(reader: ObjectReader, known: KnownSnapshot): Promise<[string, ObservedLine[]][]> {
  const lines: [string, ObservedLine[]][] = [];
  try {
    for (const { name } of (await readManifest(reader, known)).mounts)
      lines.push([name, await readObserved(reader, known, name as MountName)]);
  } catch (error) {
    if (!isSnapError(error) || !saysNothing.has(error.code)) throw error;
  }
  return lines;
}
