import type { FileChange, RepositoryWork } from '../core/assessment.js';
import type { Caller } from '../core/caller.js';
import type { EntryPath, HostPath } from '../core/entry-path.js';
import type { GitRestorePlan } from '../core/git-restore-plan.js';
import type { GitState, ProtectedObjects } from '../core/git-state.js';
import type { InstanceName, MountName, ObjectId, SnapshotId } from '../core/ids.js';
import type { Containers } from '../core/containers.js';
import type { SecretScanner } from '../core/content-secrets.js';
import type { DrillNotes } from '../core/drill-note.js';
import type { JackinHome } from '../core/jackin/home.js';
import type {
  Directory,
  InstanceRegistry,
  Journals,
  Locks,
  ObjectReader,
  ObjectWriter,
  OpenMount,
  Processes,
  StatCache,
  StatCacheNotes,
  StatCacheRecorder,
  Store,
} from '../core/ports.js';
import type { PresentFile } from '../core/present-file.js';
import type { Remotes } from '../core/remote/remotes.js';
import type { RestoreThreads } from '../core/restore-threads.js';
import type { Progress, RepositoryState } from '../core/results.js';
import type { StackPreset } from '../core/stacks/preset.js';
import type { Worktrees } from '../core/worktrees.js';
import type { Interruption } from './interruption.js';
import type { LookingWriter } from './restore/hashing.js';

/** What operations work with. `snap.ts` joins it to the disk, git and the clock; a test may join it to anything. */
export interface Context {
  readonly store: Store;
  readonly locks: Locks;
  readonly registry: InstanceRegistry;
  readonly journals: Journals;
  readonly drillNotes: DrillNotes;
  readonly processes: Processes;
  readonly host: Host;
  readonly statCaches: StatCaches;
  readonly repositories: Repositories;
  readonly gitStates: GitStates;
  readonly stackFiles: StackFiles;
  /** Loaded for the commands that need them. */
  readonly worktrees: () => Promise<Worktrees>;
  readonly remotes: () => Promise<Remotes>;
  /** Names content like the store, and tree objects as nothing in particular: for looking only. */
  readonly hasher: LookingWriter;
  /** For a restore of many files. */
  readonly startRestoreThreads: () => Promise<RestoreThreads | undefined>;
  readonly now: () => Date;
  /** What was written within so many seconds is not removed, needed or not. */
  readonly graceSeconds: number;
  readonly newId: () => SnapshotId;
  readonly interruption: Interruption;
  readonly onProgress: (progress: Progress) => void;
  /** Name and version of this program, for manifests. */
  readonly program: string;
  /** The instance that was named, if one was. */
  readonly instance: InstanceName | null;
  /** A new archive file, compressed when asked; the path must be free. */
  readonly newArchive: (path: HostPath, compress: boolean) => Archive;
  readonly containers: Containers;
  /** jackin's own files, to be read. @param home where its data lies; default: where the environment says */
  readonly jackin: (home?: string) => Promise<JackinHome>;
  /** Loaded for the first snapshot of state. */
  readonly secretScanner: () => Promise<SecretScanner>;
  /** The caller's process, which owns what `run` and `activate` mark active. */
  readonly pid: number;
}

/** What the user keeps of stack presets in the data directory. */
export interface StackFiles {
  /**
   * The presets that the user has written, by name. Nothing else is ever taken for one.
   * @throws SnapError CONFIGURATION_INVALID when any file among them is not in order
   */
  presets(): Promise<readonly StackPreset[]>;
  /** All files that are meant to be presets, in order or not. */
  files(): Promise<readonly { readonly file: string; readonly checked: CheckedPreset }[]>;
  /** Reads a file as a preset of its name, wherever it lies. */
  check(path: HostPath): Promise<CheckedPreset>;
  /** The names in the text of a recommendation. @throws SnapError CONFIGURATION_INVALID naming the line */
  readRecommendation(file: HostPath, content: string): Promise<readonly string[]>;
  /** What was approved for the file at the path; undefined where nothing was. */
  approval(file: HostPath): StackApproval | undefined;
  /** Durable when it returns; null takes an approval back. */
  setApproval(file: HostPath, approval: StackApproval | null): void;
}

/** A preset, or what is wrong with its file. */
export type CheckedPreset =
  | { readonly preset: StackPreset; readonly problems: null }
  | { readonly preset: null; readonly problems: readonly { readonly line: number; readonly problem: string }[] };

/** Consent to what a file in a mount recommends, for just the content that it had. */
export interface StackApproval {
  /** SHA-256 of its content, in hex. */
  readonly sha256: string;
  readonly presets: readonly string[];
}

export interface Archive {
  write(chunk: Uint8Array): Promise<void>;
  /** Durable when it returns. */
  finish(): Promise<void>;
  /** Leaves no file behind. */
  abandon(): Promise<void>;
}

/** The host's folders, by path. */
export interface Host {
  readonly cwd: HostPath;
  readonly home: HostPath | null;
  readonly dataDirectory: HostPath;
  readonly openMount: OpenMount;
  /** Undefined when nothing is there. */
  realPath(path: HostPath): HostPath | undefined;
  identity(path: HostPath): { readonly dev: bigint; readonly ino: bigint; readonly directory: boolean } | undefined;
  /** True when the path is the home directory of some user of this machine. */
  isHome(path: HostPath): boolean;
  /** Where `run` puts worktrees; it need not exist. */
  readonly worktreesDirectory: HostPath;
  /** A new directory, mode 0700, with those above it that are missing; durable. */
  makePrivateDirectories(path: HostPath): void;
  /** A new directory, mode 0700; its parent must exist. @throws system error EEXIST */
  makeDirectory(path: HostPath): void;
  /** SHA-256 of a text's bytes (latin1), in hex. */
  digest(bytes: string): string;
  /** Bytes that are free where the path lies. */
  freeBytes(path: HostPath): number;
  /** Makes everything on the file system of a held directory durable; false when that cannot be had. */
  syncFileSystem(descriptorPath: string): Promise<boolean>;
  /** Who this process is where owners are set; null when that is not known. */
  caller(): Caller | null;
  /** Where other file systems, or other places of the same one, are mounted below a folder. */
  mountPointsBelow(path: HostPath): ReadonlySet<EntryPath>;
}

export interface StatCaches {
  read(instance: InstanceName, mount: MountName, dev: bigint): StatCache | undefined;
  /** Takes away those that are damaged, so that the next save makes them anew. @returns how many */
  removeDamaged(): number;
  newRecorder(
    dev: bigint,
  ): StatCacheRecorder & { write(instance: InstanceName, mount: MountName, notes: StatCacheNotes): void };
}

/** A user's repository, read in process. */
export interface UserRepository {
  readonly kind: 'clone' | 'worktree';
  /** Without `ahead`. */
  readonly state: RepositoryState;
  /** What the branch's upstream names, as it was last fetched; null when there is none, or it is not known. */
  readonly upstreamCommit: ObjectId | null;
  /** .git/info/exclude: its bytes, null when there is none, 'unreadable' when it cannot be known. */
  readonly excludeFile: string | null;
  readonly excludeUnreadable: boolean;
  /** The same for a repository of which the same is known, its index to the byte. */
  readonly fingerprint: string;
  /** Null when the index cannot be read: any path may be tracked. */
  readonly tracked: { has(path: string): boolean; hasBelow(directory: string): boolean } | null;
  /** True, false, or null when it cannot be known. Paths are relative to the repository's folder. */
  isDirty(present: (path: EntryPath) => PresentFile | undefined, hasUntracked: boolean): boolean | null;
  /** What is not committed, file by file. @param directory the repository's folder, held anew */
  changes(
    directory: Pick<Directory, 'descriptorPath'>,
    present: (path: EntryPath) => PresentFile | undefined,
    untracked: readonly EntryPath[],
  ): Promise<Changes>;
}

export interface Changes {
  readonly files: readonly FileChange[];
  /** What could not be known, in words. */
  readonly unknown: readonly string[];
}

export interface Repositories {
  /** Undefined when the directory holds no `.git` that is one. */
  read(directory: Directory, gitEntry: 'directory' | 'file'): Promise<UserRepository | undefined>;
  /** How many commits one has that the other lacks; null when that cannot be known within the bounds of a save. */
  countAhead(
    directory: Pick<Directory, 'descriptorPath'>,
    gitEntry: 'directory' | 'file',
    commits: { readonly head: ObjectId; readonly upstream: ObjectId },
  ): Promise<number | null>;
  /** Branches, stashes and the like; what cannot be read is said in it. */
  readWork(directory: Pick<Directory, 'descriptorPath'>, gitEntry: 'directory' | 'file'): Promise<RepositoryWork>;
  /** Hooks, and configuration that may name programs: each file with a digest, to be compared only. */
  readSelfRunning(directory: Directory, gitEntry: 'directory' | 'file'): Promise<ReadonlyMap<EntryPath, string>>;
}

/** What only a user's repository holds, read and written in process. */
export interface GitStates {
  /** Takes it into the store. Never fails over what the repository is: the answer says what is not protected. */
  protect(request: ProtectRequest): Promise<Protection>;
  /** Looks at a folder's repository, and holds it; or why nothing is written to it. Nothing is changed. */
  prepareRestore(request: GitRestoreRequest): Promise<PreparedGitRestore | { readonly refused: string }>;
  /** For what somebody else made: whether it holds all that it says that it holds. */
  newCheck(request: {
    readonly reader: Pick<ObjectReader, 'read' | 'find'>;
    readonly pause: () => Promise<void>;
  }): Promise<GitStateCheck>;
}

/** For one snapshot after the other: what they share is read once. */
export interface GitStateCheck {
  /**
   * What is lacking, in words; undefined where nothing is.
   * @param held of trees and blobs only those that the snapshot names one by one; all below such a tree is there
   * @throws SnapError STORE_DAMAGED where something is kept under the id of another object
   */
  gapIn(state: GitState, held: ProtectedObjects): Promise<string | undefined>;
}

export interface GitRestoreRequest {
  readonly directory: Pick<Directory, 'descriptorPath' | 'stat'>;
  /** The folder's real path. */
  readonly path: HostPath;
  readonly state: GitState;
  /** What the snapshot holds; trees and blobs with all that lie below trees. */
  readonly held: ProtectedObjects;
  readonly reader: Pick<ObjectReader, 'read'>;
  /** Branches that the restore which is taken back had made, by the commit that it put there. */
  readonly madeBefore: ReadonlyMap<string, ObjectId>;
  readonly pause: () => Promise<void>;
}

export interface PreparedGitRestore {
  readonly plan: GitRestorePlan;
  /**
   * Objects first, durably, then refs, index, stashes and HEAD, each under git's lock. Killed anywhere, the same again
   * leads to the same end. @returns what could not be changed
   */
  apply(note: {
    readonly seconds: number;
    readonly message: string;
  }): Promise<readonly { readonly path: string; readonly reason: string }[]>;
  close(): void;
}

export interface ProtectRequest {
  readonly directory: Pick<Directory, 'descriptorPath'>;
  readonly gitEntry: 'directory' | 'file';
  readonly writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree' | 'has'>;
  readonly known: () => Promise<KnownInStore>;
  readonly includeSecrets: boolean;
  readonly rootName: string;
  readonly limits: { readonly fileBytes: number; readonly totalBytes: number; readonly objects: number };
  /** The same text for the same way of taking things in. */
  readonly manner: string;
  /** Whether there is a state with this fingerprint: then nothing is taken in. */
  readonly isKnown: (fingerprint: string) => boolean;
  readonly pause: () => Promise<void>;
}

/** What the store has, by its own account: what a repository says of an id is not believed. */
export interface KnownInStore {
  /** Blobs. */
  readonly files: ReadonlySet<ObjectId>;
  /** Trees of the user's, with all below them. */
  readonly trees: ReadonlySet<ObjectId>;
}

export type Protection =
  | { readonly kind: 'protected'; readonly state: GitState; readonly objects: ProtectedObjects }
  | { readonly kind: 'unchanged' }
  /** Nothing is protected, and why. */
  | { readonly kind: 'unprotected'; readonly why: string };
