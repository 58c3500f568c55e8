import type { EntryStat, ObservedOnly } from '../../core/entry.js';
import { type EntryPath, isWithin, parentPath, rootPath } from '../../core/entry-path.js';
import type { AttributeLine } from '../../core/manifest.js';
import type {
  ObjectWriter,
  RecordedDirectory,
  RecordedEntry,
  RecordedPart,
  RecordedSubtree,
  StatCacheNotes,
  UnchangedParts,
} from '../../core/ports.js';
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
  /** These subtrees and nothing else; null for all that is as recorded. */
  readonly only: ReadonlySet<EntryPath> | null;
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
    if (this.#source.only?.has(path) === false) return undefined;
    return this.#ifStored(this.#source.parts.subtree(path, rules), (folder) => isWithin(folder, path));
  }

  /** What to take over of a directory although something below it has changed. */
  in(path: EntryPath, rules: string, stat: EntryStat): RecordedDirectory | undefined {
    if (this.#source.only !== null) return undefined;
    return this.#ifStored(this.#source.parts.directory(path, rules, stat), (folder) => isWithin(path, folder));
  }

  #ifStored<Part extends RecordedPart>(
    part: Part | undefined,
    isTouched: (folder: EntryPath) => boolean,
  ): Part | undefined {
    if (part === undefined || this.#source.changedRepositories.some(isTouched)) return undefined;
    return part.tree === undefined || this.#source.writer.has(part.tree) ? part : undefined;
  }

  /** What was left out in the walk and in what it took over, as one walk would list it. */
  withLeftOut(walked: readonly ObservedOnly[], taken: TakenOver): readonly ObservedOnly[] {
    return inOrderOfWalk([...walked, ...taken.linesIn(this.notes.leftOut)]);
  }

  withTallies(walked: CaptureStats, taken: TakenOver): CaptureStats {
    const stats = { ...walked };
    for (const part of taken.parts()) {
      const { files, links, bytes } = part.tally();
      stats.filesObserved += files + links;
      stats.filesStored += files + links;
      stats.filesReused += files;
      stats.bytesStored += bytes;
    }
    stats.filesObserved += taken.linesIn(this.notes.leftOut).filter(({ directory }) => !directory).length;
    return stats;
  }

  /** Attribute lines of what was taken over. */
  attributesOf(taken: TakenOver): AttributeLine[] {
    return taken.linesIn(this.notes.attributes);
  }
}

/** What a walk took over as it was recorded. */
export class TakenOver {
  readonly #subtrees = new Map<EntryPath, RecordedSubtree>();
  readonly #directories = new Map<EntryPath, RecordedDirectory>();
  /** Subdirectories of those directories that were walked. */
  readonly #walked = new Set<EntryPath>();

  addSubtree(subtree: RecordedSubtree): void {
    this.#subtrees.set(subtree.path, subtree);
  }

  /** @param walked its subdirectories that are not taken over, or not whole */
  addDirectory(directory: RecordedDirectory, walked: readonly EntryPath[]): void {
    this.#directories.set(directory.path, directory);
    for (const path of walked) this.#walked.add(path);
  }

  get isEmpty(): boolean {
    return this.#subtrees.size === 0 && this.#directories.size === 0;
  }

  /** True when the whole mount is as it was. */
  get isWhole(): boolean {
    return this.#subtrees.has(rootPath);
  }

  /** True when these subtrees were taken over, and nothing else. */
  isExactly(subtrees: ReadonlySet<EntryPath>): boolean {
    if (this.#directories.size > 0 || this.#subtrees.size !== subtrees.size) return false;
    return [...subtrees].every((path) => this.#subtrees.has(path));
  }

  *parts(): Generator<RecordedPart> {
    yield* this.#subtrees.values();
    yield* this.#directories.values();
  }

  /** The subtree that the path is in, or at the top of. */
  subtreeAround(path: EntryPath): RecordedSubtree | undefined {
    for (let at = path; ; at = parentPath(at)) {
      const subtree = this.#subtrees.get(at);
      if (subtree !== undefined || at === rootPath) return subtree;
    }
  }

  /** The stored file or link at a path in what was taken over. */
  find(path: EntryPath): RecordedEntry | undefined {
    const part = this.subtreeAround(path) ?? this.#directories.get(parentPath(path));
    return part?.find(path);
  }

  /** Of lines about a mount as it was recorded those about what was taken over. */
  linesIn<Line extends { readonly path: EntryPath }>(lines: readonly Line[]): Line[] {
    return lines.filter(({ path }) => {
      if (this.subtreeAround(path) !== undefined) return true;
      return path !== rootPath && this.#directories.has(parentPath(path)) && !this.#walked.has(path);
    });
  }
}

/** Files whose blobs, as they are recorded, hold data ranges. */
export function pathsByRanges(notes: StatCacheNotes | undefined): ReadonlySet<EntryPath> {
  const lines = notes?.attributes ?? [];
  return new Set(lines.filter(({ size }) => size !== undefined).map(({ path }) => path));
}

/** True when a file that was walked has another name in what was taken over: their group is known to neither alone. */
export function isLinkGroupParted(walked: Iterable<Captured>, taken: TakenOver): boolean {
  const inodes = new Set<number>();
  for (const part of taken.parts()) for (const inode of part.tally().linked) inodes.add(inode);
  if (inodes.size === 0) return false;
  for (const { kind, stat } of walked)
    if (kind !== 'directory' && stat.nlink > 1 && inodes.has(Number(stat.ino))) return true;
  return false;
}

/** Depth first, names in byte order: a slash comes before every other byte. */
export function inOrderOfWalk<Line extends { readonly path: EntryPath }>(lines: readonly Line[]): Line[] {
  const keyed = lines.map((line) => ({ line, key: line.path.replaceAll('/', '\0') }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ line }) => line);
}
