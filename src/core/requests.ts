import type { Assessment, NamedRisk } from './assessment.js';
import type { DiscardResult, KeepResult, ResumeResult } from './session-results.js';
import type { EntryPath, HostPath } from './entry-path.js';
import type { InstanceName, MountName } from './ids.js';
import type { NamedMount } from './jackin/mount-table.js';
import type { ExplainResult, PlanResult, UsageResult } from './plan-result.js';
import type { Policy, PolicyOverrides } from './policy.js';
import type { ImportResult, RecoveryResult, StartingPoint } from './recovery-results.js';
import type {
  CheckResult,
  DoctorResult,
  DrillResult,
  InstanceSummary,
  KeptPath,
  ListResult,
  PlannedChange,
  Progress,
  RemovalResult,
  RestoreResult,
  SaveResult,
  ShowResult,
  SnapshotPointer,
  TreeLine,
  Trigger,
} from './results.js';
import type { FetchRequest, FetchResult, PushRequest, PushResult } from './remote/results.js';
import type { RunResult, WorktreeRemoval, WorktreeSummary } from './run-results.js';

import type { ExportedState } from './state/results.js';
import type { StackApprovalResult, StackListResult, StackSummary, StackValidation } from './stacks/result.js';

/*
 * What the library is asked. `snap.ts` answers; the command line is its first user.
 */

/** A path as it was typed: relative to a mount's root, `mount` null where it was not named. Bytes. */
export interface PathArgument {
  readonly mount: MountName | null;
  readonly path: EntryPath;
}

export interface SaveRequest {
  /** The folders of a new instance, or those that the instance has; empty for an instance that exists. */
  readonly folders?: readonly { readonly name: MountName | null; readonly path: HostPath }[];
  readonly message?: string | undefined;
  readonly trigger?: Trigger | undefined;
  readonly sourceTool?: string | undefined;
  readonly phase?: string | undefined;
  readonly decision?: string | undefined;
  readonly resource?: string | undefined;
  readonly meta?: Readonly<Record<string, string>> | undefined;
  readonly ifChanged?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly overrides?: PolicyOverrides | undefined;
  /** Ignore the stat cache: read every file. */
  readonly full?: boolean | undefined;
  /** Only these paths; one that does not exist is recorded as absent. */
  readonly paths?: readonly PathArgument[] | undefined;
  readonly allowUnsafeMount?: boolean | undefined;
}

/** Which paths are asked about, under the rules of a save with these overrides. */
export interface ExplainRequest {
  readonly paths: readonly PathArgument[];
  readonly overrides?: PolicyOverrides | undefined;
}

export interface UsageRequest {
  /** Every instance; default: the chosen one. */
  readonly all?: boolean | undefined;
}

/** What a save would be asked. */
export type PlanRequest = Pick<SaveRequest, 'folders' | 'overrides' | 'allowUnsafeMount'>;

export interface ListRequest {
  readonly trigger?: Trigger | undefined;
  /** Only snapshots made at or after this moment. */
  readonly since?: Date | undefined;
  readonly limit?: number | undefined;
}

export interface RestoreRequest {
  readonly snapshot: string;
  readonly paths?: readonly PathArgument[] | undefined;
  readonly mount?: MountName | undefined;
  readonly dryRun?: boolean | undefined;
  readonly noDelete?: boolean | undefined;
  readonly deleteNewRepositories?: boolean | undefined;
  readonly force?: boolean | undefined;
  /** Write the snapshot's content here and leave the live mounts alone. */
  readonly to?: HostPath | undefined;
  /** Bring branches, HEAD, index and stashes back, too, where the snapshot holds them; make a repository that is gone. */
  readonly gitState?: boolean | undefined;
  /**
   * Write the session's state, too, into a folder of its own: only with `to`, since the place that it came from is
   * jackin's own (JACKIN_OWNED).
   */
  readonly state?: boolean | undefined;
  /** Called with the plan before anything changes; false means declined (DECLINED). */
  readonly confirm: (plan: RestorePreview) => Promise<boolean>;
  /** Delete also most of what a mount holds (see `LargeDeletion`). */
  readonly allowLarge?: boolean | undefined;
  /**
   * Called after `confirm` with what is deleted, where that is most of what a mount holds and `allowLarge` is not set;
   * false means declined. Without it such a restore is refused (LARGE_DELETION).
   */
  readonly confirmLarge?: ((large: readonly LargeDeletion[]) => Promise<boolean>) | undefined;
}

/**
 * A mount of which a restore deletes more than 100 files, and more than `large_deletion_percent` of what it holds. What
 * an earlier restore had put there, and is taken back, does not count.
 */
export interface LargeDeletion {
  readonly mount: MountName;
  /** Files and links that the restore deletes. */
  readonly deleted: number;
  /** All files and links that it holds, apart from what snapshots leave out. */
  readonly held: number;
}

export interface RestorePreview {
  readonly snapshot: SnapshotPointer;
  readonly plan: readonly PlannedChange[];
  readonly kept: readonly KeptPath[];
  readonly messages: readonly string[];
}

export interface DrillRequest {
  readonly snapshot: string;
  /** An existing folder with room for the snapshot: a folder is made in it, and removed at the end. */
  readonly in: HostPath;
}

export interface DiffRequest {
  readonly from: string;
  /** Another snapshot, or null for the live mounts. */
  readonly to: string | null;
  readonly paths?: readonly PathArgument[] | undefined;
  /** git's own options, such as `--stat`, handed on as they are: the caller answers for them. */
  readonly options?: readonly string[] | undefined;
  /** Where git's output goes: the terminal (with a pager when `pager` is set) or a callback. */
  readonly output: GitOutput;
}

export interface ExportRequest {
  /** Also what the snapshot holds of the session's state. */
  readonly state?: boolean | undefined;
}

export interface ExportResult {
  readonly files: number;
  readonly bytes: number;
  /** Where the snapshot holds state. */
  readonly state?: ExportedState;
  readonly messages: readonly string[];
}

export interface LogRequest {
  readonly paths?: readonly PathArgument[] | undefined;
  readonly options?: readonly string[] | undefined;
  readonly output: GitOutput;
}

export type GitOutput =
  | { readonly kind: 'inherit'; readonly color: boolean; readonly pager: string | null }
  | { readonly kind: 'collect'; readonly onData: (chunk: Uint8Array) => void };

/** Without any of these, content is not hashed. A part begins where the last one ended, and goes round. */
export interface VerifyRequest {
  /** Hash all content. */
  readonly full?: boolean | undefined;
  /** Hash so much of it at most: 1 to 100 of a hundred objects. */
  readonly percent?: number | undefined;
  /** Hash for so long at most, beside what is checked besides. The object in hand is finished, and one is always done. */
  readonly maxDurationSeconds?: number | undefined;
}

export interface WorktreeEnd {
  readonly name: InstanceName;
  readonly path: HostPath;
  readonly exitCode: number;
  readonly whatGoes: WhatGoes;
}

/** For a question: what is ignored, so that no snapshot will have it, and goes with a worktree, in words. */
export type WhatGoes = () => Promise<readonly string[]>;

export interface WorktreeRemovalRequest {
  readonly name: InstanceName;
  /** Also where something would be lost that neither a snapshot nor a commit has. */
  readonly force?: boolean | undefined;
  /** Called before anything is done; false means declined (DECLINED). */
  readonly confirm: (what: {
    readonly name: InstanceName;
    readonly path: HostPath;
    readonly branch: string;
    readonly whatGoes: WhatGoes;
  }) => Promise<boolean>;
}

export interface RunRequest {
  readonly command: readonly [string, ...string[]];
  readonly force?: boolean | undefined;
  /** `abort` (default): without a snapshot before it, the command is not started. `warn`: it is, and that is said. */
  readonly onSaveFailure?: 'abort' | 'warn' | undefined;
  /** What must be said before the command starts; without it, it is in the result's messages. */
  readonly onWarning?: ((message: string) => Promise<void>) | undefined;
  /** In a new worktree of the repository around the current folder, on a new branch off its HEAD. */
  readonly worktree?: boolean | undefined;
  /**
   * What becomes of the worktree. Default: as the exit policy of the folder's instance says; where that is `ask`, it is
   * kept where the command returns 0, else removed.
   */
  readonly keep?: 'ask' | 'keep' | 'discard' | undefined;
  /** For `keep: 'ask'`; without it, the worktree is kept. */
  readonly askKeep?: ((ended: WorktreeEnd) => Promise<boolean>) | undefined;
  /**
   * Asked, without `keep`, before a worktree goes that has something dirty or unpushed. Without it nobody can be asked:
   * an exit policy of `discard` then discards nothing that is at risk, and one of `ask` goes by how the command ended.
   */
  readonly confirmDiscard?: DiscardRequest['confirm'] | undefined;
  /** Where the command's own stdout goes; default `stdout`. */
  readonly stdout?: 'stdout' | 'stderr' | undefined;
}

export interface ImportRequest {
  /** A role key, an instance id or the name of a container; undefined, and not `all`: only look. */
  readonly selector?: string | undefined;
  readonly all?: boolean | undefined;
  /** Folders of mounts, which come before anything that is found. */
  readonly named?: readonly NamedMount[] | undefined;
  /** What `jackin load … --dry-run --format json` printed, and where it was read from. */
  readonly plan?: { readonly file: string; readonly text: string } | undefined;
}

export interface DiscardRequest {
  readonly instance?: string | undefined;
  /** The names of what may be discarded although it is dirty or unpushed: see `namedRisks`. */
  readonly acknowledge?: readonly string[] | undefined;
  /**
   * Called before anything is done, with what is at risk and was not acknowledged by its name; false means declined
   * (DECLINED). What throws ends it.
   */
  readonly confirm: (assessment: Assessment, risks: readonly NamedRisk[], whatGoes: WhatGoes) => Promise<boolean>;
}

export type InstanceSettings = { readonly [Key in keyof Policy]?: string };

/**
 * The library. Every method fails with a SnapError; its code says what happened.
 * `instance` in the options of createSnap chooses the instance; without it the current directory decides.
 */
export interface JackinSnap {
  save(request?: SaveRequest): Promise<SaveResult>;
  /** What a session would get, without side effects. */
  plan(request?: PlanRequest): Promise<PlanResult>;
  list(request?: ListRequest): Promise<ListResult>;
  listAll(): Promise<readonly InstanceSummary[]>;
  show(snapshot: string): Promise<ShowResult>;
  /** git's exit code: with `--exit-code`, 1 when there are differences. */
  diff(request: DiffRequest): Promise<{ readonly exitCode: number; readonly messages: readonly string[] }>;
  log(request?: LogRequest): Promise<{ readonly exitCode: number }>;
  /** Writes one file's bytes, piece by piece. */
  cat(
    snapshot: string,
    path: PathArgument,
    write: (chunk: Uint8Array) => Promise<void>,
  ): Promise<{ readonly sizeBytes: number }>;
  /** What a save would do with paths, and which rules decide. Writes nothing. */
  explain(request: ExplainRequest): Promise<ExplainResult>;
  tree(snapshot: string, path?: PathArgument): Promise<readonly TreeLine[]>;
  /** A new directory, or a tar where `destination` ends in .tar, .tar.gz or .tgz. */
  export(snapshot: string, destination: HostPath, request?: ExportRequest): Promise<ExportResult>;
  restore(request: RestoreRequest): Promise<RestoreResult>;
  undo(
    request: Pick<RestoreRequest, 'confirm' | 'force' | 'dryRun' | 'allowLarge' | 'confirmLarge'>,
  ): Promise<RestoreResult>;
  recover(request: {
    readonly direction: 'continue' | 'abort';
    readonly force?: boolean | undefined;
    readonly confirm: RestoreRequest['confirm'];
  }): Promise<RestoreResult>;
  /** The restores that were interrupted, by instance: every command says so. */
  pendingRestores(): Promise<readonly { readonly instance: InstanceName; readonly snapshot: SnapshotPointer }[]>;
  pin(snapshot: string): Promise<SnapshotPointer>;
  unpin(snapshot: string): Promise<SnapshotPointer>;
  delete(request: {
    readonly snapshots: readonly string[];
    readonly dryRun?: boolean;
    readonly confirm: (what: readonly SnapshotPointer[]) => Promise<boolean>;
  }): Promise<RemovalResult>;
  prune(request: {
    readonly dryRun?: boolean;
    readonly confirm: (what: readonly SnapshotPointer[]) => Promise<boolean>;
  }): Promise<RemovalResult>;
  /** What instances and snapshots take on the disk. */
  usage(request?: UsageRequest): Promise<UsageResult>;
  gc(request: { readonly dryRun?: boolean }): Promise<RemovalResult>;
  /** Snapshots to another git repository, which keeps what it has. */
  push(request: PushRequest): Promise<PushResult>;
  /** Snapshots from another git repository, checked before any is believed; what is here stays as it is. */
  fetch(request: FetchRequest): Promise<FetchResult>;
  /**
   * Puts the packs of many saves together, and frees what nothing needs any more where that is much. Saves work without
   * it, only slower and in more space.
   */
  housekeeping: {
    /** A look at names and sizes only. */
    isDue(): Promise<boolean>;
    /** Does what is due, beside others who save and read; nothing when somebody else is at it. */
    run(): Promise<void>;
    /** The same in a process of its own, which nobody waits for. @param program the path of `bin/jackin-snap` */
    start(program: string): Promise<void>;
  };
  verify(request?: VerifyRequest): Promise<CheckResult>;
  /** Restores a snapshot into a new folder, compares it with what is on the disk then, and removes the folder. */
  drill(request: DrillRequest): Promise<DrillResult>;
  /** `fix`: mends what can be mended from what is there; nothing that a snapshot needs is taken away. */
  doctor(request?: { readonly fix?: boolean }): Promise<DoctorResult>;
  run(request: RunRequest): Promise<RunResult>;
  /** The worktrees that `run` made. */
  worktrees: {
    /** `all`: also those that were removed. */
    list(request?: { readonly all?: boolean | undefined }): Promise<readonly WorktreeSummary[]>;
    /** A snapshot first, then the worktree goes, and its branch if that has no commit of its own. */
    remove(request: WorktreeRemovalRequest): Promise<WorktreeRemoval>;
  };
  stacks: {
    list(): Promise<StackListResult>;
    show(name: string): Promise<StackSummary>;
    /** Whether a file would be taken as a preset, wherever it lies. */
    validate(file: HostPath): Promise<StackValidation>;
    /** Approves what the folder recommends now, for just the content that its file has. */
    approve(folder: HostPath): Promise<StackApprovalResult>;
    revoke(folder: HostPath): Promise<StackApprovalResult>;
  };
  instance: {
    show(): Promise<InstanceSummary>;
    activate(request?: { readonly pid?: number | undefined }): Promise<InstanceSummary>;
    deactivate(): Promise<InstanceSummary>;
    /** `settings` are policy keys with their values as text: `keep_last` → `5`. */
    set(settings: Readonly<Record<string, string>>): Promise<InstanceSummary>;
    close(): Promise<InstanceSummary>;
    /** Makes or updates instances for sessions of jackin's, or looks at what there is. */
    import(request: ImportRequest): Promise<ImportResult>;
  };
  /**
   * What each mount has that would be lost with it. An instance is meant as in `recovery`; default: that of the options,
   * else of the folder.
   */
  assess(instance?: string): Promise<Assessment>;
  /** Notes that its work is to stay; its latest snapshot is not pruned. None is made: what changed since is said. */
  keep(request?: { readonly instance?: string | undefined; readonly note?: string | undefined }): Promise<KeepResult>;
  /** A snapshot first; then what `run` made for it is removed, and the instance is closed. No file of a mount goes. */
  discard(request: DiscardRequest): Promise<DiscardResult>;
  /** Takes a `keep` back, and says what there is to go on with. */
  resume(instance?: string): Promise<ResumeResult>;
  /** For jackin's operators: an instance is meant by its name, its container, jackin's instance id or its role key. */
  recovery: {
    show(instance: string): Promise<RecoveryResult>;
    list(instance: string): Promise<ListResult>;
    /** All instances that have a snapshot. */
    instances(): Promise<readonly InstanceSummary[]>;
    /**
     * The snapshot to go back to: the one that is named; else, where none of its folders is there any more, the newest that
     * is no emergency snapshot; else that of the last start of a run, else the first.
     */
    startingPoint(instance: string, snapshot?: string): Promise<StartingPoint>;
  };
}

export interface SnapOptions {
  /** Default: JACKIN_SNAP_DATA_DIR, else $JACKIN_HOME_DIR/snapshots, else ~/.jackin/snapshots. */
  readonly dataDir?: string | undefined;
  readonly instance?: string | undefined;
  /** Default: the process's own. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly now?: (() => Date) | undefined;
  /** Objects that were written within so many seconds are not removed, needed or not. Default: 600. */
  readonly graceSeconds?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Aborting finishes the path in hand and fails with INTERRUPTED; `reason` is the signal's name. */
  readonly signal?: AbortSignal | undefined;
}
