import type { LeftOutReason } from './entry.js';
import type { EntryPath, HostPath } from './entry-path.js';
import type { MissingReason } from './git-state.js';
import type { EndedActivity, ExitDecision } from './instance-record.js';
import type { DirtyExitPolicy } from './jackin/configuration.js';
import type { SessionStatus } from './jackin/session-status.js';
import type { InstanceName, MountName, ObjectId, Seq, SnapshotId } from './ids.js';
import type { Policy } from './policy.js';
import type { StateInSnapshot, StateMissing, StateSize } from './state/results.js';

/*
 * What the library answers. Paths are bytes (see entry-path); views turn them into text or JSON.
 */

export const triggers = ['manual', 'run_start', 'pre_write', 'post_step', 'emergency'] as const;
export type Trigger = (typeof triggers)[number];

export type MountKind = 'plain' | 'clone' | 'worktree';

/** Names one snapshot without its details. */
export interface SnapshotPointer {
  readonly instance: InstanceName;
  readonly seq: Seq;
  readonly id: SnapshotId;
  readonly ref: string;
}

export interface Snapshot extends SnapshotPointer {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  readonly trigger: Trigger;
  readonly message: string;
  /** ISO 8601 in UTC, milliseconds. */
  readonly createdAt: string;
  readonly parentSeq: Seq | null;
}

export interface ListedSnapshot extends Snapshot {
  readonly files: number;
  readonly sizeBytes: number;
  readonly pinned: boolean;
  readonly recoveryOf: SnapshotPointer | null;
  readonly restorable: boolean;
}

/** The state of a user's repository as it was read in process; `null` is "none" or "could not be known". */
export interface RepositoryState {
  readonly head: ObjectId | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  /** Commits that the upstream, as it was last fetched, lacks; absent where that is not known. */
  readonly ahead?: number;
  readonly dirty: boolean | null;
  /** `merge`, `rebase`, `cherry-pick`, `revert`, `bisect`, `am`, or null. */
  readonly operation: string | null;
  /** What could not be read, in words: "index version 4" and the like. */
  readonly unknown: readonly string[];
}

export interface MountSummary {
  readonly name: MountName;
  readonly path: HostPath;
  readonly kind: MountKind;
  readonly baseCommit: ObjectId | null;
  readonly branch: string | null;
  readonly dirty: boolean | null;
  /** Repositories below the mount's root, by their path. */
  readonly nested: readonly ({ readonly path: EntryPath } & RepositoryState)[];
  readonly upstream: string | null;
  readonly operation: string | null;
  readonly unknown: readonly string[];
  /** Absent where commits are not protected. */
  readonly protected?: ProtectedState;
}

/** What a snapshot holds of a mount's repository beside its files. */
export interface ProtectedState {
  /** False when something that should have been taken in was not; secrets are left out by rule. */
  readonly complete: boolean;
  /** Commits that no remote has. */
  readonly commits: number;
  readonly branches: number;
  readonly stashes: number;
  /** Whether what is staged is held. */
  readonly staged: boolean;
  readonly operation: string | null;
  /** The first objects that were not taken in. `path` as bytes, null where it has none. */
  readonly missing: readonly {
    readonly object: ObjectId;
    readonly path: string | null;
    readonly reason: MissingReason;
  }[];
  readonly missingTotal: number;
  readonly problems: readonly string[];
}

export interface ObservedOnlyEntry {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly reason: LeftOutReason;
}

export interface SaveStats {
  readonly filesObserved: number;
  readonly filesStored: number;
  readonly filesReused: number;
  readonly filesRead: number;
  readonly bytesRead: number;
  readonly bytesAdded: number;
  /** The sum of the sizes of all stored files. */
  readonly bytesStored: number;
}

export interface SaveResult {
  readonly snapshot: Snapshot;
  readonly created: boolean;
  /** The instance was made by this save. */
  readonly newInstance: boolean;
  readonly stats: SaveStats;
  readonly mounts: readonly MountSummary[];
  readonly observedOnly: readonly ObservedOnlyEntry[];
  /** Where the instance is to have its session's state stored, and the save was not limited to paths. */
  readonly state?: StateSummary;
  readonly complete: boolean;
  readonly messages: readonly string[];
}

/** What a save stored of what a session's agents keep beside the mounts. */
export type StateSummary =
  | { readonly stored: false; readonly reason: StateMissing; readonly why: string }
  | (StateSize & { readonly stored: true; readonly observedOnly: readonly ObservedOnlyEntry[] });

export interface InstanceSummary {
  readonly name: InstanceName;
  /**
   * `damaged`: its own files cannot be read; `fetched`: it has none, since its snapshots came from a remote; `lost`: it has
   * none any more. The rest is then what its last snapshot tells.
   */
  readonly state: 'open' | 'closed' | 'damaged' | 'fetched' | 'lost';
  /** How it stands, in one word: see `statusOf`; `damaged`, `fetched` and `lost` too. */
  readonly status: string;
  readonly active: boolean;
  readonly owner: string | null;
  readonly mounts: readonly { readonly name: MountName; readonly path: HostPath; readonly present: boolean }[];
  readonly snapshots: number;
  readonly latest: Seq | null;
  readonly sizeBytes: number;
  readonly pendingRestore: boolean;
  readonly policy: Policy;
  readonly createdAt: string;
  readonly exitPolicy: DirtyExitPolicy;
  readonly exit?: ExitDecision;
  /** How its last activity ended, where its owner did not say so. */
  readonly ended?: EndedActivity;
  /** The session of jackin's that it stands for, as it really is. */
  readonly session?: SessionStatus;
}

export interface ListResult {
  readonly instance: InstanceName;
  readonly snapshots: readonly ListedSnapshot[];
  readonly messages: readonly string[];
}

/** A stack preset that was in force in a mount when a snapshot was made. */
export interface StackInSnapshot {
  readonly mount: MountName;
  readonly name: string;
  readonly detect: readonly (readonly string[])[];
  readonly patterns: readonly string[];
}

export interface ShowResult {
  readonly snapshot: ListedSnapshot;
  readonly mounts: readonly MountSummary[];
  readonly policy: Policy;
  readonly stats: { readonly filesStored: number; readonly bytesStored: number; readonly filesObserved: number };
  readonly observedOnly: readonly ObservedOnlyEntry[];
  readonly stacks: readonly StackInSnapshot[];
  /** Where the session's state was to be stored beside the mounts. */
  readonly state?: StateInSnapshot;
  readonly complete: boolean;
  readonly sourceTool: string | null;
  readonly phase: string | null;
  readonly decision: string | null;
  readonly resource: string | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly messages: readonly string[];
}

export interface TreeLine {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly kind: 'file' | 'symlink' | 'directory';
  readonly mode: number;
  readonly sizeBytes: number | null;
  /** The link's text, as bytes. */
  readonly target: string | null;
}

export type PlanAction = 'create' | 'overwrite' | 'delete' | 'chmod' | 'retype';

export interface PlannedChange {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly hostPath: HostPath;
  readonly action: PlanAction;
  readonly reason: string;
  /** What the path is before and after: a kind, or "nothing". */
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}

export interface KeptPath {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly reason: string;
}

export interface RestoreResult {
  readonly instance: InstanceName;
  readonly fromSnapshot: SnapshotPointer;
  readonly emergencySnapshot: SnapshotPointer | null;
  readonly dryRun: boolean;
  readonly restoredFiles: number;
  readonly deletedFiles: number;
  readonly changed: readonly { readonly mount: MountName; readonly path: EntryPath }[];
  readonly plan: readonly PlannedChange[];
  readonly kept: readonly KeptPath[];
  /** Paths that should have been restored and could not be: exit 6. */
  readonly failed: readonly KeptPath[];
  readonly filesAffected: number;
  readonly bytesWritten: number;
  readonly activeSnapshot: SnapshotPointer | null;
  readonly verified: boolean;
  readonly destination: HostPath | null;
  readonly messages: readonly string[];
}

export interface RemovalResult {
  /** Null where the whole store is meant. */
  readonly instance: InstanceName | null;
  readonly dryRun: boolean;
  readonly removed: readonly SnapshotPointer[];
  readonly kept: readonly SnapshotPointer[];
  /** Bytes that the data directory's file system got back; 0 for a dry run. */
  readonly freedBytes: number;
  readonly messages: readonly string[];
}

export interface CheckResult {
  readonly ok: boolean;
  readonly snapshotsChecked: number;
  readonly damaged: readonly DamagedSnapshot[];
  /** What is wrong with the store, be a snapshot concerned or not. */
  readonly problems: readonly string[];
  /** How much content was hashed; null where that was not asked for. */
  readonly content: { readonly objectsChecked: number; readonly objectsTotal: number } | null;
}

/** A snapshot that cannot be read back in full. */
export interface DamagedSnapshot {
  readonly snapshot: SnapshotPointer;
  readonly problem: string;
  /** The first paths that are lost. */
  readonly paths: readonly DamagedPath[];
  /** How many there are; a directory counts as one, with all below it. */
  readonly pathsTotal: number;
}

export interface DamagedPath {
  /** Null: it is none of a mount, but of the snapshot's own records, or above the mounts; '' is the whole snapshot. */
  readonly mount: MountName | null;
  readonly path: EntryPath;
  readonly kind: 'file' | 'directory';
}

/** What came of restoring a snapshot elsewhere and reading all of it back. */
export interface DrillResult {
  readonly snapshot: SnapshotPointer;
  readonly ok: boolean;
  readonly files: number;
  readonly bytes: number;
  /** Paths that are not as in the snapshot, with what is different. */
  readonly differences: readonly KeptPath[];
  readonly messages: readonly string[];
}

export interface DoctorFinding {
  /** `fixed`: it was a problem, or would have become one. */
  readonly level: 'ok' | 'fixed' | 'note' | 'problem';
  /** A problem that is damage to the store, a snapshot or a record: something that was written is not as it was. */
  readonly isDamage?: boolean;
  readonly what: string;
  readonly hint: string | null;
}

export interface DoctorResult {
  readonly ok: boolean;
  /** Some problem is damage. */
  readonly damaged: boolean;
  readonly findings: readonly DoctorFinding[];
}

/** Progress of long work: `total` is null while it is not known. */
export interface Progress {
  readonly phase: 'scan' | 'store' | 'compare' | 'restore' | 'verify' | 'export' | 'check' | 'fetch' | 'push';
  readonly files: number;
  readonly bytes: number;
  readonly totalFiles: number | null;
  readonly totalBytes: number | null;
}
