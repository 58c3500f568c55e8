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
  readonly #root: WritableDirectory;
  readonly #name: string;
  readonly #directory: WritableDirectory;
  readonly #made: ReadonlySet<EntryPath>;

  private constructor(root: WritableDirectory, name: string, made: ReadonlySet<EntryPath>) {
    this.#root = root;
    this.#name = name;
    this.#directory = root.enter(name);
    this.#made = made;
  }

  /** Undefined where nothing would wait in it, or where it cannot be made. */
  static make(root: WritableDirectory, prefix: string, changes: readonly Change[]): Staging | undefined {
    const made = changes.filter(({ before, after }) => before === null && after?.kind === 'directory');
    if (made.length === 0) return undefined;
    const name = stagingName(prefix);
    try {
      root.makeDirectory(name);
      return new Staging(root, name, new Set(made.map(({ path }) => path)));
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

  /** What still waits in it stays for a recovery. Where it is empty and cannot go, the restore is not done. */
  remove(): void {
    this.#directory.close();
    try {
      this.#root.removeDirectory(this.#name);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error;
    }
  }
}

/** Removes what an interrupted restore left staged. Names that are not its own are left, and the directory with them. */
export function removeStaged(root: WritableDirectory, prefix: string, isOurs: (name: string) => boolean): void {
  const name = stagingName(prefix);
  const directory = root.enter(name);
  try {
    for (const staged of directory.list()) if (isOurs(staged)) directory.unlink(staged);
  } finally {
    directory.close();
  }
  root.removeDirectory(name);
}

function stagingName(prefix: string): string {
  return `${prefix}0`;
}
