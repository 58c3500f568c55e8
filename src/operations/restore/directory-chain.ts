import { type EntryPath, isWithin, joinPath, rootPath } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';

/**
 * The held directories from a root down to where the work is. Paths that are worked on in order share most of the way.
 */
export class DirectoryChain {
  readonly #root: WritableDirectory;
  readonly #open: { readonly path: EntryPath; readonly directory: WritableDirectory }[] = [];
  readonly #onLeave: (directory: WritableDirectory, path: EntryPath) => void;

  /** @param onLeave is called with each directory below the root just before it is released */
  constructor(root: WritableDirectory, onLeave: (directory: WritableDirectory, path: EntryPath) => void) {
    this.#root = root;
    this.#onLeave = onLeave;
  }

  /** The directory at `path`, component by component, no link followed. @throws ENOENT, ENOTDIR, ELOOP, EACCES */
  at(path: EntryPath): WritableDirectory {
    while (!isWithin(path, this.#path)) this.#leave();
    if (path === this.#path) return this.#here();
    for (const name of path.slice(this.#path === rootPath ? 0 : this.#path.length + 1).split('/')) {
      const directory = this.#here().enter(name);
      this.#open.push({ path: joinPath(this.#path, name), directory });
    }
    return this.#here();
  }

  close(): void {
    while (this.#open.length > 0) this.#leave();
  }

  get #path(): EntryPath {
    return this.#open.at(-1)?.path ?? rootPath;
  }

  #here(): WritableDirectory {
    return this.#open.at(-1)?.directory ?? this.#root;
  }

  #leave(): void {
    const last = this.#open.pop();
    if (last === undefined) return;
    try {
      this.#onLeave(last.directory, last.path);
    } finally {
      last.directory.close();
    }
  }
}
