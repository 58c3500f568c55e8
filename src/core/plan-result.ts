import type { LeftOutReason } from './entry.js';
import type { EntryPath, HostPath } from './entry-path.js';
import type { InstanceName, MountName, Seq } from './ids.js';
import type { Policy } from './policy.js';
import type { KeptPath, MountKind, PlannedChange, SnapshotPointer } from './results.js';

/*
 * What `plan`, `explain` and `du` answer.
 */

/** Why something would not be done: an error's code, and its message. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

export interface Figures {
  readonly files: number;
  readonly bytes: number;
}

export interface LeftOutFigures extends Figures {
  readonly reason: LeftOutReason;
  /** Paths that are named for it, a directory as one with all below it. */
  readonly entries: number;
  /** Not all of it could be looked at. */
  readonly unknown: boolean;
}

/** A list of patterns that has a say. */
export interface ExcludesInForce {
  readonly kind: 'exclude' | 'include' | 'secret' | 'stack' | 'ignore_file';
  /** The ignore file, or the directory in which the preset was found; from the mount's root. */
  readonly file: EntryPath | null;
  readonly preset: string | null;
  /** As they are written, bytes; none for what is secret by name. */
  readonly patterns: readonly string[];
}

export interface PlannedSaveMount {
  readonly name: MountName;
  readonly path: HostPath;
  readonly kind: MountKind;
  readonly stored: Figures;
  /** Of these what the last save did not record as it is. */
  readonly toRead: Figures;
  readonly leftOut: readonly LeftOutFigures[];
  readonly excludes: readonly ExcludesInForce[];
  readonly complete: boolean;
}

export interface ForeseenRestore {
  readonly which: 'latest' | 'first';
  readonly snapshot: SnapshotPointer;
  readonly possible: boolean;
  readonly refusals: readonly Refusal[];
  readonly changes: readonly PlannedChange[];
  readonly kept: readonly KeptPath[];
  /** Paths that could not be put back. */
  readonly blocked: readonly KeptPath[];
  readonly messages: readonly string[];
}

export interface PlanResult {
  /** Null when it is not known which it would be. */
  readonly instance: InstanceName | null;
  readonly isNew: boolean;
  /** Why no snapshot would be made; null when one would. */
  readonly refusal: Refusal | null;
  readonly policy: Policy | null;
  readonly mounts: readonly PlannedSaveMount[];
  readonly store: {
    readonly dataDirectory: HostPath;
    readonly exists: boolean;
    readonly sizeBytes: number;
    readonly freeBytes: number;
  };
  readonly restores: readonly ForeseenRestore[];
  readonly messages: readonly string[];
}

/** The rule that decides about a path, and where it stands. */
export interface DecidingRule {
  /** `none`: no rule says anything, so it is stored. */
  readonly kind:
    | 'none'
    | 'exclude'
    | 'include'
    | 'stack'
    | 'ignore_file'
    | 'tracked'
    | 'secret'
    | 'size_limit'
    | 'special'
    | 'git_dir'
    | 'foreign_fs'
    | 'data_directory'
    | 'pending_restore'
    | 'unreadable';
  /** The path that it is about: the one that was asked for, or a directory above it. */
  readonly path: EntryPath;
  /** As it is written, bytes. */
  readonly pattern: string | null;
  /** The ignore file, or the directory in which the preset was found, from the mount's root. */
  readonly file: EntryPath | null;
  readonly line: number | null;
  readonly preset: string | null;
  readonly setting: string | null;
  /** In bytes. */
  readonly limit: number | null;
}

/** What a save would do with a path. */
export interface Explanation {
  readonly mount: MountName;
  readonly path: EntryPath;
  /** `left_out`: it lies below a directory that is observed only and stands for it. */
  readonly outcome: 'stored' | 'observed_only' | 'left_out' | 'absent';
  readonly reason: LeftOutReason | null;
  /** For an absent path: what would decide about a file there. */
  readonly rule: DecidingRule;
}

export interface ExplainResult {
  readonly instance: InstanceName;
  readonly explanations: readonly Explanation[];
  readonly messages: readonly string[];
}

/** Bytes on the disk: of all that it holds, of what is its own alone, and of what others hold too. */
export interface UsageFigures {
  readonly bytes: number;
  readonly uniqueBytes: number;
  readonly sharedBytes: number;
}

export interface InstanceUsage extends UsageFigures {
  readonly instance: InstanceName;
  /** Ascending. */
  readonly snapshots: readonly ({ readonly seq: Seq } & UsageFigures)[];
  /** What a prune by the retention settings would remove now. */
  readonly prunable: { readonly snapshots: number; readonly freedBytes: number };
}

export interface UsageResult {
  /** By name. */
  readonly instances: readonly InstanceUsage[];
  readonly store: {
    /** All that lies in it. */
    readonly totalBytes: number;
    /** Objects that snapshots need. */
    readonly reachableBytes: number;
    /** Objects that nothing needs, and that were not freed yet. */
    readonly garbageBytes: number;
    /** Indexes, refs, what lies there twice, what files take more than they hold. */
    readonly overheadBytes: number;
    readonly objects: number;
  };
  readonly messages: readonly string[];
}
