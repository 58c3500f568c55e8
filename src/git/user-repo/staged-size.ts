import { type TreeSize, isOversized, nothingBelow, withEntry } from '../../core/tree-size.js';
import type { ObjectId } from '../../core/ids.js';
import { directoryMode } from '../pack/format.js';
import type { HeldObjects } from './held-objects.js';

/** Whether the files that a tree stands for are more than an index can list. Each tree is read once. */
export async function isBeyondIndex(objects: Pick<HeldObjects, 'entries'>, tree: ObjectId): Promise<boolean> {
  const sizes = new Map<ObjectId, TreeSize>();
  let distinct = 0;
  const sizeOf = async (oid: ObjectId): Promise<TreeSize> => {
    const known = sizes.get(oid);
    if (known !== undefined) return known;
    let size = nothingBelow;
    for (const entry of await objects.entries(oid)) {
      distinct += 1;
      size = withEntry(size, entry.name, entry.mode === directoryMode ? await sizeOf(entry.oid) : null);
    }
    sizes.set(oid, size);
    return size;
  };
  // An index may hold as many files as it says.
  return isOversized(await sizeOf(tree), Infinity, () => distinct);
}
