import type { HostPath } from './entry-path.js';
import type { InstanceName, MountName, Seq } from './ids.js';
import type { EndedActivity, ExitDecision } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';
import type { Policy } from './policy.js';
import type { MountIsolation, MountSource, RecoveryIndex } from './recovery-index.js';
import type { InstanceSummary, MountKind, RepositoryState, SnapshotPointer } from './results.js';

/** A session as jackin knows it. */
export interface JackinSession {
  readonly container: string;
  readonly id: string;
  readonly role: string;
  readonly workspace: string | null;
  readonly agent: string;
  /** jackin's own time stamp. */
  readonly updatedAt: string;
  /** jackin's own word for its state, and what it really is. */
  readonly recorded: string;
  readonly status: string;
  /** Whether there is an instance for it. */
  readonly imported: boolean;
}

export interface ImportResult {
  /** What there is; empty where something was imported. */
  readonly sessions: readonly JackinSession[];
  readonly imported: readonly InstanceSummary[];
  readonly messages: readonly string[];
}

/** One mount of a recovery index. */
export interface RecoveryMount {
  readonly name: MountName;
  readonly path: HostPath;
  readonly present: boolean;
  readonly source: MountSource;
  readonly containerPath: HostPath | null;
  readonly isolation: MountIsolation | null;
  /** As of the last snapshot; null where there is none. */
  readonly kind: MountKind | null;
  readonly repository: RepositoryState | null;
}

/** The snapshot that a recovery goes by, why, and among which. */
export interface StartingPoint extends SnapshotPointer {
  readonly chosen: 'named' | 'newest' | 'before_last_run' | 'first';
  /** How many there are that can be read, and the newest of them. */
  readonly snapshots: number;
  readonly latest: Seq;
}

/** The recovery index of an instance. */
export interface RecoveryResult {
  readonly instance: InstanceName;
  /** False where the instance's own record is lost, so that all of it comes from its last snapshot. */
  readonly recorded: boolean;
  readonly index: RecoveryIndex;
  readonly policy: Policy;
  readonly session: SessionStatus | null;
  /** How its last activity ended, where its owner did not say so. */
  readonly ended: EndedActivity | null;
  /** What was decided about its work. */
  readonly exit: ExitDecision | null;
  readonly owner: string | null;
  readonly mounts: readonly RecoveryMount[];
  readonly snapshots: number;
  readonly latest: SnapshotPointer | null;
  /** Whether the latest holds the session's state; false where it cannot be read. */
  readonly latestHoldsState: boolean;
  /** The snapshot that `recovery diff` and `recovery restore` go by. */
  readonly start: StartingPoint | null;
  /** The data directory that all of it is stored in. */
  readonly store: HostPath;
}
