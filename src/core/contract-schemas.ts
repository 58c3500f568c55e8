import * as z from 'zod';

import type * as documents from './contract-documents.js';
import type { KeptData, PlannedChangeData, PointerData } from './documents.js';
import { leftOutReasons } from './entry.js';
import type { JsonPath } from './entry-path.js';
import { policySchema } from './policy.js';

/*
 * The schemas of what `explain`, `plan`, `du` and `stacks` print.
 */

/** What these documents share with others. */
export interface SharedSchemas {
  readonly path: z.ZodType<JsonPath>;
  readonly pointer: z.ZodType<PointerData>;
  readonly change: z.ZodType<PlannedChangeData>;
  readonly kept: z.ZodType<KeptData>;
}

export interface ContractSchemas {
  readonly explain: z.ZodType<documents.ExplainData>;
  readonly plan: z.ZodType<documents.PlanData>;
  readonly du: z.ZodType<documents.UsageData>;
  readonly stackList: z.ZodType<documents.StackListData>;
  readonly stackShow: z.ZodType<documents.StackShowData>;
  readonly stackValidation: z.ZodType<documents.StackValidationData>;
  readonly stackApproval: z.ZodType<documents.StackApprovalData>;
}

const count = z.number().int().nonnegative();
const text = z.string();
const maybeText = text.nullable();

export function contractSchemas(shared: SharedSchemas): ContractSchemas {
  return { ...stackSchemas(shared), explain: explainSchema(shared), plan: planSchema(shared), du: usageSchema };
}

const ruleKinds = [
  ...(['none', 'exclude', 'include', 'stack', 'ignore_file', 'tracked', 'secret', 'size_limit', 'special'] as const),
  ...(['git_dir', 'foreign_fs', 'data_directory', 'pending_restore', 'unreadable'] as const),
] as const;

function explainSchema({ path }: SharedSchemas): z.ZodType<documents.ExplainData> {
  const rule: z.ZodType<documents.RuleData> = z.object({
    kind: z.enum(ruleKinds),
    path,
    pattern: path.nullable(),
    file: path.nullable(),
    line: count.nullable(),
    preset: maybeText,
    setting: maybeText,
    limit: count.nullable(),
  });
  const explanation = z.object({
    mount: text,
    path,
    outcome: z.enum(['stored', 'observed_only', 'left_out', 'absent']),
    reason: z.enum(leftOutReasons).nullable(),
    rule,
  });
  return z.object({ instance: text, explanations: z.array(explanation) });
}

const refusal = z.object({ code: text, message: text });
const figures = { files: count, bytes: count };

function planSchema(shared: SharedSchemas): z.ZodType<documents.PlanData> {
  const { path } = shared;
  return z.object({
    instance: maybeText,
    new_instance: z.boolean(),
    snapshot: z.object({ would_be_made: z.boolean(), refusal: refusal.nullable() }),
    policy: z.nullable(policySchema),
    mounts: z.array(plannedMountSchema(shared)),
    store: z.object({ data_directory: path, exists: z.boolean(), size_bytes: count, free_bytes: count }),
    restores: z.array(foreseenSchema(shared)),
  });
}

function plannedMountSchema({ path }: SharedSchemas): z.ZodType<documents.PlannedMountData> {
  const excludes = z.object({
    kind: z.enum(['exclude', 'include', 'secret', 'stack', 'ignore_file']),
    file: path.nullable(),
    preset: maybeText,
    patterns: z.array(path),
  });
  return z.object({
    name: text,
    path,
    kind: z.enum(['plain', 'clone', 'worktree']),
    complete: z.boolean(),
    stored: z.object(figures),
    to_read: z.object(figures),
    left_out: z.array(z.object({ reason: z.enum(leftOutReasons), entries: count, ...figures, unknown: z.boolean() })),
    excludes: z.array(excludes),
  });
}

function foreseenSchema({ pointer, change, kept }: SharedSchemas): z.ZodType<documents.ForeseenRestoreData> {
  return z.object({
    which: z.enum(['latest', 'first']),
    snapshot: pointer,
    possible: z.boolean(),
    refusals: z.array(refusal),
    plan: z.array(change),
    kept: z.array(kept),
    failed: z.array(kept),
    messages: z.array(text),
  });
}

const usageFigures = { bytes: count, unique_bytes: count, shared_bytes: count };

const usageSchema: z.ZodType<documents.UsageData> = z.object({
  instances: z.array(
    z.object({
      instance: text,
      ...usageFigures,
      snapshots: z.array(z.object({ seq: count.min(1), ...usageFigures })),
      prunable: z.object({ snapshots: count, freed_bytes: count }),
    }),
  ),
  store: z.object({
    total_bytes: count,
    reachable_bytes: count,
    garbage_bytes: count,
    overhead_bytes: count,
    objects: count,
  }),
});

function stackSchemas({
  path,
}: SharedSchemas): Pick<ContractSchemas, 'stackList' | 'stackShow' | 'stackValidation' | 'stackApproval'> {
  const preset: z.ZodType<documents.StackData> = z.object({
    name: text,
    description: text,
    source: z.enum(['built-in', 'user']),
    file: maybeText,
    opt_in: z.boolean(),
    detect: z.array(z.array(text)),
    patterns: z.array(text),
  });
  const problems = z.array(z.object({ line: count, problem: text }));
  return {
    stackList: z.object({ presets: z.array(preset), invalid: z.array(z.object({ file: text, problems })) }),
    stackShow: z.object({ preset }),
    stackValidation: z.object({ accepted: z.boolean(), preset: preset.nullable(), problems }),
    stackApproval: z.object({ file: path, approved: z.boolean(), presets: z.array(preset) }),
  };
}
