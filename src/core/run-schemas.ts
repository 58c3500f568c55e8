import * as z from 'zod';

import { count, maybeText, objectId, pathSchema, pointerSchema, text } from './document-fields.js';
import { leftOutReasons } from './entry.js';
import type { RunData, RunListData, RunRemoveData } from './run-documents.js';
import { snapshotLevels } from './policy.js';
import { worktreeStates } from './run-results.js';
import { selfRunningKinds } from './self-running.js';

/*
 * The schemas of the documents of `run`, `run list` and `run remove`.
 */

const changeSchema = z.enum(['added', 'modified', 'deleted']);

const runChangesSchema = z.object({
  added: count,
  modified: count,
  deleted: count,
  lines_added: count,
  lines_removed: count,
  files: z.array(
    z.object({
      mount: text,
      path: pathSchema,
      change: changeSchema,
      lines: z.object({ added: count, removed: count }).nullable(),
    }),
  ),
  no_longer_stored: z.array(
    z.object({
      mount: text,
      path: pathSchema,
      reason: z.enum(leftOutReasons),
      self_running: z.enum(selfRunningKinds).nullable(),
    }),
  ),
  new_executables: z.array(z.object({ mount: text, path: pathSchema })),
  self_running: z.array(
    z.object({
      mount: text,
      path: pathSchema,
      kind: z.enum(selfRunningKinds),
      change: changeSchema,
      stored: z.boolean(),
    }),
  ),
});

export const runDataSchema: z.ZodType<RunData> = z.object({
  instance: text,
  exit_code: count,
  snapshot_level: z.enum(snapshotLevels),
  before: pointerSchema.nullable(),
  after: pointerSchema.nullable(),
  changes: runChangesSchema.nullable(),
  commands: z.object({ diff: maybeText, restore: maybeText }),
  complete: z.boolean(),
  worktree: z
    .object({
      name: text,
      path: pathSchema,
      branch: pathSchema.nullable(),
      base_commit: objectId,
      kept: z.boolean(),
      branch_stays: z.boolean(),
      unsaved: z.array(text),
      unacknowledged: z.array(text),
    })
    .nullable(),
  exit_decision: z.enum(['keep', 'discard']).nullable(),
});

export const runListDataSchema: z.ZodType<RunListData> = z.object({
  worktrees: z.array(
    z.object({
      name: text,
      instance: text,
      state: z.enum(worktreeStates),
      path: pathSchema.nullable(),
      repository: pathSchema.nullable(),
      branch: pathSchema.nullable(),
      base_commit: objectId.nullable(),
      base_branch: maybeText,
      head: objectId.nullable(),
      ahead: count.nullable(),
      dirty: z.boolean().nullable(),
      exit_code: count.nullable(),
      created_at: maybeText,
    }),
  ),
});

export const runRemoveDataSchema: z.ZodType<RunRemoveData> = z.object({
  name: text,
  path: pathSchema,
  branch: pathSchema,
  branch_stays: z.boolean(),
  snapshot: pointerSchema.nullable(),
});
