import { type EntryPath, baseName, joinPath, parentPath } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import type { Kept } from '../../core/restore-plan.js';
import type { MountWriter } from './mount-writer.js';

/** A temporary name that could not be taken away, and the system's code for why. */
export interface LeftName {
  readonly path: EntryPath;
  readonly problem: string;
}

/**
 * The temporary names of a restore in one mount: gives them out, takes them away, and keeps account of those that cannot
 * be taken away, so that no restore ends as done while one of them is there.
 */
export class Temporaries {
  /** The directory at the mount's root in which files wait together. */
  readonly staging: EntryPath;
  readonly #writer: MountWriter;
  readonly #prefix: string;
  readonly #mayStay: boolean;
  readonly #left = new Map<EntryPath, unknown>();
  /** One of those for each folder that has any. */
  readonly #leftIn = new Map<EntryPath, EntryPath>();
  /** Folders that could not be looked into. */
  readonly #unseen = new Set<EntryPath>();
  #mayBeStaged = false;
  #last = 0;

  /** @param mayStay names are given out also where none can be taken away */
  constructor(writer: MountWriter, prefix: string, mayStay: boolean) {
    this.#writer = writer;
    this.#prefix = prefix;
    this.#mayStay = mayStay;
    this.staging = `${prefix}0` as EntryPath;
  }

  /**
   * A path in the folder that nothing has.
   * @throws the system's error where a name in the folder could not be taken away: each further one would be left, too
   */
  newPath(folder: EntryPath): EntryPath {
    const left = this.#leftIn.get(folder);
    if (left !== undefined && !this.#mayStay && !this.remove(left)) throw this.#left.get(left);
    this.#last += 1;
    return joinPath(folder, `${this.#prefix}${String(this.#last)}`);
  }

  /** The staging directory was made: it goes with the next sweep. */
  staged(): void {
    this.#mayBeStaged = true;
  }

  /** False where it cannot be taken away now: `sweep` tries again. */
  remove(path: EntryPath): boolean {
    const failure = this.#attempt(path, (directory, name) => {
      directory.unlink(name);
    });
    return failure === undefined || isGone(failure) ? this.#forget(path) : this.#note(path, failure);
  }

  /** Takes away what an interrupted run left in these folders, and in the staging directory. */
  sweepEarlier(folders: Iterable<EntryPath>): void {
    this.#mayBeStaged = true;
    for (const folder of [this.staging, ...folders]) this.#sweepFolder(folder);
    this.#removeStaging();
  }

  /** Once more what could not be taken away before, and the staging directory. */
  sweep(): void {
    for (const path of [...this.#left.keys()]) if (path !== this.staging) this.remove(path);
    for (const folder of [...this.#unseen]) this.#sweepFolder(folder);
    this.#removeStaging();
  }

  get left(): LeftName[] {
    return [...this.#left].map(([path, error]) => ({ path, problem: systemCode(error) ?? '' }));
  }

  #sweepFolder(folder: EntryPath): void {
    for (const name of this.#namesIn(folder)) {
      if (!name.startsWith(this.#prefix)) continue;
      const number = name.slice(this.#prefix.length);
      if (!/^\d+$/.test(number)) continue;
      this.#last = Math.max(this.#last, Number(number));
      this.remove(joinPath(folder, name));
    }
  }

  #namesIn(folder: EntryPath): readonly string[] {
    try {
      const names = this.#writer.at(folder).list();
      this.#unseen.delete(folder);
      return names;
    } catch (error) {
      // What is to be done in a folder that stays shut is named as not permitted.
      if (systemCode(error) === 'EACCES') this.#unseen.add(folder);
      else if (!isGone(error)) throw error;
      return [];
    }
  }

  /** Where it holds names that are not its own, it is left with them. */
  #removeStaging(): void {
    if (!this.#mayBeStaged) return;
    const failure = this.#attempt(this.staging, (root, name) => {
      root.removeDirectory(name);
    });
    this.#mayBeStaged = failure !== undefined;
    if (failure === undefined || isGone(failure) || isFilled(failure)) this.#forget(this.staging);
    else this.#note(this.staging, failure);
  }

  /** The system's error of `act`. What else fails (a sync on the way there, the journal) ends the restore. */
  #attempt(path: EntryPath, act: (directory: WritableDirectory, name: string) => void): unknown {
    const name = baseName(path);
    try {
      this.#writer.at(parentPath(path));
    } catch (error) {
      if (isGone(error) || systemCode(error) === 'EACCES') return error;
      throw error;
    }
    let failure: unknown;
    try {
      this.#writer.write(path, (directory) => {
        try {
          act(directory, name);
        } catch (error) {
          // A file system that is read-only says so of what is not there, too.
          if (systemCode(error) !== undefined && directory.stat(name) === undefined) return;
          failure = error;
          throw error;
        }
      });
      return undefined;
    } catch (error) {
      if (error !== failure || systemCode(error) === undefined) throw error;
      return error;
    }
  }

  #note(path: EntryPath, error: unknown): false {
    this.#left.set(path, error);
    this.#leftIn.set(parentPath(path), path);
    return false;
  }

  #forget(path: EntryPath): true {
    this.#left.delete(path);
    if (this.#leftIn.get(parentPath(path)) === path) this.#leftIn.delete(parentPath(path));
    return true;
  }
}

/** Named among what could not be done. */
export function leftAsKept(left: readonly LeftName[]): Kept[] {
  return left.map(({ path }) => ({ path, reason: 'temporary_left' }));
}

/** It is not there, or a directory that somebody else gave the name. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR'].includes(systemCode(error) ?? '');
}

function isFilled(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '');
}
