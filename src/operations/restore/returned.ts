import type { StoredEntry } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import type { Context } from '../context.js';
import { readManifest, readMountContent } from '../snapshot-content.js';
import { knowIfReadable } from '../snapshots.js';

/** What a restore put back, by mount. */
export type Returned = ReadonlyMap<MountName, ReadonlyMap<EntryPath, StoredEntry>>;

/**
 * What the restore before which an emergency snapshot was made put back: to go back to that snapshot is to take it away
 * again, whatever ignore rules say of its name. Nothing where the snapshot is no emergency one, or where the snapshot
 * that was restored is gone or damaged. Directories that are passed over are not read.
 */
export async function readReturned(
  context: Context,
  reader: ObjectReader,
  manifest: Manifest,
  passedOver: (mount: MountName) => ReadonlySet<EntryPath> | undefined,
): Promise<Returned> {
  const returned = new Map<MountName, ReadonlyMap<EntryPath, StoredEntry>>();
  const { recovery } = manifest;
  if (recovery === null) return returned;
  const ref = (await context.store.snapshots(null)).find(
    ({ instance, seq }) => instance === recovery.instance && seq === recovery.seq,
  );
  const known = ref === undefined ? undefined : knowIfReadable(ref);
  if (known === undefined || (await context.store.brokenSnapshots([known.ref.commit])).size > 0) return returned;
  const restored = await readManifest(reader, known);
  for (const { name } of restored.mounts) {
    const mount = name as MountName;
    const over = passedOver(mount);
    const passesOver = over === undefined ? undefined : (path: EntryPath): boolean => over.has(path);
    returned.set(mount, (await readMountContent(context, reader, known, restored, mount, passesOver)).entries);
  }
  return returned;
}
