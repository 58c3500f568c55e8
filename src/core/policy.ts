import { z } from 'zod';

/** What an instance's saves leave out and how long its snapshots are kept. Sizes are bytes, `keep_…` are counts. */
export interface Policy {
  readonly exclude: readonly string[];
  readonly include: readonly string[];
  readonly gitignore: boolean;
  readonly stacks: boolean;
  readonly include_secrets: boolean;
  readonly max_file_size: number;
  readonly max_total_size: number | null;
  readonly on_limit: 'skip' | 'fail';
  readonly keep_last: number;
  readonly keep_daily: number;
  readonly keep_weekly: number;
  readonly keep_emergency: number;
  readonly max_store_bytes: number | null;
  readonly auto_prune: boolean;
}

const policyFields = {
  exclude: z.array(z.string()).readonly().default([]),
  include: z.array(z.string()).readonly().default([]),
  gitignore: z.boolean().default(true),
  stacks: z.boolean().default(true),
  include_secrets: z.boolean().default(false),
  max_file_size: z
    .number()
    .int()
    .positive()
    .default(512 * 1024 * 1024),
  max_total_size: z.number().int().positive().nullable().default(null),
  on_limit: z.enum(['skip', 'fail']).default('skip'),
  keep_last: z.number().int().min(1).max(10_000).default(50),
  keep_daily: z.number().int().min(0).max(10_000).default(0),
  keep_weekly: z.number().int().min(0).max(10_000).default(0),
  keep_emergency: z.number().int().min(0).max(10_000).default(10),
  max_store_bytes: z.number().int().positive().nullable().default(null),
  auto_prune: z.boolean().default(true),
};

export const policySchema: z.ZodType<Policy> = z.strictObject(policyFields);

export const policyKeys: readonly string[] = Object.keys(policyFields);

export const defaultPolicy: Policy = policySchema.parse({});

/** What one save may override; recorded in the snapshot, not in the instance. */
export type PolicyOverrides = {
  readonly [Key in 'exclude' | 'include' | 'gitignore' | 'stacks' | 'include_secrets' | 'max_file_size']?:
    Policy[Key] | undefined;
};

/** The policy in force for one save: patterns are added to the instance's, everything else replaces it. */
export function withOverrides(policy: Policy, overrides: PolicyOverrides): Policy {
  return {
    ...policy,
    exclude: [...policy.exclude, ...(overrides.exclude ?? [])],
    include: [...policy.include, ...(overrides.include ?? [])],
    gitignore: overrides.gitignore ?? policy.gitignore,
    stacks: overrides.stacks ?? policy.stacks,
    include_secrets: overrides.include_secrets ?? policy.include_secrets,
    max_file_size: overrides.max_file_size ?? policy.max_file_size,
  };
}
