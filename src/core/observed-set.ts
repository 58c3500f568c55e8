import type { LeftOutReason } from './entry.js';
import { type EntryPath, Inherited, isWithin, parentPath } from './entry-path.js';
import type { ObservedLine } from './manifest.js';

/**
 * What a snapshot saw of one mount besides what it stored: the ground on which a later restore may delete. A path
 * counts as proven new only if it was not seen and the directory that would hold it was listed to its end.
 */
export class ObservedSet {
  readonly #leftOut = new Map<EntryPath, LeftOutReason>();
  readonly #inherited = new Inherited<LeftOutReason>((path) => this.#leftOut.get(path));
  readonly #incomplete = new Set<EntryPath>();
  readonly #absent = new Set<EntryPath>();
  readonly #directories: (path: EntryPath) => boolean;
  readonly #scope: readonly EntryPath[] | null;

  /**
   * @param directories tells whether the snapshot stores a path as a directory
   * @param scope the paths that the save was limited to, or null
   */
  constructor(
    lines: readonly ObservedLine[],
    directories: (path: EntryPath) => boolean,
    scope: readonly EntryPath[] | null,
  ) {
    this.#directories = directories;
    this.#scope = scope;
    for (const line of lines) {
      if (line.reason === 'incomplete') this.#incomplete.add(line.path);
      else if (line.reason === 'absent') this.#absent.add(line.path);
      else this.#leftOut.set(line.path, line.reason);
    }
  }

  get leftOut(): ReadonlyMap<EntryPath, LeftOutReason> {
    return this.#leftOut;
  }

  get absent(): ReadonlySet<EntryPath> {
    return this.#absent;
  }

  /** Why the path, or a directory above it, was left out; undefined when it was not. */
  leftOutAt(path: EntryPath): LeftOutReason | undefined {
    return this.#leftOut.size === 0 ? undefined : this.#inherited.at(path);
  }

  /** True when the snapshot proves that nothing of this name was there. The path is known not to be stored. */
  provesAbsence(path: EntryPath): boolean {
    if (this.leftOutAt(path) !== undefined) return false;
    for (let at = path; at !== ''; at = parentPath(at)) {
      if (this.#absent.has(at)) return true;
      const parent = parentPath(at);
      if (this.#directories(parent)) return !this.#incomplete.has(parent) && this.#listed(parent);
    }
    return false;
  }

  /** A save that was limited to paths has listed only what lies at or below them. */
  #listed(directory: EntryPath): boolean {
    return this.#scope === null || this.#scope.some((limit) => isWithin(directory, limit));
  }
}
