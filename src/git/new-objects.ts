import type { ObjectId } from '../core/ids.js';
import type { ObjectReader, TreeEntry } from '../core/ports.js';
import { decodeTree, directoryMode } from './pack/format.js';
import type { KnownObjects } from './pack/known-objects.js';

/**
 * Looks for what is missing below commits, beside commits whose trees are complete: where a directory is the same in
 * one of those, all below it is there. So a check costs as much as changed, not as much as there is.
 */
export class NewObjects {
  readonly #reader: ObjectReader;
  readonly #present: KnownObjects;
  readonly #checked = new Set<ObjectId>();

  constructor(reader: ObjectReader, present: KnownObjects) {
    this.#reader = reader;
    this.#present = present;
  }

  /** An object that the commit needs and the store lacks; undefined when there is none. Of its parents, the commits. */
  async missingBelow(commit: ObjectId, complete: readonly ObjectId[]): Promise<ObjectId | undefined> {
    const [own, ...others] = await Promise.all([commit, ...complete].map((oid) => this.#linksOf(oid)));
    if (own === undefined) return commit;
    const parent = own.parents.find((oid) => !this.#isPresent(oid));
    return (
      parent ??
      this.#missingInTree(
        own.tree,
        others.flatMap((other) => other?.tree ?? []),
      )
    );
  }

  async #linksOf(commit: ObjectId): Promise<{ tree: ObjectId; parents: ObjectId[] } | undefined> {
    const content = (await this.#reader.find(commit, 'commit'))?.content.toString('latin1') ?? '';
    const [, tree, parents] = /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)/.exec(content) ?? [];
    if (tree === undefined) return undefined;
    return { tree: tree as ObjectId, parents: (parents?.match(/[0-9a-f]{40}/g) ?? []) as ObjectId[] };
  }

  #isPresent(oid: ObjectId): boolean {
    return this.#present.has(Buffer.from(oid, 'hex'));
  }

  /** `others` are complete trees in the same place. */
  async #missingInTree(tree: ObjectId, others: readonly ObjectId[]): Promise<ObjectId | undefined> {
    if (others.includes(tree) || this.#checked.has(tree)) return undefined;
    this.#checked.add(tree);
    const [entries, ...otherEntries] = await Promise.all([tree, ...others].map((oid) => this.#entriesOf(oid)));
    if (entries === undefined) return tree;
    const beside = namesToIds(otherEntries);
    const missing = await Promise.all(
      entries.map((entry) => this.#missingInEntry(entry, beside.get(entry.name) ?? [])),
    );
    return missing.find((oid) => oid !== undefined);
  }

  async #missingInEntry({ mode, oid }: TreeEntry, others: readonly TreeEntry[]): Promise<ObjectId | undefined> {
    if (others.some((other) => other.oid === oid)) return undefined;
    const directories = others.filter((other) => other.mode === directoryMode).map((other) => other.oid);
    if (mode === directoryMode) return this.#missingInTree(oid, directories);
    return this.#isPresent(oid) ? undefined : oid;
  }

  async #entriesOf(tree: ObjectId): Promise<TreeEntry[] | undefined> {
    const found = await this.#reader.find(tree, 'tree');
    return found === undefined ? undefined : decodeTree(found.content);
  }
}

function namesToIds(trees: readonly (readonly TreeEntry[] | undefined)[]): ReadonlyMap<string, readonly TreeEntry[]> {
  const found = new Map<string, TreeEntry[]>();
  for (const entry of trees.flatMap((entries) => entries ?? [])) {
    const same = found.get(entry.name);
    if (same === undefined) found.set(entry.name, [entry]);
    else same.push(entry);
  }
  return found;
}
