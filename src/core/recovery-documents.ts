import * as z from 'zod';

import {
  count,
  endedSchema,
  exitSchema,
  instanceSchema,
  maybeText,
  objectId,
  pathSchema,
  pointerSchema,
  sessionSchema,
  text,
} from './document-fields.js';
import type { InstanceData, PointerData } from './documents.js';
import type { JsonPath } from './entry-path.js';
import type { EndedActivity, ExitDecision } from './instance-record.js';
import type { SessionStatus } from './jackin/session-status.js';
import { type SnapshotLevel, snapshotLevels } from './policy.js';
import { type MountIsolation, type MountSource, type RecoveryIndex, recoveryIndexSchemas } from './recovery-index.js';
import type { MountKind } from './results.js';

/*
 * The documents of `recovery show` and `instance import`, with their schemas.
 */

/** One of jackin's sessions. */
export interface JackinSessionData {
  readonly container: string;
  readonly id: string;
  readonly role: string;
  readonly workspace: string | null;
  readonly agent: string;
  readonly updated_at: string;
  readonly recorded: string;
  readonly status: string;
  readonly imported: boolean;
}

export interface ImportData {
  readonly sessions: readonly JackinSessionData[];
  readonly imported: readonly InstanceData[];
}

export interface RecoveryMountData {
  readonly name: string;
  readonly path: JsonPath;
  readonly present: boolean;
  readonly source: MountSource;
  readonly container_path: JsonPath | null;
  readonly isolation: MountIsolation | null;
  readonly kind: MountKind | null;
  readonly base_commit: string | null;
  readonly branch: string | null;
  readonly upstream: string | null;
  readonly ahead: number | null;
  readonly dirty: boolean | null;
  readonly operation: string | null;
}

export interface RecoveryData extends Pick<RecoveryIndex, 'left_out' | 'cleanup' | 'launch' | 'jackin'> {
  readonly instance: string;
  readonly recorded: boolean;
  readonly snapshot_level: SnapshotLevel;
  readonly session: SessionStatus | null;
  /** How its last activity ended, where its owner did not say so. */
  readonly ended: EndedActivity | null;
  readonly exit: ExitDecision | null;
  readonly active: boolean;
  readonly owner: string | null;
  readonly mounts: readonly RecoveryMountData[];
  readonly snapshots: number;
  readonly latest: PointerData | null;
  readonly latest_holds_state: boolean;
  /** What `recovery diff` and `recovery restore` go by. */
  readonly start: PointerData | null;
  readonly store: JsonPath;
}

export const importDataSchema: z.ZodType<ImportData> = z.object({
  sessions: z.array(
    z.object({
      container: text,
      id: text,
      role: text,
      workspace: maybeText,
      agent: text,
      updated_at: text,
      recorded: text,
      status: text,
      imported: z.boolean(),
    }),
  ),
  imported: z.array(instanceSchema),
});

const { source, isolation, ...indexFields } = recoveryIndexSchemas();

export const recoveryDataSchema: z.ZodType<RecoveryData> = z.object({
  instance: text,
  recorded: z.boolean(),
  snapshot_level: z.enum(snapshotLevels),
  session: sessionSchema.nullable(),
  ended: endedSchema.nullable(),
  exit: exitSchema.nullable(),
  active: z.boolean(),
  owner: maybeText,
  mounts: z.array(
    z.object({
      name: text,
      path: pathSchema,
      present: z.boolean(),
      source,
      container_path: pathSchema.nullable(),
      isolation,
      kind: z.enum(['plain', 'clone', 'worktree']).nullable(),
      base_commit: objectId.nullable(),
      branch: maybeText,
      upstream: maybeText,
      ahead: count.nullable(),
      dirty: z.boolean().nullable(),
      operation: maybeText,
    }),
  ),
  ...indexFields,
  snapshots: count,
  latest: pointerSchema.nullable(),
  latest_holds_state: z.boolean(),
  start: pointerSchema.nullable(),
  store: pathSchema,
});
