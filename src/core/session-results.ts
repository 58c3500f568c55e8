import type { Assessment } from './assessment.js';
import type { HostPath } from './entry-path.js';
import type { ExitDecision } from './instance-record.js';
import type { InstanceName, MountName } from './ids.js';
import type { InstanceSummary, SnapshotPointer } from './results.js';
import type { WorktreeRemoval } from './run-results.js';

/** What became of a session whose work was not to be kept. */
export interface DiscardResult {
  readonly instance: InstanceSummary;
  readonly assessment: Assessment;
  /** Holds what there was; null where there was nothing to save, or its folders are gone. */
  readonly snapshot: SnapshotPointer | null;
  /** The worktree of `run` that was removed. */
  readonly worktree: WorktreeRemoval | null;
  readonly messages: readonly string[];
}

/** How a mount stands to the last snapshot that holds all of it. */
export interface MountSinceSaved {
  readonly name: MountName;
  readonly path: HostPath;
  /** `unknown` where it cannot be said. */
  readonly state: 'as_saved' | 'changed' | 'gone' | 'another_folder' | 'unknown';
  /** How many files are changed since. */
  readonly changed: number;
  /** That snapshot; null where there is none, or it was not compared. */
  readonly comparedWith: SnapshotPointer | null;
}

export interface KeepResult {
  readonly instance: InstanceSummary;
  /** What the snapshot that is never pruned from now on does not hold shows here. */
  readonly mounts: readonly MountSinceSaved[];
}

/** What there is to go on with. */
export interface ResumeResult {
  readonly instance: InstanceSummary;
  /** The decision that was taken back; null where there was none. */
  readonly kept: ExitDecision | null;
  readonly latest: SnapshotPointer | null;
  readonly mounts: readonly MountSinceSaved[];
  /** jackin's container, to go on with `jackin hardline`; null for other instances. */
  readonly container: InstanceName | null;
}
