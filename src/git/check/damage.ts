import { Buffer } from 'node:buffer';

import { type ObjectId, zeroObjectId } from '../../core/ids.js';
import type { Damage, TreeEntry } from '../../core/ports.js';
import { ifSound } from '../if-sound.js';
import type { BatchReader } from '../objects.js';
import { decodeTree, directoryMode } from '../pack/format.js';
import { ObjectTable } from '../pack/object-table.js';

/** How many paths of a snapshot are named. */
const namedAtMost = 10;

/**
 * The commits whose trees need an object that is missing or `unreadable`, with the paths that it concerns. What
 * snapshots share is looked at once. Content is not read: that of blobs counts as sound unless it is said not to be.
 * The reader is closed at the end.
 */
export async function findDamage(
  reader: BatchReader,
  { commits, unreadable }: { readonly commits: readonly ObjectId[]; readonly unreadable: ReadonlySet<ObjectId> },
  onSearched: (commits: number) => void,
): Promise<Map<ObjectId, Damage>> {
  const search = new DamageSearch(reader, unreadable);
  const found = new Map<ObjectId, Damage>();
  try {
    for (const [at, commit] of commits.entries()) {
      const damage = commit === zeroObjectId ? undefined : await search.inCommit(commit);
      if (damage !== undefined) found.set(commit, damage);
      onSearched(at + 1);
    }
  } finally {
    await reader.close();
  }
  return found;
}

class DamageSearch {
  readonly #reader: BatchReader;
  readonly #unreadable: ReadonlySet<ObjectId>;
  /** Blobs that are there, and trees with all below them. */
  readonly #sound = new ObjectTable();
  readonly #damagedTrees = new Map<ObjectId, Damage>();
  readonly #missingBlobs = new Set<ObjectId>();

  constructor(reader: BatchReader, unreadable: ReadonlySet<ObjectId>) {
    this.#reader = reader;
    this.#unreadable = unreadable;
  }

  async inCommit(commit: ObjectId): Promise<Damage | undefined> {
    const content = await ifSound(this.#reader.read(commit, 'commit'));
    const [, tree] = /^tree ([0-9a-f]{40})\n/.exec(content?.content.toString('latin1', 0, 46) ?? '') ?? [];
    return tree === undefined ? wholeTree : this.#inTree(tree as ObjectId);
  }

  async #inTree(oid: ObjectId): Promise<Damage | undefined> {
    const id = Buffer.from(oid, 'hex');
    if (this.#sound.has(id)) return undefined;
    const damage = this.#damagedTrees.get(oid) ?? (await this.#lookInto(oid));
    if (damage !== undefined) this.#damagedTrees.set(oid, damage);
    else if (!this.#sound.has(id)) this.#sound.add(id);
    return damage;
  }

  async #lookInto(oid: ObjectId): Promise<Damage | undefined> {
    const entries = await ifSound(this.#reader.read(oid, 'tree').then(({ content }) => decodeTree(content)));
    if (entries === undefined) return wholeTree;
    const lost = await this.#lostBlobs(entries);
    let total = 0;
    const paths: Damage['paths'][number][] = [];
    for (const { mode, name, oid: entry } of entries) {
      const below = mode === directoryMode ? await this.#inTree(entry) : lost.has(entry) ? wholeFile : undefined;
      if (below === undefined) continue;
      total += below.total;
      for (const { path, kind } of below.paths)
        if (paths.length < namedAtMost) paths.push({ path: path === '' ? name : `${name}/${path}`, kind });
    }
    return total === 0 ? undefined : { total, paths };
  }

  /** All of a directory's files are asked for at once, so that git works ahead. */
  async #lostBlobs(entries: readonly TreeEntry[]): Promise<ReadonlySet<ObjectId>> {
    const blobs = new Set(entries.filter(({ mode }) => isBlob(mode)).map(({ oid }) => oid));
    const lost = await Promise.all([...blobs].map(async (oid) => ((await this.#isLost(oid)) ? [oid] : [])));
    return new Set(lost.flat());
  }

  async #isLost(oid: ObjectId): Promise<boolean> {
    if (this.#unreadable.has(oid) || this.#missingBlobs.has(oid)) return true;
    const id = Buffer.from(oid, 'hex');
    if (this.#sound.has(id)) return false;
    if ((await ifSound(this.#reader.size(oid))) === undefined) {
      this.#missingBlobs.add(oid);
      return true;
    }
    if (!this.#sound.has(id)) this.#sound.add(id);
    return false;
  }
}

const wholeTree: Damage = { total: 1, paths: [{ path: '', kind: 'directory' }] };
const wholeFile: Damage = { total: 1, paths: [{ path: '', kind: 'file' }] };

/** Regular files and links; what else a tree may name is no object of the store, or no snapshot's. */
function isBlob(mode: number): boolean {
  return (mode & 0o170000) === 0o100000 || mode === 0o120000;
}
