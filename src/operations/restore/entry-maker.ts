import type { EntryStat, StoredEntry, StoredFile, StoredSymlink } from '../../core/entry.js';
import { type EntryPath, baseName, joinPath, parentPath } from '../../core/entry-path.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { Change } from '../../core/restore-plan.js';
import type { MadeFile, RestoreThreads } from '../../core/restore-threads.js';
import { systemCode } from '../../errors.js';
import { hasAttributes } from './entry-state.js';
import type { MountWriter } from './mount-writer.js';
import type { Staging } from './staging.js';
import type { Temporaries } from './temporaries.js';
import { writeFileContent } from './write-content.js';

/** A link text is no longer than a path may be. */
const linkTextAtMost = 65_536;

/**
 * Makes entries so that no half-made one ever has its final name, and none that came meanwhile is replaced: files are
 * written under a temporary name, private until their mode is set, synced, and then put in place. Many files are synced
 * together: each then waits under its temporary name until `place` is called.
 */
export class EntryMaker {
  readonly #writer: MountWriter;
  readonly #reader: Pick<ObjectReader, 'stream' | 'read'>;
  readonly #temporaries: Temporaries;
  /** Whether files wait to be placed, and are made durable by the caller. */
  defers = false;
  /** Where files of new directories wait, if they wait. */
  staging: Staging | undefined;
  /** Attributes were set that only a sync of the whole file system makes durable. */
  unsynced = false;
  /** Who may make those in its place. */
  threads: RestoreThreads | undefined;
  readonly ownersNotSet: Set<EntryPath> = new Set<EntryPath>();
  /** Paths that keep an owner which is not the snapshot's. */
  ownersKept: ReadonlySet<EntryPath> = new Set();
  /** Of files that have their final name. */
  bytesWritten = 0;

  constructor(writer: MountWriter, reader: Pick<ObjectReader, 'stream' | 'read'>, temporaries: Temporaries) {
    this.#writer = writer;
    this.#reader = reader;
    this.#temporaries = temporaries;
  }

  /**
   * @param replace something that a rename may replace has the name now
   * @param mayLink tells whether the first path of the entry's link group has the content that is the entry's
   * @returns a file that waits to be placed
   */
  async make(
    path: EntryPath,
    entry: StoredEntry,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<Temporary | undefined> {
    switch (entry.kind) {
      case 'directory':
        this.#writer.write(path, (directory) => {
          directory.makeDirectory(baseName(path));
        });
        return undefined;
      case 'symlink':
        await this.#makeSymlink(path, entry, replace, mayLink);
        return undefined;
      case 'file':
        return this.#makeFile(path, entry, replace, mayLink);
    }
  }

  /**
   * Owner and mode of the entry that was seen and has its content. A directory's mode is set when all in it is done.
   * False when another one has its name by now.
   */
  setAttributes(path: EntryPath, entry: StoredEntry, seen: EntryStat): boolean {
    if (hasAttributes(seen, entry)) return true;
    const { uid, gid } = entry;
    const wanted = { uid, gid, mode: entry.kind === 'file' ? entry.mode : null };
    const outcome = this.#writer.write(path, (directory) => directory.setAttributes(baseName(path), seen, wanted));
    if (outcome === 'owner_refused') this.ownersNotSet.add(path);
    if (outcome === 'another') return false;
    // Not every file system writes the inode of a file when its directory is synced.
    if (this.#writer.syncs && !this.#writer.at(parentPath(path)).syncFile(baseName(path), seen)) this.unsynced = true;
    return true;
  }

  setDirectoryOwner(path: EntryPath, { uid, gid }: StoredEntry): void {
    const directory = this.#writer.at(path);
    const stat = directory.statSelf();
    if ((stat.uid !== uid || stat.gid !== gid) && !directory.setOwnOwner(uid, gid)) this.ownersNotSet.add(path);
  }

  async #makeSymlink(
    path: EntryPath,
    entry: StoredSymlink,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<void> {
    if (!replace) {
      await this.#makeNewSymlink(path, entry, path, mayLink);
      return;
    }
    const temporary = { path: this.#temporaries.newPath(parentPath(path)), staged: undefined, bytes: 0 };
    try {
      await this.#makeNewSymlink(path, entry, temporary.path, mayLink);
    } catch (error) {
      this.discard(temporary);
      throw error;
    }
    this.place(path, temporary, true);
  }

  /** @param made where the link is made: the entry's path, or a temporary one beside it */
  async #makeNewSymlink(
    path: EntryPath,
    entry: StoredSymlink,
    made: EntryPath,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<void> {
    const name = baseName(made);
    if (await this.#linkToFirst(path, entry, name, mayLink)) return;
    const { content } = await this.#reader.read(entry.oid, 'blob', linkTextAtMost);
    this.#writer.write(path, (directory) => {
      directory.makeSymlink(name, content.toString('latin1'));
    });
    this.#giveLinkAway(path, name, entry);
  }

  #giveLinkAway(path: EntryPath, name: string, { uid, gid }: StoredSymlink): void {
    const directory = this.#writer.at(parentPath(path));
    const made = directory.stat(name);
    if (made?.kind !== 'symlink' || made.nlink > 1 || (made.uid === uid && made.gid === gid)) return;
    if (directory.setAttributes(name, made, { uid, gid, mode: null }) === 'owner_refused') this.ownersNotSet.add(path);
  }

  async #makeFile(
    path: EntryPath,
    entry: StoredFile,
    replace: boolean,
    mayLink: (first: EntryPath) => Promise<boolean>,
  ): Promise<Temporary | undefined> {
    const beside = this.#temporaries.newPath(parentPath(path));
    if (await this.#linkToFirst(path, entry, baseName(beside), mayLink)) {
      this.place(path, { path: beside, staged: undefined, bytes: 0 }, replace);
      return undefined;
    }
    const staged = this.staging?.of(path);
    const temporary = {
      path: staged === undefined ? beside : joinPath(this.#temporaries.staging, baseName(beside)),
      staged,
      bytes: entry.size,
    };
    if (staged !== undefined && this.threads?.takes(entry) === true)
      return { ...temporary, made: this.threads.make(staged, baseName(temporary.path), entry) };
    await this.#writeNew(path, temporary, entry);
    if (this.defers) return temporary;
    this.place(path, temporary, replace);
    return undefined;
  }

  /** Whether somebody else reads the content of an entry that is to be made. */
  isMadeElsewhere(path: EntryPath, entry: StoredEntry): boolean {
    return entry.kind === 'file' && this.staging?.of(path) !== undefined && this.threads?.takes(entry) === true;
  }

  /** Sees to it that a file that waits is there, whole: where nobody could make it elsewhere, it is made now. */
  async complete(path: EntryPath, temporary: Temporary, entry: StoredFile): Promise<void> {
    const made = await temporary.made;
    if (made === undefined) return;
    if (made === 'owner_refused') this.ownersNotSet.add(path);
    if (made !== 'not_made') return;
    this.discard(temporary);
    await this.#writeNew(path, temporary, entry);
  }

  /** Takes a file that waited away again. Where that fails, the temporaries know of it. */
  discard({ path }: Temporary): void {
    this.#temporaries.remove(path);
  }

  /** Gives what has a temporary name its final one. */
  place(path: EntryPath, temporary: Temporary, replace: boolean): void {
    const name = baseName(temporary.path);
    try {
      const directory = this.#writer.at(parentPath(path));
      const from = temporary.staged ?? directory;
      if (replace) from.rename(name, baseName(path), directory);
      else if (placeWithoutReplacing(from, name, directory, baseName(path)) === 'linked') this.#parted(from, temporary);
    } catch (error) {
      this.discard(temporary);
      throw error;
    }
    this.bytesWritten += temporary.bytes;
  }

  /** It has its final name: that the temporary one stays, too, is no failure of what was made. */
  #parted(from: WritableDirectory, temporary: Temporary): void {
    try {
      from.unlink(baseName(temporary.path));
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      this.discard(temporary);
    }
  }

  async #writeNew(path: EntryPath, temporary: Temporary, entry: StoredFile): Promise<void> {
    const { staged } = temporary;
    const name = baseName(temporary.path);
    const file = staged?.createFile(name) ?? this.#writer.write(path, (directory) => directory.createFile(name));
    let finishing = false;
    try {
      await writeFileContent(this.#reader, entry, file);
      if (!file.setOwner(entry.uid, entry.gid)) this.ownersNotSet.add(path);
      file.setMode(entry.mode);
      finishing = true;
      file.finish(!this.defers);
    } catch (error) {
      if (!finishing) file.abandon();
      this.discard(temporary);
      throw error;
    }
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
      if (stat?.kind !== entry.kind || stat.size !== entry.size) return false;
      const isTheirs = hasAttributes(stat, entry);
      if (!isTheirs && !this.#differsInOwnerAlone(first, entry, stat)) return false;
      try {
        this.#writer.write(path, (directory) => {
          directory.link(from, name, made);
        });
        if (!isTheirs) this.ownersNotSet.add(path);
        return true;
      } catch (error) {
        if (isLinkless(error)) return false;
        throw error;
      }
    });
    return linked === true;
  }

  /** True where the group's first path has an owner that could not be set: neither could that of the others. */
  #differsInOwnerAlone(first: EntryPath, entry: StoredFile | StoredSymlink, stat: EntryStat): boolean {
    if (!this.ownersKept.has(first) && !this.ownersNotSet.has(first)) return false;
    return hasAttributes(stat, { ...entry, uid: stat.uid, gid: stat.gid });
  }
}

/** A file under its temporary name: beside its path, or where it is staged. */
export interface Temporary {
  readonly path: EntryPath;
  readonly staged: WritableDirectory | undefined;
  /** That were written for it. */
  readonly bytes: number;
  /** Of one that is made elsewhere: what came of it. */
  readonly made?: Promise<MadeFile>;
}

/** A file that is to be placed once it is durable. */
export interface Waiting {
  readonly change: Change;
  readonly after: StoredFile;
  readonly temporary: Temporary;
  /** Something that a rename may replace has the name. */
  readonly replace: boolean;
}

/** The file system has no hard links, or not here. */
function isLinkless(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS', 'EXDEV'].includes(systemCode(error) ?? '');
}

/** A link fails where a rename would replace what came meanwhile. Linked, it has both names. */
function placeWithoutReplacing(
  from: WritableDirectory,
  temporary: string,
  directory: WritableDirectory,
  name: string,
): 'linked' | 'renamed' {
  try {
    directory.link(from, temporary, name);
    return 'linked';
  } catch (error) {
    if (!isLinkless(error)) throw error;
    from.rename(temporary, name, directory);
    return 'renamed';
  }
}
