import type { PointerData } from './documents.js';
import type { LeftOutReason } from './entry.js';
import type { JsonPath } from './entry-path.js';
import type { SnapshotLevel } from './policy.js';
import type { WorktreeState } from './run-results.js';
import type { SelfRunningKind } from './self-running.js';

/*
 * The documents of `run`, `run list` and `run remove`.
 */

export interface RunListData {
  readonly worktrees: readonly {
    readonly name: string;
    readonly instance: string;
    readonly state: WorktreeState;
    readonly path: JsonPath | null;
    readonly repository: JsonPath | null;
    readonly branch: JsonPath | null;
    readonly base_commit: string | null;
    readonly base_branch: string | null;
    readonly head: string | null;
    readonly ahead: number | null;
    readonly dirty: boolean | null;
    readonly exit_code: number | null;
    readonly created_at: string | null;
  }[];
}

export interface RunRemoveData {
  readonly name: string;
  readonly path: JsonPath;
  readonly branch: JsonPath;
  readonly branch_stays: boolean;
  readonly snapshot: PointerData | null;
}

export interface RunChangesData {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
  readonly lines_added: number;
  readonly lines_removed: number;
  readonly files: readonly {
    readonly mount: string;
    readonly path: JsonPath;
    readonly change: 'added' | 'modified' | 'deleted';
    readonly lines: { readonly added: number; readonly removed: number } | null;
  }[];
  /** In the first snapshot, and left out of the second: no deletions. */
  readonly no_longer_stored: readonly {
    readonly mount: string;
    readonly path: JsonPath;
    readonly reason: LeftOutReason;
    readonly self_running: SelfRunningKind | null;
  }[];
  readonly new_executables: readonly { readonly mount: string; readonly path: JsonPath }[];
  readonly self_running: readonly {
    readonly mount: string;
    readonly path: JsonPath;
    readonly kind: SelfRunningKind;
    readonly change: 'added' | 'modified' | 'deleted';
    readonly stored: boolean;
  }[];
}

export interface RunData {
  readonly instance: string;
  readonly exit_code: number;
  readonly snapshot_level: SnapshotLevel;
  readonly before: PointerData | null;
  readonly after: PointerData | null;
  readonly changes: RunChangesData | null;
  /** What to type: git's diff of both, and the way back. Null where a snapshot is missing. */
  readonly commands: { readonly diff: string | null; readonly restore: string | null };
  readonly complete: boolean;
  readonly worktree: {
    readonly name: string;
    readonly path: JsonPath;
    readonly branch: JsonPath | null;
    readonly base_commit: string;
    readonly kept: boolean;
    readonly branch_stays: boolean;
    readonly unsaved: readonly string[];
    readonly unacknowledged: readonly string[];
  } | null;
  readonly exit_decision: 'keep' | 'discard' | null;
}
