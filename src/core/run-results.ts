import type { LeftOutReason } from './entry.js';
import type { EntryPath, HostPath } from './entry-path.js';
import type { InstanceName, MountName, ObjectId } from './ids.js';
import type { SnapshotLevel } from './policy.js';
import type { SnapshotPointer } from './results.js';
import type { SelfRunningKind } from './self-running.js';

/*
 * What the library answers about commands that were run, and the worktrees that they ran in.
 */

export interface RunResult {
  readonly instance: InstanceName;
  readonly exitCode: number;
  /** What the instance's snapshots store; with `off`, a run makes none. */
  readonly snapshotLevel: SnapshotLevel;
  /** Null when it could not be made and the command was run all the same, or when snapshots are off. */
  readonly before: SnapshotPointer | null;
  /** Null when the snapshot after the command could not be made, `messages` says why; or when snapshots are off. */
  readonly after: SnapshotPointer | null;
  /** Null when there are no two snapshots to compare. */
  readonly changes: RunChanges | null;
  readonly complete: boolean;
  /** Why there is no restore into the folders any more, though into a new one; null where there is. */
  readonly blocked: RunBlock | null;
  /** Where the command ran, if that was a worktree of its own. */
  readonly worktree: RunWorktree | null;
  /** What was decided about the session since its exit policy says so; null where nothing was. */
  readonly exitDecision: 'keep' | 'discard' | null;
  readonly messages: readonly string[];
}

/** After the command a folder of the instance is gone, or is another one, or the instance is closed. */
export type RunBlock = 'gone' | 'replaced' | 'closed';

export interface RunWorktree {
  /** Also the name of its instance. */
  readonly name: InstanceName;
  readonly path: HostPath;
  /** What is checked out in it, null where HEAD names a commit; the branch that was made for it where it was removed. */
  readonly branch: string | null;
  readonly baseCommit: ObjectId;
  readonly kept: boolean;
  /** The branch that was made for it is there. */
  readonly branchStays: boolean;
  /** Why it was not removed although it should have been: what would be lost, in words. */
  readonly unsaved: readonly string[];
  /** What kept it since nobody acknowledged that it may go, by the names that `discard` takes. */
  readonly unacknowledged: readonly string[];
}

/**
 * `active`: a command runs in it. `kept`: nobody does. `gone`: somebody else removed its files. `unfinished`, `removing`:
 * a process was killed at that; `run remove` ends it. `damaged`: its record cannot be read.
 */
export type WorktreeState = (typeof worktreeStates)[number];
export const worktreeStates = ['active', 'kept', 'gone', 'unfinished', 'removing', 'removed', 'damaged'] as const;

/** What is null is not known, or there is none. */
export interface WorktreeSummary {
  readonly name: InstanceName;
  readonly state: WorktreeState;
  readonly path: HostPath | null;
  readonly repository: HostPath | null;
  /** What is checked out in it by now. */
  readonly branch: string | null;
  readonly baseCommit: ObjectId | null;
  readonly baseBranch: string | null;
  readonly head: ObjectId | null;
  /** Commits since the base. */
  readonly ahead: number | null;
  readonly dirty: boolean | null;
  readonly exitCode: number | null;
  readonly createdAt: string | null;
}

export interface WorktreeRemoval {
  readonly name: InstanceName;
  readonly path: HostPath;
  readonly branch: string;
  /** The branch has commits of its own, or may have. */
  readonly branchStays: boolean;
  /** What it held; null where its files were gone. */
  readonly snapshot: SnapshotPointer | null;
  /** What went with it although no snapshot has it. */
  readonly messages: readonly string[];
}

/** What a command changed, as far as snapshots show it. */
export interface RunChanges {
  /** Paths. */
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly files: readonly ChangedFile[];
  /** What the first snapshot has and the second left out: whether it is there, and as it was, neither can tell. */
  readonly noLongerStored: readonly NoLongerStored[];
  /** Files that may be executed now, and could not before. */
  readonly newExecutables: readonly Pick<ChangedFile, 'mount' | 'path'>[];
  /** Files among the changed ones, and besides, that make something run by itself. */
  readonly selfRunning: readonly SelfRunningChange[];
}

export interface ChangedFile {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly change: 'added' | 'modified' | 'deleted';
  /** Null where the content is binary. */
  readonly lines: { readonly added: number; readonly removed: number } | null;
}

export interface NoLongerStored {
  readonly mount: MountName;
  readonly path: EntryPath;
  /** Why the second snapshot left it out, or a directory above it. */
  readonly reason: LeftOutReason;
  /** What it makes run by itself, if anything. */
  readonly selfRunning: SelfRunningKind | null;
}

export interface SelfRunningChange {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly kind: SelfRunningKind;
  readonly change: 'added' | 'modified' | 'deleted';
  /** False: no snapshot has it, so that neither diff nor restore knows of it. */
  readonly stored: boolean;
}
