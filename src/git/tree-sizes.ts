import { Buffer } from 'node:buffer';

import type { ObjectId } from '../core/ids.js';
import { openMessage } from '../core/snapshot-record.js';
import { type TreeSize, isOversized, nothingBelow, withEntry } from '../core/tree-size.js';
import { isSnapError } from '../errors.js';
import { ifSound } from './if-sound.js';
import type { BatchReader } from './objects.js';
import { decodeTree, directoryMode } from './pack/format.js';

/**
 * The commits among these whose files are more than a snapshot can hold, since their trees name each other over and
 * over. Each tree is read once, whatever number of trees and commits name it. What is missing or damaged counts as
 * empty: that is for others to find.
 */
export async function oversizedAmong(reader: BatchReader, commits: readonly ObjectId[]): Promise<Set<ObjectId>> {
  const trees = new TreeSizes(reader);
  const oversized = new Set<ObjectId>();
  for (const commit of commits) if (await trees.isOversizedIn(commit)) oversized.add(commit);
  return oversized;
}

/** A tree as it was read. */
interface Content {
  readonly entries: number;
  readonly size: TreeSize;
  /** The trees in it, with their names. */
  readonly trees: readonly { readonly name: string; readonly oid: ObjectId }[];
}

const unreadable: Content = { entries: 0, size: nothingBelow, trees: [] };

class TreeSizes {
  readonly #reader: BatchReader;
  /** What is in each tree itself: its size is that of its files alone. */
  readonly #contents = new Map<ObjectId, Content>();
  readonly #sizes = new Map<ObjectId, TreeSize>();

  constructor(reader: BatchReader) {
    this.#reader = reader;
  }

  async isOversizedIn(commit: ObjectId): Promise<boolean> {
    const text = (await ifSound(this.#reader.find(commit, 'commit')))?.content.toString('utf8') ?? '';
    const [, root] = /^tree ([0-9a-f]{40})\n/.exec(text) ?? [];
    if (root === undefined) return false;
    const parts = (await this.#read(root as ObjectId)).trees;
    const files = filesToldIn(text);
    for (const { name, oid } of parts)
      if (await (name === 'mounts' ? this.#isOversized(oid, files) : this.#isBesideOversized(name, oid))) return true;
    return false;
  }

  async #isOversized(tree: ObjectId, files: number): Promise<boolean> {
    await this.#readBelow(tree);
    return isOversized(this.#sizeOf(tree), files, () => this.#distinctBelow(tree));
  }

  /**
   * Beside its files a snapshot holds no deep tree, apart from those of repositories. What these stand for is for the
   * repository to say, and whoever works in it can commit what no one can list: they are read tree by tree, each once,
   * and no reason to refuse the files beside them.
   */
  async #isBesideOversized(name: string, tree: ObjectId): Promise<boolean> {
    // Each tree of a level by the way to it, and how often a listing would come to it.
    let level = [{ oid: tree, way: [name], times: 1 }];
    let listed = 0;
    while (level.length > 0) {
      const below = new Map<string, (typeof level)[number]>();
      for (const { oid, way, times } of level) {
        if (leadsFrom(way)) {
          if (await this.#isOversized(oid, 0)) return true;
          continue;
        }
        if (way.length === wayToRepositories.length) continue;
        const { entries, trees } = await this.#read(oid);
        listed += entries * times;
        for (const inside of trees) {
          const onward = [...way, inside.name];
          const key = keyOf(onward, inside.oid);
          below.set(key, { oid: inside.oid, way: onward, times: times + (below.get(key)?.times ?? 0) });
        }
      }
      if (listed > listedAtMost) return true;
      level = [...below.values()];
    }
    return false;
  }

  /** Level by level, so that git works ahead. */
  async #readBelow(tree: ObjectId): Promise<void> {
    for (let level = [tree]; level.length > 0;) {
      const unread = [...new Set(level)].filter((oid) => !this.#contents.has(oid));
      this.#reader.expect(unread);
      level = [];
      for (const oid of unread) for (const inside of (await this.#read(oid)).trees) level.push(inside.oid);
    }
  }

  async #read(oid: ObjectId): Promise<Content> {
    const known = this.#contents.get(oid);
    if (known !== undefined) return known;
    const entries = await ifSound(
      this.#reader.find(oid, 'tree').then((found) => decodeTree(found?.content ?? nothing)),
    );
    const content = entries === undefined ? unreadable : contentOf(entries);
    this.#contents.set(oid, content);
    return content;
  }

  /** Each tree after those in it, without calls in each other: a tree may be very deep. */
  #sizeOf(tree: ObjectId): TreeSize {
    const open = [{ oid: tree, at: 0 }];
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const { size, trees } = this.#contents.get(last.oid) ?? unreadable;
      const inside = trees[last.at];
      if (inside !== undefined && !this.#sizes.has(last.oid)) {
        last.at += 1;
        if (!this.#sizes.has(inside.oid)) open.push({ oid: inside.oid, at: 0 });
        continue;
      }
      const below = (oid: ObjectId): TreeSize => this.#sizes.get(oid) ?? nothingBelow;
      this.#sizes.set(
        last.oid,
        trees.reduce((sum, { name, oid }) => withEntry(sum, name, below(oid)), size),
      );
      open.pop();
    }
    return this.#sizes.get(tree) ?? nothingBelow;
  }

  #distinctBelow(tree: ObjectId): number {
    const seen = new Set([tree]);
    let count = 0;
    for (const oid of seen) {
      const { entries, trees } = this.#contents.get(oid) ?? unreadable;
      count += entries;
      for (const inside of trees) seen.add(inside.oid);
    }
    return count;
  }
}

const nothing = Buffer.alloc(0);

/** Names on the way to the trees of repositories; null for any. */
const wayToRepositories = ['meta', 'mounts', null, 'git', 'trees', null, null];

function leadsFrom(way: readonly string[]): boolean {
  return way.some((name, at) => (wayToRepositories[at] ?? name) !== name);
}

/** One for all ways to a tree that mean the same. */
function keyOf(way: readonly string[], oid: ObjectId): string {
  return leadsFrom(way) ? `- ${oid}` : `${String(way.length)} ${oid}`;
}

const listedAtMost = 2 ** 22;

function contentOf(entries: ReturnType<typeof decodeTree>): Content {
  const trees = entries.filter(({ mode }) => mode === directoryMode).map(({ name, oid }) => ({ name, oid }));
  const others = entries.filter(({ mode }) => mode !== directoryMode);
  const size = others.reduce((sum, { name }) => withEntry(sum, name, null), nothingBelow);
  return { entries: entries.length, size, trees };
}

/** What the commit's message says that the snapshot stores. */
function filesToldIn(commit: string): number {
  try {
    return openMessage(commit.slice(commit.indexOf('\n\n') + 2)).decode().files;
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return 0;
    throw error;
  }
}
