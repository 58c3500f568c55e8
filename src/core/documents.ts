import type { JsonPath } from './entry-path.js';
import type { LeftOutReason } from './entry.js';
import type { EndedActivity, ExitDecision } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';
import type { Policy } from './policy.js';
import type { ProtectedData } from './protected-document.js';
import type { MountKind, PlanAction, Trigger } from './results.js';
import type { ExportedStateData, ShownStateData, StateData } from './state/documents.js';

/*
 * The JSON documents that the command line prints: their keys are part of the contract, and `schemas.ts` checks them.
 */

export type { ProtectedData } from './protected-document.js';

export interface SuccessDocument<Data> {
  readonly schema_version: '1';
  readonly command: string;
  readonly ok: true;
  readonly data: Data;
  readonly messages: readonly string[];
  readonly timing: TimingData;
}

export interface FailureDocument {
  readonly schema_version: '1';
  readonly command: string;
  readonly ok: false;
  readonly error: ErrorData;
  readonly messages: readonly string[];
  readonly timing: TimingData;
}

export interface TimingData {
  readonly elapsed_seconds: number;
}

export interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly paths: readonly JsonPath[];
}

export interface PointerData {
  readonly instance: string;
  readonly seq: number;
  readonly id: string;
  readonly ref: string;
}

export interface SnapshotData extends PointerData {
  readonly commit: string;
  readonly tree: string;
  readonly trigger: Trigger;
  readonly message: string;
  readonly created_at: string;
  readonly parent_seq: number | null;
}

export interface ListedSnapshotData extends SnapshotData {
  readonly files: number;
  readonly size_bytes: number;
  readonly pinned: boolean;
  readonly recovery_of: PointerData | null;
  readonly restorable: boolean;
}

export interface MountData {
  readonly name: string;
  readonly path: JsonPath;
  readonly kind: MountKind;
  readonly base_commit: string | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  readonly dirty: boolean | null;
  readonly operation: string | null;
  readonly unknown: readonly string[];
  readonly nested: readonly NestedRepositoryData[];
  /** Only where commits are protected. */
  readonly protected?: ProtectedData | undefined;
}

export interface NestedRepositoryData {
  readonly path: JsonPath;
  readonly head: string | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  readonly dirty: boolean | null;
  readonly operation: string | null;
  readonly unknown: readonly string[];
}

export interface ObservedOnlyData {
  readonly mount: string;
  readonly path: JsonPath;
  readonly reason: LeftOutReason;
}

export interface SaveStatsData {
  readonly files_observed: number;
  readonly files_stored: number;
  readonly files_reused: number;
  readonly files_read: number;
  readonly bytes_read: number;
  readonly bytes_added: number;
  readonly bytes_stored: number;
}

export interface SaveData {
  readonly snapshot: SnapshotData;
  readonly created: boolean;
  /** The instance was made by this save. */
  readonly new_instance: boolean;
  readonly stats: SaveStatsData;
  readonly mounts: readonly MountData[];
  readonly observed_only: readonly ObservedOnlyData[];
  /** Where the instance is to have its session's state stored, and the save was not limited to paths. */
  readonly state?: StateData | undefined;
  readonly complete: boolean;
}

export interface ListData {
  readonly instance: string;
  readonly snapshots: readonly ListedSnapshotData[];
}

export interface InstanceData {
  readonly name: string;
  readonly state: 'open' | 'closed' | 'damaged' | 'fetched' | 'lost';
  readonly status: string;
  readonly active: boolean;
  readonly owner: string | null;
  readonly mounts: readonly { readonly name: string; readonly path: JsonPath; readonly present: boolean }[];
  readonly snapshots: number;
  readonly latest_seq: number | null;
  readonly size_bytes: number;
  readonly pending_restore: boolean;
  readonly policy: Policy;
  readonly created_at: string;
  readonly exit_policy: 'ask' | 'keep' | 'discard';
  readonly exit?: ExitDecision | undefined;
  /** How its last activity ended, where its owner did not say so. */
  readonly ended?: EndedActivity | undefined;
  /** The session of jackin's that it stands for. */
  readonly session?: SessionStatus | undefined;
}

export interface ShowData {
  readonly snapshot: ListedSnapshotData;
  readonly mounts: readonly MountData[];
  readonly policy: Policy;
  readonly stats: { readonly files_observed: number; readonly files_stored: number; readonly bytes_stored: number };
  readonly observed_only: readonly ObservedOnlyData[];
  /** The presets that were in force, by mount. */
  readonly stacks: readonly {
    readonly mount: string;
    readonly name: string;
    readonly detect: readonly (readonly string[])[];
    readonly patterns: readonly string[];
  }[];
  /** Where the session's state was to be stored beside the mounts. */
  readonly state?: ShownStateData | undefined;
  readonly complete: boolean;
  readonly source_tool: string | null;
  readonly phase: string | null;
  readonly decision: string | null;
  readonly resource: string | null;
  readonly meta: Readonly<Record<string, string>>;
}

export interface TreeLineData {
  readonly mount: string;
  readonly path: JsonPath;
  readonly kind: 'file' | 'symlink' | 'directory';
  /** Octal permission bits, such as `0644`. */
  readonly mode: string;
  readonly size_bytes: number | null;
  readonly target: JsonPath | null;
}

/** Output of git or content of a file: text when it is UTF-8. */
export type Content = JsonPath;

export interface GitOutputData {
  readonly exit_code: number;
  readonly output: Content;
}

export interface CatData {
  readonly files: readonly { readonly path: JsonPath; readonly size_bytes: number; readonly content: Content }[];
}

export interface ExportData {
  readonly destination: JsonPath;
  readonly files: number;
  readonly bytes: number;
  /** Where the snapshot holds a session's state. */
  readonly state?: ExportedStateData | undefined;
}

export interface PlannedChangeData {
  readonly mount: string;
  readonly path: JsonPath;
  readonly host_path: JsonPath;
  readonly action: PlanAction;
  readonly reason: string;
}

export interface KeptData {
  readonly mount: string;
  readonly path: JsonPath;
  readonly reason: string;
}

export interface RestoreData {
  readonly dry_run: boolean;
  readonly rollback_summary: {
    readonly instance: string;
    readonly from_snapshot: PointerData;
    readonly restored_files_count: number;
    readonly deleted_files_count: number;
    readonly emergency_snapshot: PointerData | null;
  };
  readonly changes_reverted: readonly JsonPath[];
  readonly plan: readonly PlannedChangeData[];
  /** What stays as it is, and what should have been restored and could not be: `failed` holds the latter again. */
  readonly kept: readonly KeptData[];
  readonly failed: readonly KeptData[];
  readonly impact: { readonly files_affected: number; readonly bytes_written: number };
  readonly post_rollback_state: { readonly active_snapshot: PointerData | null; readonly verified: boolean };
  readonly destination: JsonPath | null;
}

export interface PinData {
  readonly snapshot: PointerData;
  readonly pinned: boolean;
  readonly dry_run: boolean;
}

export interface RemovalData {
  /** Null where the whole store is meant. */
  readonly instance: string | null;
  readonly dry_run: boolean;
  readonly removed: readonly PointerData[];
  readonly kept: readonly PointerData[];
  readonly freed_bytes: number;
}

export interface VerifyData {
  readonly sound: boolean;
  readonly snapshots_checked: number;
  readonly damaged: readonly {
    readonly snapshot: PointerData;
    readonly problem: string;
    /** The first ones; `mount` is null where a path is none of a mount. */
    readonly paths: readonly {
      readonly mount: string | null;
      readonly path: JsonPath;
      readonly kind: 'file' | 'directory';
    }[];
    readonly paths_total: number;
  }[];
  readonly problems: readonly string[];
  /** Null where no content was hashed. */
  readonly content: { readonly objects_checked: number; readonly objects_total: number } | null;
}

export interface DrillData {
  readonly snapshot: PointerData;
  readonly restorable: boolean;
  readonly files: number;
  readonly bytes: number;
  readonly differences: readonly { readonly mount: string; readonly path: JsonPath; readonly reason: string }[];
}

export interface DoctorData {
  readonly healthy: boolean;
  /** Of what is not healthy, something is damage to the store, a snapshot or a record. */
  readonly damaged: boolean;
  readonly findings: readonly {
    readonly level: 'ok' | 'fixed' | 'note' | 'problem';
    readonly what: string;
    readonly hint: string | null;
  }[];
}
