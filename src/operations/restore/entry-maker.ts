import type { StoredEntry, StoredFile, StoredSymlink } from '../../core/entry.js';
import { type EntryPath, baseName, parentPath, rootPath } from '../../core/entry-path.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import { hasAttributes } from './entry-state.js';
import type { MountWriter } from './mount-writer.js';
import { writeFileContent } from './write-content.js';

/** A link text is no longer than a path may be. */
const linkTextAtMost = 65_536;

/**
 * Makes entries so that no half-made one ever has its final name, and none that came meanwhile is replaced: files are
 * written under a temporary name, private until their mode is set, synced, and then put in place.
 */
export class EntryMaker {
  readonly #writer: MountWriter;
  readonly #reader: Pick<ObjectReader, 'stream' | 'read'>;
  readonly #temporaryPrefix: string;
  readonly ownersNotSet: EntryPath[] = [];
  bytesWritten = 0;
  #temporaries = 0;

  constructor(writer: MountWriter, reader: Pick<ObjectReader, 'stream' | 'read'>, temporaryPrefix: string) {
    this.#writer = writer;
    this.#reader = reader;
    this.#temporaryPrefix = temporaryPrefix;
  }

  /**
   * @param replace something that a rename may replace has the name now
   * @param mayLink tells whether the first path of the entry's link group has the content that is the entry's
   */
  async make(
    path: EntryPath,
    entry: StoredEntry,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<void> {
    switch (entry.kind) {
      case 'directory':
        this.#writer.write(path, (directory) => {
          directory.makeDirectory(baseName(path));
        });
        return;
      case 'symlink':
        await this.#makeSymlink(path, entry, replace, mayLink);
        this.setAttributes(path, entry);
        return;
      case 'file':
        await this.#makeFile(path, entry, replace, mayLink);
    }
  }

  /** Owner and mode of an entry that has its content. A directory's mode is set when all in it is done. */
  setAttributes(path: EntryPath, entry: StoredEntry): void {
    const name = baseName(path);
    this.#writer.write(path, (directory) => {
      const stat = directory.stat(name);
      if (stat === undefined || hasAttributes(stat, entry)) return;
      const sameOwner = stat.uid === entry.uid && stat.gid === entry.gid;
      if (!sameOwner && !directory.setOwner(name, entry.uid, entry.gid)) this.ownersNotSet.push(path);
      // A change of owner clears set-id bits, so the mode comes second.
      if (entry.kind === 'file') directory.setMode(name, entry.mode);
    });
  }

  setRootOwner({ uid, gid }: StoredEntry): void {
    const root = this.#writer.at(rootPath);
    const stat = root.statSelf();
    if ((stat.uid !== uid || stat.gid !== gid) && !root.setOwnOwner(uid, gid)) this.ownersNotSet.push(rootPath);
  }

  async #makeSymlink(
    path: EntryPath,
    entry: StoredSymlink,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<void> {
    const name = replace ? this.#temporaryName() : baseName(path);
    if (!(await this.#linkToFirst(path, entry, name, mayLink))) {
      const { content } = await this.#reader.read(entry.oid, 'blob', linkTextAtMost);
      this.#writer.write(path, (directory) => {
        directory.makeSymlink(name, content.toString('latin1'));
      });
    }
    if (replace) this.#place(path, name, true);
  }

  async #makeFile(
    path: EntryPath,
    entry: StoredFile,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<void> {
    const temporary = this.#temporaryName();
    if (!(await this.#linkToFirst(path, entry, temporary, mayLink))) await this.#writeNew(path, temporary, entry);
    this.#place(path, temporary, replace);
  }

  #place(path: EntryPath, temporary: string, replace: boolean): void {
    const directory = this.#writer.at(parentPath(path));
    try {
      if (replace) directory.rename(temporary, baseName(path));
      else placeWithoutReplacing(directory, temporary, baseName(path));
    } catch (error) {
      directory.unlink(temporary);
      throw error;
    }
  }

  async #writeNew(path: EntryPath, temporary: string, entry: StoredFile): Promise<void> {
    const file = this.#writer.write(path, (directory) => directory.createFile(temporary));
    let finishing = false;
    try {
      await writeFileContent(this.#reader, entry, file);
      if (!file.setOwner(entry.uid, entry.gid)) this.ownersNotSet.push(path);
      file.setMode(entry.mode);
      finishing = true;
      file.finish();
    } catch (error) {
      if (!finishing) file.abandon();
      this.#writer.at(parentPath(path)).unlink(temporary);
      throw error;
    }
    this.bytesWritten += entry.size;
  }

  /** True when `made` now is another name of the group's first path, which has the entry's attributes. */
  async #linkToFirst(
    path: EntryPath,
    entry: StoredFile | StoredSymlink,
    made: string,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<boolean> {
    const first = entry.linkedTo;
    if (first === undefined || first === path || !(await mayLink(first))) return false;
    const linked = this.#writer.elsewhere(first, (from, name) => {
      const stat = from.stat(name);
      if (stat?.kind !== entry.kind || stat.size !== entry.size || !hasAttributes(stat, entry)) return false;
      try {
        this.#writer.write(path, (directory) => {
          directory.link(from, name, made);
        });
        return true;
      } catch (error) {
        if (isLinkless(error)) return false;
        throw error;
      }
    });
    return linked === true;
  }

  #temporaryName(): string {
    this.#temporaries += 1;
    return `${this.#temporaryPrefix}${String(this.#temporaries)}`;
  }
}

/** The file system has no hard links, or not here. */
function isLinkless(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS', 'EXDEV'].includes(systemCode(error) ?? '');
}

/** A link fails where a rename would replace what came meanwhile. */
function placeWithoutReplacing(directory: WritableDirectory, temporary: string, name: string): void {
  try {
    directory.link(directory, temporary, name);
  } catch (error) {
    if (!isLinkless(error)) throw error;
    directory.rename(temporary, name);
    return;
  }
  directory.unlink(temporary);
}
