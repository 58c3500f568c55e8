import { type EntryPath, parentPath, rootPath } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import type { Change } from '../../core/restore-plan.js';
import { systemCode } from '../../errors.js';

/**
 * A directory at the root of a mount in which the files of a restore wait until they are durable: those whose own
 * directories the restore makes. Making them all in one place takes a fraction of the time that making each in its own
 * takes, since file systems keep the files of one directory together on the disk, and directories apart.
 */
export class Staging {
  readonly #directory: WritableDirectory;
  readonly #made: ReadonlySet<EntryPath>;

  private constructor(directory: WritableDirectory, made: ReadonlySet<EntryPath>) {
    this.#directory = directory;
    this.#made = made;
  }

  /** Undefined where nothing would wait in it, or where it cannot be made. */
  static make(root: WritableDirectory, name: string, changes: readonly Change[]): Staging | undefined {
    const made = changes.filter(({ before, after }) => before === null && after?.kind === 'directory');
    if (made.length === 0) return undefined;
    try {
      root.makeDirectory(name);
      return new Staging(root.enter(name), new Set(made.map(({ path }) => path)));
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Where a file for the path is to wait, unless that is beside it. */
  of(path: EntryPath): WritableDirectory | undefined {
    const parent = parentPath(path);
    return parent !== rootPath && this.#made.has(parent) ? this.#directory : undefined;
  }

  /** It is taken away, with all other temporary names, by `Temporaries`. */
  close(): void {
    this.#directory.close();
  }
}
