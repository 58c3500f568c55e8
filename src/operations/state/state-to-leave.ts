import type { EntryPath, HostPath } from '../../core/entry-path.js';
import type { LeftOutReason } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import type { Context } from '../context.js';
import { readManifest, readMountContent } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';
import { type FitToLeave, fitToLeave } from './fit-to-leave.js';
import { withState } from './held-state.js';
import { refuseInJackinsData } from './jackins-own.js';

/**
 * What is to be written outside the store: where state is asked for, it is one more of the mounts.
 * @throws SnapError STATE_ABSENT, JACKIN_OWNED
 */
export async function manifestToLeave(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  { destination, state }: { readonly destination: HostPath; readonly state: boolean },
): Promise<Manifest> {
  const manifest = await readManifest(reader, known);
  if (!state) return manifest;
  const all = withState(manifest);
  await refuseInJackinsData(context, destination, all);
  return all;
}

/** One of its mounts; of state, what may leave the store. */
export async function contentToLeave(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  manifest: Manifest,
  name: MountName,
): Promise<FitToLeave & NotStored> {
  const { entries, observed } = await readMountContent(context, reader, known, manifest, name);
  const fit = name === manifest.state?.name ? await fitToLeave(context, reader, entries) : { entries, withheld: [] };
  return { ...fit, leftOutAt: (path) => observed.leftOutAt(path) };
}

export interface NotStored {
  /** Why a path was seen and not stored; undefined when it was not seen, or is stored. */
  readonly leftOutAt: (path: EntryPath) => LeftOutReason | undefined;
}
