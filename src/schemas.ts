import * as z from 'zod';
import {
  count,
  instanceDataSchema,
  instanceListDataSchema,
  maybeText,
  objectId,
  pathSchema,
  pointerFields,
  pointerSchema,
  text,
  withJsonSchema,
} from './core/document-fields.js';
import type * as documents from './core/documents.js';
import { type ContractSchemas, contractSchemas } from './core/contract-schemas.js';
import { doctorDataSchema, drillDataSchema, verifyDataSchema } from './core/check-schemas.js';
import { leftOutReasons } from './core/entry.js';
import { protectedDataSchema } from './core/protected-document.js';
import { policySchema } from './core/policy.js';
import {
  assessmentDataSchema,
  discardDataSchema,
  keepDataSchema,
  resumeDataSchema,
} from './core/assessment-documents.js';
import { importDataSchema, recoveryDataSchema } from './core/recovery-documents.js';
import { remoteSchemas } from './core/remote/schemas.js';
import { triggers } from './core/results.js';
import { exportedStateSchema, shownStateSchema, stateDataSchema } from './core/state/schemas.js';
import { runDataSchema, runListDataSchema, runRemoveDataSchema } from './core/run-schemas.js';

/*
 * A schema for every JSON document that `--json` prints. `documentSchema('save')` checks a whole document, failures
 * included. Keys that a later version adds are let through and dropped.
 */

export { instanceDataSchema, instanceListDataSchema, pathSchema, pointerSchema } from './core/document-fields.js';
export * from './core/assessment-documents.js';
export { importDataSchema, recoveryDataSchema } from './core/recovery-documents.js';
export { doctorDataSchema, drillDataSchema, verifyDataSchema } from './core/check-schemas.js';
export { runDataSchema, runListDataSchema, runRemoveDataSchema } from './core/run-schemas.js';
export type * from './core/contract-documents.js';
export type * from './core/documents.js';
export * from './core/remote/schemas.js';
export type * from './core/run-documents.js';
export type { ExportedStateData, ShownStateData, StateData, StateSizeData } from './core/state/documents.js';
export type { ImportData, JackinSessionData, RecoveryData, RecoveryMountData } from './core/recovery-documents.js';
export type { JsonPath } from './core/entry-path.js';

const snapshotFields = {
  ...pointerFields,
  commit: objectId,
  tree: objectId,
  trigger: z.enum(triggers),
  message: text,
  created_at: z.iso.datetime(),
  parent_seq: count.nullable(),
};

const listedFields = {
  ...snapshotFields,
  files: count,
  size_bytes: count,
  pinned: z.boolean(),
  recovery_of: pointerSchema.nullable(),
  restorable: z.boolean(),
};

const repositoryFields = {
  branch: maybeText,
  upstream: maybeText,
  dirty: z.boolean().nullable(),
  operation: maybeText,
  unknown: z.array(text),
};

const mountSchema = z.object({
  name: text,
  path: pathSchema,
  kind: z.enum(['plain', 'clone', 'worktree']),
  base_commit: objectId.nullable(),
  ...repositoryFields,
  nested: z.array(z.object({ path: pathSchema, head: objectId.nullable(), ...repositoryFields })),
  protected: protectedDataSchema.optional(),
});

const observedOnlySchema = z.object({ mount: text, path: pathSchema, reason: z.enum(leftOutReasons) });

export const saveDataSchema: z.ZodType<documents.SaveData> = z.object({
  snapshot: z.object(snapshotFields),
  created: z.boolean(),
  new_instance: z.boolean(),
  stats: z.object({
    files_observed: count,
    files_stored: count,
    files_reused: count,
    files_read: count,
    bytes_read: count,
    bytes_added: count,
    bytes_stored: count,
  }),
  mounts: z.array(mountSchema),
  observed_only: z.array(observedOnlySchema),
  state: stateDataSchema.optional(),
  complete: z.boolean(),
});

export const listDataSchema: z.ZodType<documents.ListData> = z.object({
  instance: text,
  snapshots: z.array(z.object(listedFields)),
});

export const showDataSchema: z.ZodType<documents.ShowData> = z.object({
  snapshot: z.object(listedFields),
  mounts: z.array(mountSchema),
  policy: policySchema,
  stats: z.object({ files_observed: count, files_stored: count, bytes_stored: count }),
  observed_only: z.array(observedOnlySchema),
  stacks: z.array(z.object({ mount: text, name: text, detect: z.array(z.array(text)), patterns: z.array(text) })),
  state: shownStateSchema.optional(),
  complete: z.boolean(),
  source_tool: maybeText,
  phase: maybeText,
  decision: maybeText,
  resource: maybeText,
  meta: z.record(text, text),
});

export const treeDataSchema: z.ZodType<{ readonly entries: readonly documents.TreeLineData[] }> = z.object({
  entries: z.array(
    z.object({
      mount: text,
      path: pathSchema,
      kind: z.enum(['file', 'symlink', 'directory']),
      mode: text.regex(/^[0-7]{4}$/),
      size_bytes: count.nullable(),
      target: pathSchema.nullable(),
    }),
  ),
});

export const gitOutputDataSchema: z.ZodType<documents.GitOutputData> = z.object({
  exit_code: count,
  output: pathSchema,
});

export const catDataSchema: z.ZodType<documents.CatData> = z.object({
  files: z.array(z.object({ path: pathSchema, size_bytes: count, content: pathSchema })),
});

export const exportDataSchema: z.ZodType<documents.ExportData> = z.object({
  destination: pathSchema,
  files: count,
  bytes: count,
  state: exportedStateSchema.optional(),
});

const keptSchema = z.object({ mount: text, path: pathSchema, reason: text });

const plannedChangeSchema = z.object({
  mount: text,
  path: pathSchema,
  host_path: pathSchema,
  action: z.enum(['create', 'overwrite', 'delete', 'chmod', 'retype']),
  reason: text,
});

const contract: ContractSchemas = contractSchemas({
  path: pathSchema,
  pointer: pointerSchema,
  change: plannedChangeSchema,
  kept: keptSchema,
});

export const restoreDataSchema: z.ZodType<documents.RestoreData> = z.object({
  dry_run: z.boolean(),
  rollback_summary: z.object({
    instance: text,
    from_snapshot: pointerSchema,
    restored_files_count: count,
    deleted_files_count: count,
    emergency_snapshot: pointerSchema.nullable(),
  }),
  changes_reverted: z.array(pathSchema),
  plan: z.array(plannedChangeSchema),
  kept: z.array(keptSchema),
  failed: z.array(keptSchema),
  impact: z.object({ files_affected: count, bytes_written: count }),
  post_rollback_state: z.object({ active_snapshot: pointerSchema.nullable(), verified: z.boolean() }),
  destination: pathSchema.nullable(),
});

export const pinDataSchema: z.ZodType<documents.PinData> = z.object({
  snapshot: pointerSchema,
  pinned: z.boolean(),
  dry_run: z.boolean(),
});

export const removalDataSchema: z.ZodType<documents.RemovalData> = z.object({
  instance: text.nullable(),
  dry_run: z.boolean(),
  removed: z.array(pointerSchema),
  kept: z.array(pointerSchema),
  freed_bytes: count,
});

export type DocumentCommand =
  | 'save'
  | 'list'
  | 'show'
  | 'explain'
  | 'plan'
  | 'du'
  | 'stacks list'
  | 'stacks show'
  | 'stacks validate'
  | 'stacks approve'
  | 'stacks revoke'
  | 'diff'
  | 'log'
  | 'cat'
  | 'tree'
  | 'export'
  | 'restore'
  | 'undo'
  | 'recover'
  | 'run'
  | 'run list'
  | 'run remove'
  | 'assess'
  | 'keep'
  | 'discard'
  | 'resume'
  | 'pin'
  | 'unpin'
  | 'delete'
  | 'prune'
  | 'gc'
  | 'push'
  | 'fetch'
  | 'verify'
  | 'drill'
  | 'doctor'
  | 'recovery show'
  | 'recovery list'
  | 'recovery diff'
  | 'recovery restore'
  | 'instance import'
  | 'instance list'
  | 'instance show'
  | 'instance activate'
  | 'instance deactivate'
  | 'instance set'
  | 'instance close';

/** The `data` of each command's document. `list --all` prints that of `instance list`. */
const dataSchemas: Readonly<Record<DocumentCommand, z.ZodType>> = {
  save: saveDataSchema,
  list: z.union([listDataSchema, instanceListDataSchema]),
  show: showDataSchema,
  explain: contract.explain,
  plan: contract.plan,
  du: contract.du,
  'stacks list': contract.stackList,
  'stacks show': contract.stackShow,
  'stacks validate': contract.stackValidation,
  'stacks approve': contract.stackApproval,
  'stacks revoke': contract.stackApproval,
  diff: gitOutputDataSchema,
  log: gitOutputDataSchema,
  cat: catDataSchema,
  tree: treeDataSchema,
  export: exportDataSchema,
  restore: restoreDataSchema,
  undo: restoreDataSchema,
  recover: restoreDataSchema,
  run: runDataSchema,
  'run list': runListDataSchema,
  'run remove': runRemoveDataSchema,
  assess: assessmentDataSchema,
  keep: keepDataSchema,
  discard: discardDataSchema,
  resume: resumeDataSchema,
  pin: pinDataSchema,
  unpin: pinDataSchema,
  delete: removalDataSchema,
  prune: removalDataSchema,
  gc: removalDataSchema,
  ...remoteSchemas,
  verify: verifyDataSchema,
  drill: drillDataSchema,
  doctor: doctorDataSchema,
  'recovery show': recoveryDataSchema,
  'recovery list': z.union([listDataSchema, instanceListDataSchema]),
  'recovery diff': gitOutputDataSchema,
  'recovery restore': restoreDataSchema,
  'instance import': importDataSchema,
  'instance list': instanceListDataSchema,
  'instance show': instanceDataSchema,
  'instance activate': instanceDataSchema,
  'instance deactivate': instanceDataSchema,
  'instance set': instanceDataSchema,
  'instance close': instanceDataSchema,
};

Object.values(dataSchemas).forEach(withJsonSchema);

export const documentCommands: readonly DocumentCommand[] = Object.keys(dataSchemas) as DocumentCommand[];

export const failureSchema: z.ZodType<documents.FailureDocument> = z.object({
  schema_version: z.literal('1'),
  command: text,
  ok: z.literal(false),
  error: z.object({ code: text.regex(/^[A-Z][A-Z_]+$/), message: text.min(1), hint: text, paths: z.array(pathSchema) }),
  messages: z.array(text),
  timing: z.object({ elapsed_seconds: z.number().nonnegative() }),
});

/** The whole document that a command prints, whether it succeeds or fails. */
export function documentSchema(
  command: DocumentCommand,
): z.ZodType<documents.SuccessDocument<unknown> | documents.FailureDocument> {
  const success = z.object({
    schema_version: z.literal('1'),
    command: z.literal(command),
    ok: z.literal(true),
    data: dataSchemas[command],
    messages: z.array(text),
    timing: z.object({ elapsed_seconds: z.number().nonnegative() }),
  });
  return withJsonSchema(z.union([success, failureSchema]));
}
