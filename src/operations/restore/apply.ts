import { type EntryStat, type StoredEntry, type StoredFile, sameStat } from '../../core/entry.js';
import { type EntryPath, baseName, parentPath, rootPath } from '../../core/entry-path.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { Change, Kept } from '../../core/restore-plan.js';
import { systemCode } from '../../errors.js';
import type { Interruption } from '../interruption.js';
import { DirectoryChain } from './directory-chain.js';
import { type Remembered, hasAttributes, isInState } from './entry-state.js';
import type { ContentHasher } from './hashing.js';
import { writeFileContent } from './write-content.js';

/*
 * Makes the changes of a plan in one mount. Every step looks first: a path already in its state after is done, one in
 * its state before is changed, any other has moved on and is left alone. So the same changes may be applied again
 * after a crash at any point, and their inverses take them back.
 */

export interface ApplyRequest {
  readonly root: WritableDirectory;
  /** In path order. */
  readonly changes: readonly Change[];
  /** Temporary names begin with this. */
  readonly temporaryPrefix: string;
  readonly reader: Pick<ObjectReader, 'stream' | 'read'>;
  readonly hasher: ContentHasher;
  readonly remembered: (path: EntryPath) => Remembered | undefined;
  /** Called, durably, before write permission is lent to a directory of the mount. */
  readonly onLend: (path: EntryPath, mode: number) => void;
  /** Directories that an interrupted run lent write permission to, with their own modes. */
  readonly lentBefore: ReadonlyMap<EntryPath, number>;
  readonly interruption: Interruption;
  readonly onFile: (bytes: number) => void;
}

export interface Applied {
  readonly done: Change[];
  /** Not made: the path moved on, or it cannot be made. */
  readonly skipped: Kept[];
  /** Paths whose owner could not be set. */
  readonly ownersNotSet: EntryPath[];
  bytesWritten: number;
}

export async function applyChanges(request: ApplyRequest): Promise<Applied> {
  return new Application(request).run();
}

class Application {
  readonly #request: ApplyRequest;
  readonly #chain: DirectoryChain;
  readonly #applied: Applied = { done: [], skipped: [], ownersNotSet: [], bytesWritten: 0 };
  readonly #failed = new Set<EntryPath>();
  readonly #touched = new Set<EntryPath>();
  readonly #lent: Map<EntryPath, number>;
  #temporaries = 0;

  constructor(request: ApplyRequest) {
    this.#request = request;
    this.#lent = new Map(request.lentBefore);
    this.#chain = new DirectoryChain(request.root, (directory, path) => {
      if (this.#touched.delete(path)) directory.sync();
    });
  }

  async run(): Promise<Applied> {
    const { changes } = this.#request;
    try {
      // What goes, from the deepest up; then what comes, from the top down; directory modes last, from the deepest up.
      for (const change of [...changes].reverse())
        if (isRemoval(change)) await this.#step(change, () => this.#remove(change));
      for (const change of changes)
        if (change.after !== null) await this.#step(change, () => this.#put(change, change.after as StoredEntry));
      for (const change of [...changes].reverse())
        if (change.after?.kind === 'directory')
          await this.#step(change, () => Promise.resolve(this.#finishDirectory(change)));
    } finally {
      this.#giveBack();
      this.#chain.close();
      if (this.#touched.delete(rootPath)) this.#request.root.sync();
    }
    for (const change of changes) if (!this.#failed.has(change.path)) this.#applied.done.push(change);
    return this.#applied;
  }

  async #step(change: Change, act: () => Promise<void>): Promise<void> {
    await this.#request.interruption.pause();
    if (this.#failed.has(change.path)) return;
    try {
      await act();
    } catch (error) {
      const reason = whyNotMade(error);
      if (reason === undefined) throw error;
      this.#skip(change.path, reason);
    }
  }

  #skip(path: EntryPath, reason: string): void {
    this.#failed.add(path);
    this.#applied.skipped.push({ path, reason });
  }

  async #remove(change: Change): Promise<void> {
    const name = baseName(change.path);
    const parent = this.#parentOf(change.path);
    if (parent === undefined) return;
    const stat = parent.stat(name);
    // A retype is under way when something of the new kind is there already.
    if (stat === undefined || (change.after !== null && stat.kind === change.after.kind)) return;
    if (!(await this.#isBefore(parent, change))) {
      this.#skip(change.path, 'changed_meanwhile');
      return;
    }
    if (stat.kind === 'directory')
      this.#write(parentPath(change.path), (directory) => {
        directory.removeDirectory(name);
      });
    else
      this.#write(parentPath(change.path), (directory) => {
        directory.unlink(name);
      });
  }

  /** Undefined when a directory above is gone: then so is the path. */
  #parentOf(path: EntryPath): WritableDirectory | undefined {
    try {
      return this.#chain.at(parentPath(path));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return undefined;
      throw error;
    }
  }

  async #put(change: Change, after: StoredEntry): Promise<void> {
    if (change.path === rootPath) return;
    const parent = this.#chain.at(parentPath(change.path));
    const name = baseName(change.path);
    const present = parent.stat(name);
    if (present !== undefined && (await this.#isThere(parent, name, change, after, present))) {
      if (isForeign(present, change)) this.#skip(change.path, 'changed_meanwhile');
      else this.#setAttributes(change.path, after);
    } else if (await this.#mayBeReplaced(parent, change)) {
      await this.#make(change, after, present !== undefined && isReplacedInPlace(change));
    } else {
      this.#skip(change.path, 'changed_meanwhile');
    }
  }

  /** True when the content is that of `after` already, be it from an earlier run. */
  async #isThere(
    parent: WritableDirectory,
    name: string,
    change: Change,
    after: StoredEntry,
    present: EntryStat,
  ): Promise<boolean> {
    const remembered = change.before === null ? undefined : this.#request.remembered(change.path);
    // An overwrite whose path is just as it was captured needs no second look at its content.
    if (change.action === 'overwrite' && remembered !== undefined && sameStat(present, remembered.stat)) return false;
    return this.#linksAreRight(change, after, present) && (await isInState(parent, name, after, this.#request.hasher));
  }

  /** A path that was removed first, for its change of kind, has nothing in its place now. */
  async #mayBeReplaced(parent: WritableDirectory, change: Change): Promise<boolean> {
    if (change.before !== null && !isReplacedInPlace(change)) return parent.stat(baseName(change.path)) === undefined;
    return this.#isBefore(parent, change);
  }

  async #isBefore(parent: WritableDirectory, change: Change): Promise<boolean> {
    const { hasher, remembered } = this.#request;
    const name = baseName(change.path);
    const stat = parent.stat(name);
    if (stat !== undefined && change.before?.kind === 'file' && stat.mode !== change.before.mode) return false;
    return isInState(parent, name, change.before, hasher, change.before === null ? undefined : remembered(change.path));
  }

  async #make(change: Change, after: StoredEntry, replace: boolean): Promise<void> {
    const { path } = change;
    const name = baseName(path);
    switch (after.kind) {
      case 'directory':
        this.#write(parentPath(path), (directory) => {
          directory.makeDirectory(name);
        });
        break;
      case 'symlink':
        await this.#makeSymlink(path, after.oid, replace);
        this.#setAttributes(path, after);
        break;
      case 'file':
        await this.#makeFile(path, after, replace);
        break;
    }
  }

  async #makeSymlink(path: EntryPath, oid: string, replace: boolean): Promise<void> {
    const { content } = await this.#request.reader.read(oid, 'blob', 65_536);
    const name = replace ? this.#temporaryName() : baseName(path);
    this.#write(parentPath(path), (directory) => {
      directory.makeSymlink(name, content.toString('latin1'));
    });
    if (replace)
      this.#write(parentPath(path), (directory) => {
        directory.rename(name, baseName(path));
      });
  }

  async #makeFile(path: EntryPath, after: StoredFile, replace: boolean): Promise<void> {
    const temporary = this.#temporaryName();
    const linked = this.#linkToFirst(path, after, temporary);
    if (!linked) await this.#writeNew(path, temporary, after);
    const directory = this.#chain.at(parentPath(path));
    try {
      if (replace) directory.rename(temporary, baseName(path));
      else placeWithoutReplacing(directory, temporary, baseName(path));
    } catch (error) {
      directory.unlink(temporary);
      throw error;
    }
    this.#request.onFile(after.size);
  }

  async #writeNew(path: EntryPath, temporary: string, after: StoredFile): Promise<void> {
    const file = this.#write(parentPath(path), (directory) => directory.createFile(temporary));
    let finished = false;
    try {
      await writeFileContent(this.#request.reader, after, file);
      if (!file.setOwner(after.uid, after.gid)) this.#applied.ownersNotSet.push(path);
      file.setMode(after.mode);
      finished = true;
    } finally {
      if (!finished) {
        file.abandon();
        this.#chain.at(parentPath(path)).unlink(temporary);
      }
    }
    file.finish();
    this.#applied.bytesWritten += after.size;
  }

  /** True when the path is to share the inode of its group's first path, and that one is as it should be. */
  #linkToFirst(path: EntryPath, after: StoredFile, temporary: string): boolean {
    const first = after.linkedTo;
    if (first === undefined || first === path || this.#failed.has(first)) return false;
    const chain = new DirectoryChain(this.#request.root, () => undefined);
    try {
      const from = chain.at(parentPath(first));
      const stat = from.stat(baseName(first));
      if (stat?.kind !== 'file' || stat.size !== after.size || !hasAttributes(stat, after)) return false;
      this.#write(parentPath(path), (directory) => {
        directory.link(from, baseName(first), temporary);
      });
      return true;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EPERM', 'EMLINK', 'EXDEV', 'ENOTSUP'].includes(systemCode(error) ?? ''))
        return false;
      throw error;
    } finally {
      chain.close();
    }
  }

  #linksAreRight(change: Change, after: StoredEntry, present: EntryStat): boolean {
    if (after.kind !== 'file') return true;
    const first = after.linkedTo;
    if (first === undefined || first === after.path) return present.nlink === 1 || change.action !== 'overwrite';
    const there = this.#statAt(first);
    return there?.ino === present.ino && there.dev === present.dev;
  }

  #statAt(path: EntryPath): EntryStat | undefined {
    const chain = new DirectoryChain(this.#request.root, () => undefined);
    try {
      return chain.at(parentPath(path)).stat(baseName(path));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return undefined;
      throw error;
    } finally {
      chain.close();
    }
  }

  #setAttributes(path: EntryPath, after: StoredEntry): void {
    const name = baseName(path);
    const directory = this.#chain.at(parentPath(path));
    const stat = directory.stat(name);
    if (stat === undefined || hasAttributes(stat, after)) return;
    if ((stat.uid !== after.uid || stat.gid !== after.gid) && !directory.setOwner(name, after.uid, after.gid))
      this.#applied.ownersNotSet.push(path);
    // A change of owner clears set-id bits, so the mode comes second. A directory's is set when all in it is done.
    if (after.kind === 'file') directory.setMode(name, after.mode);
    this.#touched.add(parentPath(path));
  }

  #finishDirectory({ path, after }: Change): void {
    if (after?.kind !== 'directory') return;
    // A change of owner clears set-id bits, so it comes before the mode.
    if (path !== rootPath) this.#setAttributes(path, after);
    const directory = this.#chain.at(path);
    if (directory.statSelf().mode !== after.mode) directory.setOwnMode(after.mode);
    this.#lent.delete(path);
    this.#touched.add(path);
  }

  /** Does one thing in a directory, lending it write permission where that is what it lacks. */
  #write<T>(path: EntryPath, act: (directory: WritableDirectory) => T): T {
    const directory = this.#chain.at(path);
    this.#touched.add(path);
    try {
      return act(directory);
    } catch (error) {
      if (systemCode(error) !== 'EACCES' || !this.#lend(path, directory)) throw error;
      return act(directory);
    }
  }

  #lend(path: EntryPath, directory: WritableDirectory): boolean {
    const { mode } = directory.statSelf();
    if (this.#lent.has(path) || (mode & 0o300) === 0o300) return false;
    this.#request.onLend(path, mode);
    this.#lent.set(path, mode);
    directory.setOwnMode(mode | 0o700);
    return true;
  }

  #giveBack(): void {
    for (const [path, mode] of [...this.#lent].sort(([a], [b]) => (a < b ? 1 : -1))) {
      try {
        this.#chain.at(path).setOwnMode(mode);
      } catch (error) {
        if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) throw error;
      }
    }
    this.#lent.clear();
  }

  #temporaryName(): string {
    this.#temporaries += 1;
    return `${this.#request.temporaryPrefix}${String(this.#temporaries)}`;
  }
}

/** Removed before anything is put in its place: what is deleted, and what a rename cannot replace. */
function isRemoval(change: Change): boolean {
  return change.after === null || (change.before !== null && !isReplacedInPlace(change));
}

/** A rename replaces files and links; a directory has to go first, or has to find its place free. */
function isReplacedInPlace(change: Change): boolean {
  if (change.before === null || change.after === null) return false;
  return (
    change.before.kind === change.after.kind ||
    (change.before.kind !== 'directory' && change.after.kind !== 'directory')
  );
}

/** True for a change of mode alone whose path has a mode that is neither the one before nor the one after. */
function isForeign(present: EntryStat, change: Change): boolean {
  if (change.action !== 'chmod' || change.before === null || change.after === null || present.kind !== 'file')
    return false;
  return !hasAttributes(present, change.before) && !hasAttributes(present, change.after);
}

/** A link fails where a rename would replace what came meanwhile. */
function placeWithoutReplacing(directory: WritableDirectory, temporary: string, name: string): void {
  try {
    directory.link(directory, temporary, name);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS'].includes(systemCode(error) ?? '')) throw error;
    directory.rename(temporary, name);
    return;
  }
  directory.unlink(temporary);
}

function whyNotMade(error: unknown): string | undefined {
  const code = systemCode(error);
  switch (code) {
    case 'EEXIST':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'EISDIR':
      return 'changed_meanwhile';
    case 'ENOTEMPTY':
      return 'not_empty';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'not_permitted';
    case 'EBUSY':
    case 'ETXTBSY':
      return 'busy';
    case 'ENAMETOOLONG':
    case 'EINVAL':
      return 'not_possible_here';
    default:
      return undefined;
  }
}
