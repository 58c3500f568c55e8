import type { DryRunPlan, JackinConfiguration } from './configuration.js';
import type { IndexRow } from './instance-index.js';
import type { IsolationRecord } from './isolation.js';
import type { JackinManifest } from './manifest.js';

/**
 * jackin's own files, to be read only. Nothing is written, locked or created below them.
 * All methods throw SnapError CONFIGURATION_INVALID for what cannot be read, naming file and line where they are known, and
 * JACKIN_VERSION_UNKNOWN for a version that this program does not know.
 */
export interface JackinHome {
  /** Where jackin keeps its data (`JACKIN_HOME_DIR`); text. */
  readonly path: string;
  /** Whether there is such a folder. */
  exists(): boolean;
  /** The instances that the index or a manifest tells of, those that were purged too; the newest first. */
  instances(): readonly IndexRow[];
  /** Undefined where jackin has no such instance (any more). No name leads out of its data. */
  manifest(container: string): JackinManifest | undefined;
  isolation(container: string): readonly IsolationRecord[];
  /** What is configured for a workspace (null: none) and a role, as it is now. */
  configuration(workspace: string | null, role: string): JackinConfiguration;
  /** What `jackin load … --dry-run --format json` printed. @param file where it was read from, for errors */
  dryRunPlan(file: string, text: string): DryRunPlan;
}
