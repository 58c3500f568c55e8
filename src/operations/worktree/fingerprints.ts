import { type EntryPath, joinPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory } from '../../core/ports.js';
import type { PresentFile } from '../../core/present-file.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { contentHash } from './content-hash.js';

/** Ids of files as they are now, their bytes raw. */
export class Fingerprints {
  readonly #context: Context;
  readonly #root: Directory;

  constructor(context: Context, root: Directory) {
    this.#context = context;
    this.#root = root;
  }

  /** Undefined where there is no file or link, or it cannot be read. */
  of(path: EntryPath): ObjectId | undefined {
    return this.#at(path, (directory, name) => contentHash(this.#context, directory, name));
  }

  /** What lies there now; its content is hashed only where it is asked for. */
  present(path: EntryPath): PresentFile | undefined {
    const stat = this.#at(path, (directory, name) => directory.stat(name));
    if (stat === undefined) return undefined;
    const { kind, size, mtimeNs, ctimeNs, ino, mode } = stat;
    const oid = (): ObjectId | undefined => this.of(path);
    return {
      kind,
      size,
      mtimeNs,
      ctimeNs,
      ino,
      mode,
      get oid() {
        return oid();
      },
    } as PresentFile;
  }

  /** Whether the file, or each file of the folder, is as a commit has it. */
  isAsIn(path: EntryPath, files: ReadonlyMap<EntryPath, ObjectId> | null): boolean {
    if (files === null) return false;
    const isSame = (directory: Directory, name: string, at: EntryPath): boolean => {
      if (directory.stat(name)?.kind !== 'directory') {
        const oid = contentHash(this.#context, directory, name);
        return oid !== undefined && files.get(at) === oid;
      }
      const below = directory.enter(name);
      try {
        return below.list().every((each) => isSame(below, each, joinPath(at, each)));
      } finally {
        below.close();
      }
    };
    return this.#at(path, (directory, name) => isSame(directory, name, path)) ?? false;
  }

  #at<Value>(path: EntryPath, act: (directory: Directory, name: string) => Value | undefined): Value | undefined {
    const names = path.split('/');
    const name = names.pop() ?? '';
    const opened: Directory[] = [];
    try {
      let directory = this.#root;
      for (const each of names) opened.push((directory = directory.enter(each)));
      return act(directory, name);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    } finally {
      for (const directory of opened.toReversed()) directory.close();
    }
  }
}
