import type { LeftOutReason } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import { ObservedSet } from '../../core/observed-set.js';
import type { ObjectReader } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readManifest, readObserved } from '../snapshot-content.js';
import { type KnownSnapshot, isFetched, knowIfReadable } from '../snapshots.js';

/*
 * A restore may put back ignore files, and so take a rule away that kept a path. What it kept is no more to be deleted
 * by the next one: restoring the same snapshot twice is restoring it once.
 */

const byRule: ReadonlySet<LeftOutReason> = new Set(['ignored', 'excluded', 'secret']);

/** What rules left out of a mount, at restores since the snapshot. */
export type LeftOutSince = (mount: MountName) => ObservedSet | undefined;

/** From the emergency snapshots that came later; one that is damaged says nothing. */
export async function readLeftOutSince(
  context: Context,
  reader: ObjectReader,
  { ref }: KnownSnapshot,
): Promise<LeftOutSince> {
  const fetched = context.registry.fetched(ref.instance);
  const lines = new Map<MountName, Awaited<ReturnType<typeof readObserved>>>();
  for (const other of await context.store.snapshots(ref.instance)) {
    const known = other.seq > ref.seq && !isFetched(other, fetched) ? knowIfReadable(other) : undefined;
    if (known?.record.trigger !== 'emergency') continue;
    try {
      const { mounts } = await readManifest(reader, known);
      for (const { name } of mounts) {
        const observed = await readObserved(reader, known, name as MountName);
        lines.set(name as MountName, [...(lines.get(name as MountName) ?? []), ...observed]);
      }
    } catch (error) {
      if (!isSnapError(error)) throw error;
    }
  }
  const sets = new Map(
    [...lines].map(([name, all]) => [
      name,
      new ObservedSet(
        all.filter(({ reason }) => byRule.has(reason as LeftOutReason)),
        () => false,
        null,
      ),
    ]),
  );
  return (mount) => sets.get(mount);
}
