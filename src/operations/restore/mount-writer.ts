import { type EntryPath, baseName, parentPath, rootPath } from '../../core/entry-path.js';
import type { EntryStat } from '../../core/entry.js';
import type { WritableDirectory } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import { DirectoryChain } from './directory-chain.js';

/**
 * Writes in a mount by paths: held directories on the way, write permission lent where that is what a directory
 * lacks, and every directory that was written in synced when the work leaves it.
 */
export class MountWriter {
  readonly #root: WritableDirectory;
  readonly #chain: DirectoryChain;
  readonly #touched = new Set<EntryPath>();
  /** Directories with lent permissions and the modes that they get back. */
  readonly #lent: Map<EntryPath, number>;
  readonly #onLend: (path: EntryPath, mode: number) => void;
  /** False while somebody else makes what is written here durable. */
  syncs = true;

  /** @param onLend is called, durably, before a directory's mode is changed for a while */
  constructor(
    root: WritableDirectory,
    lentBefore: ReadonlyMap<EntryPath, number>,
    onLend: (path: EntryPath, mode: number) => void,
  ) {
    this.#root = root;
    this.#lent = new Map(lentBefore);
    this.#onLend = onLend;
    this.#chain = new DirectoryChain(root, (directory, path) => {
      if (this.#touched.delete(path) && this.syncs) directory.sync();
    });
  }

  /** The directory at a path, until another one is asked for. @throws ENOENT, ENOTDIR, ELOOP, EACCES */
  at(path: EntryPath): WritableDirectory {
    return this.#chain.at(path);
  }

  /** Undefined when something above the path is gone or no directory: then the path is not there either. */
  parentOf(path: EntryPath): WritableDirectory | undefined {
    return orUndefined(() => this.#chain.at(parentPath(path)));
  }

  /** A look at another path that leaves the work where it is. */
  statElsewhere(path: EntryPath): EntryStat | undefined {
    return this.elsewhere(path, (directory, name) => directory.stat(name));
  }

  /** Something with another path's directory, while the work stays where it is. Undefined when that is not there. */
  elsewhere<T>(path: EntryPath, act: (directory: WritableDirectory, name: string) => T): T | undefined {
    const chain = new DirectoryChain(this.#root, () => undefined);
    try {
      const directory = orUndefined(() => chain.at(parentPath(path)));
      return directory === undefined ? undefined : act(directory, baseName(path));
    } finally {
      chain.close();
    }
  }

  /** The same with something that takes its time. */
  async visitElsewhere<T>(
    path: EntryPath,
    act: (directory: WritableDirectory, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    const chain = new DirectoryChain(this.#root, () => undefined);
    try {
      const directory = orUndefined(() => chain.at(parentPath(path)));
      return directory === undefined ? undefined : await act(directory, baseName(path));
    } finally {
      chain.close();
    }
  }

  /** Does one thing in the directory that holds the path. */
  write<T>(path: EntryPath, act: (directory: WritableDirectory) => T): T {
    const folder = parentPath(path);
    const directory = this.#chain.at(folder);
    this.#touched.add(folder);
    try {
      return act(directory);
    } catch (error) {
      if (systemCode(error) !== 'EACCES' || !this.#lend(folder, directory)) throw error;
      return act(directory);
    }
  }

  /** Gives a directory its mode for good. */
  setDirectoryMode(path: EntryPath, mode: number): void {
    const directory = this.#chain.at(path);
    if (directory.statSelf().mode !== mode) directory.setOwnMode(mode);
    this.#lent.delete(path);
    this.#touched.add(path);
  }

  /** Gives back what was lent, syncs, and releases all directories but the root. */
  close(): void {
    try {
      this.#giveBack();
    } finally {
      this.#chain.close();
      if (this.#touched.delete(rootPath) && this.syncs) this.#root.sync();
    }
  }

  #lend(path: EntryPath, directory: WritableDirectory): boolean {
    const { mode } = directory.statSelf();
    if ((mode & 0o300) === 0o300) return false;
    if (!this.#lent.has(path)) {
      this.#onLend(path, mode);
      this.#lent.set(path, mode);
    }
    directory.setOwnMode(mode | 0o700);
    return true;
  }

  #giveBack(): void {
    for (const [path, mode] of [...this.#lent].sort(([a], [b]) => (a < b ? 1 : -1))) {
      orUndefined(() => {
        this.#chain.at(path).setOwnMode(mode);
        this.#touched.add(path);
      });
    }
    this.#lent.clear();
  }
}

const notThere: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (notThere.has(systemCode(error))) return undefined;
    throw error;
  }
}
