/*
 * A few trees that name each other again and again stand for more files than anybody can list: ten in each other, each
 * naming the next ten times, for ten thousand million in some kilobytes. No save makes such a snapshot; what stands in a
 * store may be of somebody else's making.
 */

/** What a listing of a tree would come to. Sums of what no machine can hold are still numbers. */
export interface TreeSize {
  readonly entries: number;
  /** Files, links, and directories with nothing in them: each other directory leads to some of these. */
  readonly ends: number;
  /** All paths together. */
  readonly pathBytes: number;
}

export const nothingBelow: TreeSize = { entries: 0, ends: 0, pathBytes: 0 };

/** Together with what one more entry adds, whose own content (of a directory) is `below`. */
export function withEntry(size: TreeSize, name: string, below: TreeSize | null): TreeSize {
  const inside = below ?? nothingBelow;
  return {
    entries: size.entries + 1 + inside.entries,
    ends: size.ends + (inside.entries === 0 ? 1 : inside.ends),
    pathBytes: size.pathBytes + name.length * (1 + inside.entries) + inside.entries + inside.pathBytes,
  };
}

/** No map holds more: nothing that lists a larger snapshot can end well, whoever made it. */
const entriesAtMost = 2 ** 24 - 1;
const pathBytesAtMost = 2 ** 32;

/** Up to here whatever is told is believed: listing it takes a moment. */
const endsBelieved = 50_000;
/** From here on what is told is not enough, where it is nearly all repetition. */
const entriesDoubted = 2 ** 22;

/**
 * Whether a snapshot's tree is larger than any that was saved can be. `files` is what the snapshot says that it stores;
 * what it holds of a session's state is not among them. `distinct` tells how many entries its trees have, each tree
 * counted once; it is asked for where the numbers are odd.
 */
export function isOversized({ entries, ends, pathBytes }: TreeSize, files: number, distinct: () => number): boolean {
  if (entries > entriesAtMost || pathBytes > pathBytesAtMost) return true;
  if (ends > files + endsBelieved && ends > files + endsBelieved + 100 * distinct()) return true;
  return entries > entriesDoubted && entries > 1000 * distinct();
}
