import type { ContentCheck, ContentPart, ContentProgress, Damage, StoreCondition } from './content-check.js';
import type { DataRange } from './data-ranges.js';
import type { EntryStat, ObservedOnly } from './entry.js';
import type { EntryPath, HostPath } from './entry-path.js';
import type { InstanceName, ObjectId, Seq } from './ids.js';
import type { InstanceRecord } from './instance-record.js';
import type { JournalRecord } from './journal-record.js';
import type { FoundCommit, PackedRefsDamage } from './lost-refs.js';
import type { AttributeLine, ManifestMount } from './manifest.js';
import type { GitOutput } from './requests.js';
import type { StoreUsage, UsageQuestion } from './store-usage.js';
import type { WorktreeRecord } from './worktree-record.js';

/*
 * What operations need of the outside world. fs/, git/ and instance/ provide it; tests may fail any step of it.
 */

/**
 * One directory of a mount, held by a descriptor: what is done through it happens in that very directory, wherever
 * its name leads by then. Names are bytes (latin1) and single components; links are never followed.
 */
export interface Directory {
  /** The path of the held descriptor, for readers that need one: it stands for this directory while it is open. */
  readonly descriptorPath: string;
  readonly identity: { readonly dev: bigint; readonly ino: bigint };
  /** The names in it, in byte order, without "." and "..". */
  list(): string[];
  /** Undefined when there is no such name. */
  stat(name: string): EntryStat | undefined;
  statSelf(): EntryStat;
  readLink(name: string): string;
  openFile(name: string): OpenFile;
  /** @throws a system error ENOTDIR or ELOOP when it is no directory. */
  enter(name: string): Directory;
  /** Releases the descriptor; its parent is usable again. */
  close(): void;
}

export interface OpenFile {
  stat(): EntryStat;
  /** Fills `buffer` from the current position; the number of bytes read, 0 at the end. */
  read(buffer: Uint8Array): number;
  /** Fills `buffer` from this position; the number of bytes read, 0 at the end. */
  readAt(buffer: Uint8Array, position: number): number;
  /**
   * Where its data lies, in ascending order, as the system tells: all else is zeros. Undefined when it does not tell.
   * Nothing that changes meanwhile shows.
   */
  dataRanges(): Promise<readonly DataRange[] | undefined>;
  close(): void;
}

/** A directory that may be changed. Each call is one step that the journal can tell apart. */
export interface WritableDirectory extends Directory {
  enter(name: string): WritableDirectory;
  /** A new file, mode 0600, that did not exist before; written and synced by the caller. */
  createFile(name: string): NewFile;
  makeDirectory(name: string): void;
  makeSymlink(name: string, target: string): void;
  /** Gives the file `existing` (below `from`) another name here. */
  link(from: Directory, existing: string, name: string): void;
  rename(name: string, newName: string, to?: WritableDirectory): void;
  unlink(name: string): void;
  removeDirectory(name: string): void;
  /**
   * Owner and mode (null: stays) of the very entry that was seen, never of what a link points to, nor of what has the
   * name by now.
   */
  setAttributes(
    name: string,
    seen: EntryStat,
    wanted: { readonly uid: number; readonly gid: number; readonly mode: number | null },
  ): 'set' | 'owner_refused' | 'another';
  /** Makes owner and mode of the very file that was seen durable. False where it is none, or may not be opened. */
  syncFile(name: string, seen: EntryStat): boolean;
  setOwnMode(mode: number): void;
  /** False where the caller may not set it. */
  setOwnOwner(uid: number, gid: number): boolean;
  sync(): void;
}

export interface NewFile {
  write(chunk: Uint8Array): void;
  /** Leaves a hole of `length` bytes. */
  skip(length: number): void;
  setMode(mode: number): void;
  setOwner(uid: number, gid: number): boolean;
  /** Sets the size (holes at the end), syncs where `durable`, and closes. */
  finish(durable: boolean): void;
  abandon(): void;
}

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface TreeEntry {
  /** 0o100644, 0o100755, 0o120000 or 0o40000. */
  readonly mode: number;
  /** The name as stored (escaped), bytes. */
  readonly name: string;
  readonly oid: ObjectId;
}

/**
 * Collects the new objects of one save in one pack. Nothing is part of the store before `publish`; `abandon` leaves
 * no trace. An object that the store has is not written again.
 */
export interface ObjectWriter {
  /** Small content, whole in memory. */
  writeBlob(content: Uint8Array): ObjectId;
  /**
   * Large content, read piece by piece, twice when it is new: once for the id, once to store it.
   * @returns undefined when the content was not the same both times, or not `size` bytes.
   */
  writeLargeBlob(size: number, read: () => { next(buffer: Uint8Array): number }): Promise<ObjectId | undefined>;
  writeTree(entries: readonly TreeEntry[]): ObjectId;
  writeCommit(content: Uint8Array): ObjectId;
  /** True when the store or this writer has the object. */
  has(oid: ObjectId): boolean;
  /** Bytes written to the pack so far; all of them once it is published. */
  readonly bytesAdded: number;
  /** Makes the pack durable and part of the store. Without new objects, does nothing. */
  publish(): Promise<void>;
  abandon(): Promise<void>;
}

/** One entry of a snapshot's tree, names still as stored. */
export interface ListedObject {
  readonly mode: number;
  readonly type: ObjectType;
  readonly oid: ObjectId;
  /** Blobs: the size in bytes; else null. */
  readonly size: number | null;
  readonly path: string;
}

/** Whether a directory, by its path as stored, is not to be listed, nor what is below it. */
export type PassesOver<Path extends string = string> = (path: Path, tree: ObjectId) => boolean;

export interface ObjectReader {
  /** @throws SnapError STORE_DAMAGED when it is missing, damaged, of another type or larger than `limit` bytes. */
  read(name: string, type: ObjectType, limit?: number): Promise<{ oid: ObjectId; content: Buffer }>;
  /** Like `read`, undefined when nothing has that name. */
  find(name: string, type: ObjectType, limit?: number): Promise<{ oid: ObjectId; content: Buffer } | undefined>;
  /** A blob's bytes, piece by piece; its hash is checked at the end (STORE_DAMAGED). */
  stream(oid: ObjectId, onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void>;
  /**
   * These will be asked for soon, in this order; perhaps not all of them, and others in between. They are got ready
   * together, which takes a fraction of the time.
   */
  expect(oids: readonly ObjectId[]): void;
  close(): Promise<void>;
}

export interface RefValue {
  readonly name: string;
  readonly oid: ObjectId;
}

/** `old` is what must be there: null for nothing. `new` null deletes. */
export interface RefChange {
  readonly name: string;
  readonly old: ObjectId | null;
  readonly new: ObjectId | null;
}

export interface SnapshotRef {
  readonly instance: InstanceName;
  readonly seq: Seq;
  readonly ref: string;
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  /** The whole commit message, bytes as UTF-8 text. */
  readonly message: string;
}

export type { ContentCheck, ContentPart, ContentProgress, Damage } from './content-check.js';

export interface Store extends StoreCondition {
  /** Makes the bare repository where it is missing, heals its empty directories, checks git. */
  prepare(): Promise<void>;
  /** True when a store is there. */
  exists(): boolean;
  /**
   * Snapshot refs of one instance or of all, ascending by number, the damaged ones too: tree (and commit) are zeros
   * where they cannot be read. One git process. With `newest` (at least 1) only so many of those with the highest
   * numbers: of one instance, and where they are few, no other is read then.
   */
  snapshots(instance: InstanceName | null, newest?: number): Promise<SnapshotRef[]>;
  /** The numbers of an instance's snapshots, ascending, those of damaged ones too. No process. */
  snapshotNumbers(instance: InstanceName): Seq[];
  /** Like `snapshots`, one of them; undefined where there is none. */
  snapshot(instance: InstanceName, seq: Seq): Promise<SnapshotRef | undefined>;
  refs(prefix: string): Promise<RefValue[]>;
  /** The names of `refs` and of `unreadableRefs` together. No process. */
  refNames(prefix: string): string[];
  /** Names below the prefix where something lies that is no ref to git: empty, torn, garbage. `refs` has none of them. */
  unreadableRefs(prefix: string): Promise<string[]>;
  /** Writes the file of a ref that is unreadable or not there, or takes it away (null); durable. Needs the exclusive lock. */
  putRefFile(name: string, value: ObjectId | null): void;
  /** What is wrong with git's file of packed refs, in words. No process. */
  packedRefsProblems(): readonly string[];
  /** Writes git's file of packed refs anew with what can be read of it. Needs the exclusive lock. @returns what was wrong */
  rewritePackedRefs(): PackedRefsDamage;
  /** Done once refs that `rewritePackedRefs` lost are back: from then on the file counts as whole. Needs the exclusive lock. */
  noteLastPackedRef(): void;
  /** All commits that can be read, whatever leads to them. */
  findCommits(): Promise<FoundCommit[]>;
  /** Parts of the repository that `prepare` would make or put right, by name. No process. */
  missingParts(): string[];
  /**
   * All or nothing, durable when it returns; nothing when it fails. @throws SnapError REF_EXISTS when an old value does
   * not hold.
   */
  changeRefs(changes: readonly RefChange[]): Promise<void>;
  /**
   * Starts what publishing a snapshot needs of git, while there is other work. The store that it answers is the same
   * one, for one caller: its `snapshot`, `checkConnected` and the change of refs after that use what was started. The
   * caller ends it; what stayed unused ends without a trace.
   */
  startAhead(): { readonly store: Store; end(): Promise<void> };
  /**
   * Removes lock files that a killed git left on these refs. The caller holds the lock of the instance that they
   * belong to, so that no process of ours is using them.
   */
  dropRefLocks(names: readonly string[]): void;
  /** Writes what the store lacks, or has noted as damaged. */
  newWriter(): ObjectWriter;
  /** Writes nothing but these objects, whatever the store has of them. */
  newMendingWriter(wanted: ReadonlySet<ObjectId>): ObjectWriter;
  /** Its pack goes to a directory of its own that no ref ever names (diff against the live tree). */
  newScratchWriter(): Promise<{ writer: ObjectWriter; directory: string; remove(): Promise<void> }>;
  reader(): ObjectReader;
  /**
   * All entries below a tree, depth first, directories before their content. `tree` is any tree-ish. What is listed in
   * part is read by a process of its own, or `through` that of a reader.
   */
  listTree(tree: string, passesOver?: PassesOver, through?: ObjectReader): AsyncIterable<ListedObject>;
  /**
   * Fails with STORE_DAMAGED unless everything reachable from the commits is there. `known` only saves work: what they
   * reach is not walked again if they were found intact before and nothing was taken from the store since.
   */
  checkConnected(commits: readonly ObjectId[], known: readonly ObjectId[]): Promise<void>;
  /**
   * The commits among these that miss an object, and those that are `oversizedSnapshots`. Uses the remembered check while the
   * packs are as they were.
   */
  brokenSnapshots(commits: readonly ObjectId[]): Promise<Set<ObjectId>>;
  /**
   * The blobs among these whose bytes in the packs are as they were written, by the checksums that were noted then.
   * Others may be sound too: reading them tells. `pause` is awaited now and then.
   */
  findAsWritten(blobs: readonly ObjectId[], pause: () => Promise<void>): Promise<ReadonlySet<ObjectId>>;
  /** git fsck; problems in words. `full` re-hashes all content. */
  fsck(full: boolean, onChecked?: (done: ContentProgress) => void): Promise<string[]>;
  /**
   * Reads objects by their ids and hashes them: all of them, or a part that begins where the part before it ended. That
   * place is noted at the end and when interrupted; it is a hint, and where it is lost, the first object comes next.
   */
  checkContent(part: ContentPart | null, onChecked: (done: ContentProgress) => void): Promise<ContentCheck>;
  /** The commits among these that need what is missing or among `unreadable`, and where. Walks each tree once. */
  findDamage(
    commits: readonly ObjectId[],
    unreadable: ReadonlySet<ObjectId>,
    onSearched: (commits: number) => void,
  ): Promise<Map<ObjectId, Damage>>;
  /**
   * Writes what is to stay of all objects into packs of its own, durably and checked: what refs reach, and what was
   * written within the grace period. Removes nothing. Needs the shared lock.
   * @throws SnapError NO_SPACE, STORE_DAMAGED
   */
  packKept(graceSeconds: number): Promise<KeptObjects>;
  /**
   * Removes all other objects that were there then, but for what refs reach by now, and puts refs together in one file.
   * Needs the exclusive lock. @throws SnapError STORE_DAMAGED, and nothing was removed
   */
  removeRest(kept: KeptObjects): Promise<void>;
  /** The bytes that the objects which these commits reach take on the disk as they lie there, each counted once. */
  bytesReachable(commits: readonly ObjectId[]): Promise<number>;
  /** What snapshots take on the disk as it lies there, and how much of it is whose. Reads each tree once. */
  usage(question: UsageQuestion): Promise<StoreUsage>;
  /** What all packs take, those left out that were written after `since` (milliseconds), and loose objects. No process. */
  bytesOfObjects(since?: number): number;
  /** From how many bytes of objects on garbage is to be looked for again, as it was noted; a hint. No process. */
  nextLook(): number | undefined;
  noteNextLook(bytes: number): void;
  /** How many packs there are that can be put together. No process. */
  countPacks(): number;
  /**
   * Puts packs together in one beside them, durably; undefined when there is nothing to gather. Needs the shared lock.
   * @throws SnapError NO_SPACE, GIT_FAILED
   */
  gatherPacks(): Promise<GatheredPacks | undefined>;
  /** Removes packs that were gathered, as far as the new ones hold all that they hold. Needs the exclusive lock. */
  removeGathered(packs: GatheredPacks): Promise<void>;
  /** Puts refs together in one file. Needs the exclusive lock. */
  packRefs(): Promise<void>;
  /** Leftovers of killed processes: temporary packs, ref locks. Needs the exclusive lock, or a lock that names them. */
  sweep(): Promise<void>;
  /** True when there is something that a killed process may have left (or that one who works at the moment uses). */
  hasLeftovers(): boolean;
  diff(from: string, to: string, request: GitRequest, scratch?: string): Promise<number>;
  log(refs: readonly string[], request: GitRequest): Promise<number>;
  sizeOnDisk(): Promise<number>;
  gitVersion(): Promise<string>;
}

export interface GitRequest {
  readonly options: readonly string[];
  /** Literal paths as stored (escaped), bytes. */
  readonly paths: readonly string[];
  readonly output: GitOutput;
}

/** Packs by the names of their files without a suffix. */
export interface GatheredPacks {
  readonly old: readonly string[];
  /** What all of the old ones hold. */
  readonly new: readonly string[];
}

/** What a collection of garbage is about to keep, and what is to go. */
export interface KeptObjects {
  /** Commits of which all that they reach is in the new packs. */
  readonly complete: readonly ObjectId[];
  /** Packs, by the names of their files without a suffix. */
  readonly goingPacks: readonly string[];
  readonly goingLoose: readonly string[];
  /** With each object that stays all that it reaches stays, as far as it was there. */
  readonly closed: boolean;
  /** What the new packs take on the disk. */
  readonly bytesWritten: number;
  /** What is kept for its age alone takes so much. */
  readonly bytesYoung: number;
  /** What is kept for its age alone could not be packed anew: all of it stays as it lies. */
  readonly youngAsItLay: boolean;
}

export interface HeldLock {
  release(): void;
}

/** Kernel locks: gone with the process, so that none is ever stale. */
export interface Locks {
  /** @throws SnapError BUSY when it is not had within `waitSeconds`. */
  instance(name: InstanceName, waitSeconds?: number): Promise<HeldLock>;
  storeShared(waitSeconds?: number): Promise<HeldLock>;
  storeExclusive(waitSeconds?: number): Promise<HeldLock>;
  /** For who puts packs together: one at a time is enough. */
  housekeeping(waitSeconds?: number): Promise<HeldLock>;
}

/** Opens a mount's root without following a final link. */
export type OpenMount = (path: HostPath) => WritableDirectory;

/** What the last save knew of a mount. A hint: all of it may be left unasked. */
export interface StatCache {
  readonly notes: StatCacheNotes;
  /**
   * A look-up for one directory: the blob of a file whose stat is exactly as recorded. Names must be asked for in
   * byte order.
   */
  directory(path: EntryPath): (name: string, stat: EntryStat) => ObjectId | undefined;
  /** Looks at all that is recorded, by its stat alone. `pause` is awaited now and then. */
  recheck(root: Directory, pause: () => Promise<void>): Promise<UnchangedParts>;
}

/** What stats do not say of a mount that was saved. */
export interface StatCacheNotes {
  readonly defaults: ManifestMount['defaults'];
  readonly attributes: readonly AttributeLine[];
  readonly leftOut: readonly ObservedOnly[];
  readonly repositories: readonly RecordedRepository[];
}

/** A repository in the mount, and what all that is known of it came to. */
export interface RecordedRepository {
  readonly path: EntryPath;
  readonly fingerprint: string;
  readonly dirty: boolean | null;
  /** How far which commit was ahead of which; null where that could not be known. Absent where nobody asked. */
  readonly ahead?: { readonly head: ObjectId; readonly upstream: ObjectId; readonly count: number | null } | undefined;
}

export interface UnchangedParts {
  /** The share of the recorded directories that are as recorded, apart from what lies below them: 0 to 1. */
  readonly share: number;
  /**
   * The subtree at the path when it is as recorded in every entry, and was let in by rules with this key; null: by
   * whatever rules.
   */
  subtree(path: EntryPath, rules: string | null): RecordedSubtree | undefined;
  /**
   * The directory at the path when its names and its own files are as recorded, its stat is this one, and it was let in
   * by rules with this key: something further below it may have changed.
   */
  directory(path: EntryPath, rules: string, stat: EntryStat): RecordedDirectory | undefined;
}

/** Files and links as recorded. */
export interface RecordedPart {
  readonly path: EntryPath;
  /** Undefined when nothing at the path or below it was stored. */
  readonly tree: ObjectId | undefined;
  tally(): RecordedTally;
  /** The stored file or link at the path, which is in this part. */
  find(path: EntryPath): RecordedEntry | undefined;
  /** The stored files and links. */
  paths(): Iterable<EntryPath>;
}

/** A directory and all below it. */
export type RecordedSubtree = RecordedPart;

/** A directory's own files and links, apart from its subdirectories. */
export interface RecordedDirectory extends RecordedPart {
  /** Names of the subdirectories that were entered. */
  readonly subdirectories: readonly string[];
  files(): Iterable<{ readonly name: string } & Pick<RecordedEntry, 'kind' | 'mode' | 'size' | 'oid'>>;
}

export interface RecordedTally {
  /** Regular files. */
  readonly files: number;
  readonly links: number;
  /** Sizes of the regular files. */
  readonly bytes: number;
  /** How many entries have the same mode (type bits included) and owner. */
  readonly alike: readonly {
    readonly mode: number;
    readonly uid: number;
    readonly gid: number;
    readonly count: number;
  }[];
  /** Inodes of what has more names than one. */
  readonly linked: readonly number[];
}

export interface RecordedEntry {
  readonly path: EntryPath;
  readonly kind: 'file' | 'symlink';
  readonly mode: number;
  readonly size: number;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly oid: ObjectId;
}

export interface RecordedFile {
  readonly name: string;
  readonly stat: EntryStat;
  readonly oid: ObjectId;
}

/** Takes down what this walk learnt, for the next one. */
export interface StatCacheRecorder {
  /** `rules` is the key of the rules that let the directory in. */
  enter(path: EntryPath, stat: EntryStat, rules: string): void;
  /**
   * The directory that was entered last is over: its stored files and links that are settled. `firm` when these are
   * all, and every change in it would show in a stat of it or of them. `adopted` has further ones.
   */
  leave(
    files: readonly RecordedFile[],
    tree: ObjectId | undefined,
    firm: boolean,
    adopted: RecordedDirectory | undefined,
  ): void;
  /** Takes over a subtree in the place of entering it. */
  adopt(subtree: RecordedSubtree): void;
}

/** An instance whose own files cannot be read: its folders and settings are not known. */
export interface DamagedInstance {
  readonly name: InstanceName;
  readonly problem: string;
}

export interface InstanceRegistry {
  /** All instances whose record can be read, by name. */
  all(): InstanceRecord[];
  /** The others, by name. They stand in nobody's way but their own. */
  damaged(): DamagedInstance[];
  /** @throws SnapError CONFIGURATION_INVALID when there is one that cannot be read */
  find(name: InstanceName): InstanceRecord | undefined;
  /** Durable when it returns. @throws SnapError CONFIGURATION_INVALID rather than replace one that cannot be read */
  write(record: InstanceRecord): void;
  remove(name: InstanceName): void;
  /** The highest number that was used by a snapshot that is gone. */
  lastSeq(name: InstanceName): Seq | undefined;
  recordLastSeq(name: InstanceName, seq: Seq): void;
  /** The number of the emergency snapshot of the last restore, be that snapshot there or not. */
  lastRestore(name: InstanceName): Seq | undefined;
  recordRestore(name: InstanceName, emergency: Seq): void;
  /** The commits of the snapshots that came from another store, by their numbers. */
  fetched(name: InstanceName): ReadonlyMap<Seq, ObjectId>;
  recordFetched(name: InstanceName, snapshots: readonly Pick<SnapshotRef, 'seq' | 'commit'>[]): void;
  readActivity(name: InstanceName): string | undefined;
  writeActivity(name: InstanceName, text: string): void;
  clearActivity(name: InstanceName): void;
  /** The worktrees that `run` made, by name, those that are gone too. One that cannot be read has only its name. */
  worktrees(): (WorktreeRecord | Pick<WorktreeRecord, 'name'>)[];
  /** @throws SnapError CONFIGURATION_INVALID when there is one that cannot be read */
  findWorktree(name: InstanceName): WorktreeRecord | undefined;
  /** Durable when it returns. */
  writeWorktree(record: WorktreeRecord): void;
  /** One of which nothing is left. */
  forgetWorktree(name: InstanceName): void;
  /** Removes what writes that were killed left. The caller holds the instance's lock. */
  clearUnfinished(name: InstanceName): void;
}

export interface Processes {
  /** When the process started, in a form to compare only; undefined when it is not there. */
  startOf(pid: number): string | undefined;
  bootId(): string;
}

/** The record of one restore; every append is durable when it returns. */
export interface Journal {
  /** Durable when it returns; where it fails, none of them is there. */
  append(records: readonly JournalRecord[]): void;
  close(): void;
  /** The restore is over: nothing is pending any more. */
  remove(): void;
}

export interface Journals {
  pending(): InstanceName[];
  /** @throws SnapError JOURNAL_DAMAGED */
  read(instance: InstanceName): JournalRecord[] | undefined;
  create(instance: InstanceName): Journal;
  reopen(instance: InstanceName): Journal;
}
