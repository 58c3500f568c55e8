import type { ObservedOnly } from '../../core/entry.js';
import { type EntryPath, isWithin, parentPath, rootPath } from '../../core/entry-path.js';
import type { AttributeLine } from '../../core/manifest.js';
import type { ObjectWriter, RecordedSubtree, StatCacheNotes, UnchangedParts } from '../../core/ports.js';
import type { CaptureStats, Captured } from './level.js';

/*
 * Subtrees that the last save recorded and in which nothing has changed since: a walk takes them over whole, so that
 * its cost goes with what changed.
 */

export interface GraftSource {
  readonly parts: UnchangedParts;
  readonly notes: StatCacheNotes;
  /** Folders of recorded repositories that are not as they were: what lies around them is walked. */
  readonly changedRepositories: readonly EntryPath[];
  readonly writer: Pick<ObjectWriter, 'has'>;
}

export class Grafts {
  readonly #source: GraftSource;

  constructor(source: GraftSource) {
    this.#source = source;
  }

  get notes(): StatCacheNotes {
    return this.#source.notes;
  }

  /** The subtree to take over at the path, where rules with this key let it in. */
  at(path: EntryPath, rules: string): RecordedSubtree | undefined {
    const { parts, changedRepositories, writer } = this.#source;
    const subtree = parts.subtree(path, rules);
    if (subtree === undefined || changedRepositories.some((folder) => isWithin(folder, path))) return undefined;
    return subtree.tree === undefined || writer.has(subtree.tree) ? subtree : undefined;
  }

  /** What was left out in the walk and in what it took over, as one walk would list it. */
  withLeftOut(walked: readonly ObservedOnly[], grafted: readonly RecordedSubtree[]): readonly ObservedOnly[] {
    return inOrderOfWalk([...walked, ...recordedWithin(this.notes.leftOut, grafted)]);
  }

  withTallies(walked: CaptureStats, grafted: readonly RecordedSubtree[]): CaptureStats {
    const stats = { ...walked };
    for (const subtree of grafted) {
      const { files, links, bytes } = subtree.tally();
      stats.filesObserved += files + links;
      stats.filesStored += files + links;
      stats.filesReused += files;
      stats.bytesStored += bytes;
    }
    const leftOut = recordedWithin(this.notes.leftOut, grafted);
    stats.filesObserved += leftOut.filter(({ directory }) => !directory).length;
    return stats;
  }

  /** Attribute lines of what was taken over. */
  attributesOf(grafted: readonly RecordedSubtree[]): AttributeLine[] {
    return recordedWithin(this.notes.attributes, grafted);
  }
}

/** True when a file that was walked has another name in what was taken over: their group is known to neither alone. */
export function isLinkGroupParted(walked: Iterable<Captured>, grafted: readonly RecordedSubtree[]): boolean {
  const inodes = new Set(grafted.flatMap((subtree) => subtree.tally().linked));
  if (inodes.size === 0) return false;
  for (const { kind, stat } of walked)
    if (kind !== 'directory' && stat.nlink > 1 && inodes.has(Number(stat.ino))) return true;
  return false;
}

/** True for a path at or below one of the subtrees. */
export function isGrafted(path: EntryPath, grafted: ReadonlySet<EntryPath>): boolean {
  for (let at = path; ; at = parentPath(at)) {
    if (grafted.has(at)) return true;
    if (at === rootPath) return false;
  }
}

function recordedWithin<Line extends { readonly path: EntryPath }>(
  lines: readonly Line[],
  grafted: readonly RecordedSubtree[],
): Line[] {
  const paths = new Set(grafted.map(({ path }) => path));
  return lines.filter(({ path }) => isGrafted(path, paths));
}

/** Depth first, names in byte order: a slash comes before every other byte. */
export function inOrderOfWalk<Line extends { readonly path: EntryPath }>(lines: readonly Line[]): Line[] {
  const keyed = lines.map((line) => ({ line, key: line.path.replaceAll('/', '\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ line }) => line);
}
