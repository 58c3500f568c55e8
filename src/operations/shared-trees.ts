import type { EntryPath } from '../core/entry-path.js';
import type { MountName, ObjectId } from '../core/ids.js';
import type { Manifest } from '../core/manifest.js';
import type { ListedObject, ObjectReader, Store } from '../core/ports.js';
import { type MountContent, readMountContent } from './snapshot-content.js';
import type { KnownSnapshot } from './snapshots.js';

type Objects = Pick<Store, 'listTree' | 'oversizedSnapshots'> & { readonly reader: ObjectReader };

/** Reads mounts of one snapshot after the other. Directories that one has from those before it are read once. */
export class SharedTrees {
  readonly #objects: Objects;
  /** Trees that were read to the end, with all below them. */
  readonly #sound = new Set<ObjectId>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /**
   * @param whole lists also what was read before; else that is not among the entries
   * @throws SnapError STORE_DAMAGED as `readMountContent` does
   */
  async read(known: KnownSnapshot, manifest: Manifest, name: MountName, whole = false): Promise<MountContent> {
    const trees: ObjectId[] = [];
    const store = this.#noting(trees);
    const passesOver = whole ? undefined : (_: EntryPath, tree: ObjectId): boolean => this.#sound.has(tree);
    const content = await readMountContent({ store }, this.#objects.reader, known, manifest, name, passesOver);
    for (const tree of trees) this.#sound.add(tree);
    return content;
  }

  #noting(trees: ObjectId[]): Pick<Store, 'listTree' | 'oversizedSnapshots'> {
    const objects = this.#objects;
    return {
      oversizedSnapshots: (commits) => objects.oversizedSnapshots(commits),
      listTree: async function* (tree, passesOver): AsyncGenerator<ListedObject> {
        for await (const object of objects.listTree(tree, passesOver)) {
          if (object.type === 'tree') trees.push(object.oid);
          yield object;
        }
      },
    };
  }
}
