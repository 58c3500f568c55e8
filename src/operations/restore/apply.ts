import { type EntryStat, type StoredEntry, type StoredFile, sameStat } from '../../core/entry.js';
import { type EntryPath, baseName, parentPath, rootPath } from '../../core/entry-path.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { Change, Kept } from '../../core/restore-plan.js';
import type { RestoreThreads } from '../../core/restore-threads.js';
import type { Interruption } from '../interruption.js';
import { asOwnFailure, endedByOwnFailures, ownReader } from '../own-failures.js';
import { EntryMaker, type Waiting } from './entry-maker.js';
import { type Remembered, hasAttributes, isInState } from './entry-state.js';
import { inTurns, objectsFor } from './expected.js';
import type { ContentHasher } from './hashing.js';
import { isForeign, isRemoval, isReplacedInPlace, membersOfGroups } from './kinds-of-change.js';
import { MountWriter } from './mount-writer.js';
import { Staging } from './staging.js';
import { type LeftName, Temporaries } from './temporaries.js';
import { whyNotMade } from './why-not-made.js';

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
  /** An interrupted run may have left such names. */
  readonly resumed?: boolean;
  /** Goes on where temporary names can be made, but not taken away. */
  readonly mayLeaveTemporaries?: boolean;
  readonly reader: Pick<ObjectReader, 'stream' | 'read' | 'expect'>;
  readonly hasher: ContentHasher;
  readonly remembered: (path: EntryPath) => Remembered | undefined;
  /** Called, durably, before write permission is lent to a directory of the mount. */
  readonly onLend: (path: EntryPath, mode: number) => void;
  /** Directories that an interrupted run lent write permission to, with their own modes. */
  readonly lentBefore: ReadonlyMap<EntryPath, number>;
  readonly interruption: Interruption;
  readonly onFile: (bytes: number) => void;
  /** As many files are synced together, in the place of one by one. Default: 256. */
  readonly syncedTogetherFrom?: number;
  /** Who may make files beside; default: nobody. */
  readonly threads?: RestoreThreads | undefined;
  /** Paths that keep an owner which is not the snapshot's, since the caller may not set it; default: none. */
  readonly ownersKept?: ReadonlySet<EntryPath> | undefined;
  /** Makes everything on the mount's file system durable; false when that cannot be had. */
  readonly syncFileSystem: () => Promise<boolean>;
}

export interface Applied {
  readonly done: readonly Change[];
  /** Not made: the path moved on, or it cannot be made. */
  readonly skipped: readonly Kept[];
  /** Paths whose owner could not be set. */
  readonly ownersNotSet: readonly EntryPath[];
  readonly bytesWritten: number;
  /** Temporary names that could not be taken away. */
  readonly left: readonly LeftName[];
}

export async function applyChanges(request: ApplyRequest): Promise<Applied> {
  const [onLend, onFile] = [asOwnFailure(request.onLend), asOwnFailure(request.onFile)];
  const told = { ...request, reader: ownReader(request.reader), onLend, onFile };
  return endedByOwnFailures(() => new Application(told).run());
}

class Application {
  readonly #request: ApplyRequest;
  readonly #writer: MountWriter;
  readonly #maker: EntryMaker;
  readonly #temporaries: Temporaries;
  readonly #skipped = new Map<EntryPath, string>();
  /** First paths of link groups that were seen or made with the content that they are to have. */
  readonly #sound = new Set<EntryPath>();
  #members: ReadonlyMap<EntryPath, readonly EntryPath[]> | undefined;
  /** Files that wait under a temporary name until all of them are durable. */
  #waiting: Waiting[] = [];
  /** Those that waited before them and are being made durable. */
  #syncing: { readonly files: readonly Waiting[]; readonly synced: Promise<void> } | undefined;
  readonly #waitingPaths = new Set<EntryPath>();
  #waitingBytes = 0;

  constructor(request: ApplyRequest) {
    this.#request = request;
    this.#writer = new MountWriter(request.root, request.lentBefore, request.onLend);
    this.#temporaries = new Temporaries(this.#writer, request.temporaryPrefix, request.mayLeaveTemporaries ?? false);
    this.#maker = new EntryMaker(this.#writer, request.reader, this.#temporaries);
    this.#maker.ownersKept = request.ownersKept ?? new Set();
  }

  async run(): Promise<Applied> {
    const { changes, resumed = false } = this.#request;
    let deferred = false;
    try {
      if (resumed) this.#temporaries.sweepEarlier(new Set(changes.map(({ path }) => parentPath(path))));
      deferred = await this.#defers();
      await this.#make(changes);
    } finally {
      await this.#discardWaiting();
      try {
        this.#temporaries.sweep();
      } finally {
        this.#maker.staging?.close();
        this.#writer.close();
      }
    }
    if (deferred || this.#maker.unsynced) await this.#sync();
    return {
      done: changes.filter(({ path }) => !this.#skipped.has(path)),
      skipped: [...this.#skipped].map(([path, reason]) => ({ path, reason })),
      ownersNotSet: [...this.#maker.ownersNotSet],
      bytesWritten: this.#maker.bytesWritten,
      left: this.#temporaries.left,
    };
  }

  /** What goes, from the deepest up; then what comes, from the top down; directory modes last, from the deepest up. */
  async #make(changes: readonly Change[]): Promise<void> {
    const upwards = [...changes].reverse();
    for (const change of upwards) await this.#step(change, () => this.#remove(change));
    for (const some of inTurns(changes)) {
      const read = some.filter(({ path, after }) => after === null || !this.#maker.isMadeElsewhere(path, after));
      this.#request.reader.expect(objectsFor(read));
      for (const change of some) {
        if (this.#isLinkedToWaiting(change)) await this.#placeAll();
        else if (this.#isEnough) await this.#syncWaiting();
        await this.#step(change, () => this.#put(change));
      }
    }
    await this.#placeAll();
    // A directory may get a mode in which nothing can be taken away from it.
    this.#temporaries.sweep();
    for (const change of upwards) await this.#step(change, () => this.#finishDirectory(change));
  }

  /** Many files wait and are made durable together, where that can be had. */
  async #defers(): Promise<boolean> {
    const { root, changes, syncFileSystem, syncedTogetherFrom: from } = this.#request;
    const files = changes.filter(({ after }) => after?.kind === 'file').length;
    const deferred = files > 0 && files >= (from ?? syncedTogetherFrom) && (await syncFileSystem());
    this.#maker.defers = deferred;
    if (deferred) this.#temporaries.staged();
    this.#maker.staging = deferred ? Staging.make(root, this.#temporaries.staging, changes) : undefined;
    this.#maker.threads = this.#request.threads;
    this.#writer.syncs = !deferred;
    return deferred;
  }

  async #step(change: Change, act: () => Promise<void> | void): Promise<void> {
    await this.#request.interruption.pause();
    if (this.#skipped.has(change.path)) return;
    try {
      await act();
    } catch (error) {
      const reason = whyNotMade(error);
      if (reason === undefined) throw error;
      this.#skipped.set(change.path, reason);
    }
  }

  async #remove(change: Change): Promise<void> {
    const parent = isRemoval(change) ? this.#writer.parentOf(change.path) : undefined;
    const name = baseName(change.path);
    const stat = parent?.stat(name);
    // A retype is under way when something of the new kind is there already.
    if (parent === undefined || stat === undefined || stat.kind === change.after?.kind) return;
    if (!(await this.#isBefore(parent, change))) {
      this.#skipped.set(change.path, 'changed_meanwhile');
      return;
    }
    this.#writer.write(change.path, (directory) => {
      if (stat.kind === 'directory') directory.removeDirectory(name);
      else directory.unlink(name);
    });
  }

  async #put(change: Change): Promise<void> {
    const { path, after } = change;
    if (after === null || path === rootPath) return;
    const parent = this.#writer.at(parentPath(path));
    const present = parent.stat(baseName(path));
    if (present !== undefined && (await this.#isThere(parent, change, after, present))) {
      this.#settleAttributes(change, after, present);
    } else if (
      (await this.#mayBeReplaced(parent, change, present)) ||
      (await this.#isOnlyParted(parent, after, present))
    ) {
      const replace = present !== undefined && isReplacedInPlace(change);
      const temporary = await this.#maker.make(path, after, replace, (first) => this.#isSound(first, after));
      if (temporary === undefined || after.kind !== 'file') this.#noteMade(after);
      else this.#wait({ change, after, temporary, replace });
    } else {
      this.#skipped.set(path, 'changed_meanwhile');
    }
  }

  #noteMade(after: StoredEntry): void {
    if (after.kind !== 'directory' && after.linkedTo === after.path) this.#sound.add(after.path);
    if (after.kind === 'file') this.#request.onFile(after.size);
  }

  #wait(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.#waitingPaths.add(waiting.change.path);
    this.#waitingBytes += waiting.after.size;
  }

  get #isEnough(): boolean {
    return this.#waiting.length >= waitingAtMost || this.#waitingBytes >= waitingBytesAtMost;
  }

  /** The change makes another name of a file that waits. */
  #isLinkedToWaiting({ after }: Change): boolean {
    if (after === null || after.kind === 'directory' || after.linkedTo === undefined) return false;
    return this.#waitingPaths.has(after.linkedTo);
  }

  /** Makes the waiting files durable, while others are made; those that were before them are put in place. */
  async #syncWaiting(): Promise<void> {
    await this.#placeSynced();
    if (this.#waiting.length === 0) return;
    this.#request.threads?.flush();
    const files = this.#waiting;
    for (const { change, after, temporary } of files)
      await this.#step(change, () => this.#maker.complete(change.path, temporary, after));
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#syncing = { files, synced: this.#sync() };
    // Whoever waits for it meets its failure.
    this.#syncing.synced.catch(() => undefined);
  }

  async #placeAll(): Promise<void> {
    await this.#syncWaiting();
    await this.#placeSynced();
  }

  /** Durable files become visible: a power cut leaves no empty ones under their final names. */
  async #placeSynced(): Promise<void> {
    if (this.#syncing === undefined) return;
    const { files, synced } = this.#syncing;
    await synced;
    for (const waiting of files) {
      await this.#step(waiting.change, () => this.#placeOne(waiting));
      this.#waitingPaths.delete(waiting.change.path);
    }
    this.#syncing = undefined;
  }

  /** What was looked at before the file was written is looked at once more. */
  async #placeOne({ change, after, temporary, replace }: Waiting): Promise<void> {
    const { path } = change;
    const parent = this.#writer.at(parentPath(path));
    // What stands in the way of a link makes it fail.
    if (replace && !(await this.#mayStillBeReplaced(parent, change, after))) {
      this.#maker.discard(temporary);
      this.#skipped.set(path, 'changed_meanwhile');
      return;
    }
    this.#maker.place(path, temporary, replace);
    this.#noteMade(after);
  }

  async #mayStillBeReplaced(parent: WritableDirectory, change: Change, after: StoredFile): Promise<boolean> {
    const present = parent.stat(baseName(change.path));
    return (await this.#mayBeReplaced(parent, change, present)) || this.#isOnlyParted(parent, after, present);
  }

  async #sync(): Promise<void> {
    if (await this.#request.syncFileSystem()) return;
    throw Object.assign(new Error('The file system of the mount could not be synced.'), { code: 'EIO' });
  }

  /** The work ends early: nothing of ours stays behind. */
  async #discardWaiting(): Promise<void> {
    this.#request.threads?.flush();
    const files = [...(this.#syncing?.files ?? []), ...this.#waiting];
    this.#waiting = [];
    this.#syncing = undefined;
    for (const { change, temporary } of files) {
      await temporary.made;
      if (this.#waitingPaths.has(change.path)) this.#maker.discard(temporary);
    }
  }

  #settleAttributes(change: Change, after: StoredEntry, present: EntryStat): void {
    if (isForeign(present, change) || !this.#maker.setAttributes(change.path, after, present))
      this.#skipped.set(change.path, 'changed_meanwhile');
    this.#sound.add(change.path);
  }

  /** True when a path has the content of an entry that is to be linked to it: in doubt it is read. */
  async #isSound(path: EntryPath, entry: StoredEntry): Promise<boolean> {
    if (this.#skipped.has(path)) return false;
    if (this.#sound.has(path)) return true;
    const look = (directory: WritableDirectory, name: string): Promise<boolean> =>
      isInState(directory, name, entry, this.#request.hasher);
    return (await this.#writer.visitElsewhere(path, look)) === true;
  }

  /** True when the content is that of `after` already, be it from an earlier run. */
  async #isThere(parent: WritableDirectory, change: Change, after: StoredEntry, present: EntryStat): Promise<boolean> {
    const remembered = change.before === null ? undefined : this.#request.remembered(change.path);
    // An overwrite whose path is just as it was captured needs no second look at its content.
    if (change.action === 'overwrite' && remembered !== undefined && sameStat(present, remembered.stat)) return false;
    if (!this.#linksAreRight(change, after, present)) return false;
    return isInState(parent, baseName(change.path), after, this.#request.hasher);
  }

  #linksAreRight(change: Change, after: StoredEntry, present: EntryStat): boolean {
    if (after.kind === 'directory') return true;
    const first = after.linkedTo;
    if (first === undefined || first === after.path)
      return change.action !== 'overwrite' || present.nlink === 1 + this.#membersThatShare(after.path, present);
    const there = this.#writer.statElsewhere(first);
    return there?.ino === present.ino && there.dev === present.dev;
  }

  /** The other paths of a link group that have its first path's inode already, from an earlier run. */
  #membersThatShare(first: EntryPath, present: EntryStat): number {
    if (present.nlink === 1) return 0;
    this.#members ??= membersOfGroups(this.#request.changes);
    return (this.#members.get(first) ?? []).filter((path) => {
      const stat = this.#writer.statElsewhere(path);
      return stat?.ino === present.ino && stat.dev === present.dev;
    }).length;
  }

  /** A path that was removed first, for its change of kind, has nothing in its place now. */
  async #mayBeReplaced(parent: WritableDirectory, change: Change, present: EntryStat | undefined): Promise<boolean> {
    if (change.before === null || !isReplacedInPlace(change)) return present === undefined;
    return this.#isBefore(parent, change);
  }

  /** True for one of a link group that is as it should be, but for the inode that it shares: an earlier run ended here. */
  async #isOnlyParted(parent: WritableDirectory, after: StoredEntry, present: EntryStat | undefined): Promise<boolean> {
    if (present === undefined || after.kind === 'directory' || !hasAttributes(present, after)) return false;
    return isInState(parent, baseName(after.path), after, this.#request.hasher);
  }

  async #isBefore(parent: WritableDirectory, change: Change): Promise<boolean> {
    const { hasher, remembered } = this.#request;
    const { path, before } = change;
    const stat = parent.stat(baseName(path));
    if (stat !== undefined && before?.kind === 'file' && stat.mode !== before.mode) return false;
    return isInState(parent, baseName(path), before, hasher, before === null ? undefined : remembered(path));
  }

  #finishDirectory(change: Change): void {
    const { path, after } = change;
    if (after?.kind !== 'directory') return;
    if (path === rootPath && isForeign(this.#request.root.statSelf(), change)) {
      this.#skipped.set(path, 'changed_meanwhile');
      return;
    }
    // A change of owner clears set-id bits, so it comes before the mode.
    this.#maker.setDirectoryOwner(path, after);
    this.#writer.setDirectoryMode(path, after.mode);
  }
}

/** An fsync a file takes long for many; one of the whole file system takes long when others write to it. */
const syncedTogetherFrom = 256;
/** Of files that are being made; as many may be in the middle of being synced. */
const waitingAtMost = 4096;
const waitingBytesAtMost = 128 * 1024 * 1024;
