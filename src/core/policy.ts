import { SnapError } from '../errors.js';
import { isPresetName } from './stacks/preset-name.js';
import * as z from './schema.js';

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
  /** A restore that deletes a larger share of the files in a mount is asked about once more. */
  readonly large_deletion_percent: number;
  /** Whether snapshots hold what only a mount's own repository has; `auto`: in mounts that were made for a session. */
  readonly protect_commits: 'auto' | 'true' | 'false';
  /** Names of stack presets that are in force although they are not by themselves. */
  readonly more_stacks: readonly string[];
  /** What a save stores: see `snapshotLevels`. */
  readonly snapshot: SnapshotLevel;
  /** What is to become of work that is left when a session ends. */
  readonly exit_policy: (typeof exitPolicies)[number];
}

export const exitPolicies = ['ask', 'keep', 'discard'] as const;

/**
 * `off`: only saves by hand are made. `metadata`: snapshots hold no content of files, only what is known of mounts and
 * repositories. `project`: the mounts' files. `project-and-state`: these, and what the session's agent keeps elsewhere.
 */
export const snapshotLevels = ['off', 'metadata', 'project', 'project-and-state'] as const;
export type SnapshotLevel = (typeof snapshotLevels)[number];

/** Whether snapshots by the policy hold content of files. Emergency snapshots do by any. */
export function storesContent({ snapshot }: Pick<Policy, 'snapshot'>): boolean {
  return snapshot !== 'metadata';
}

const policyFields = {
  exclude: z._default(z.readonly(z.array(z.string())), []),
  include: z._default(z.readonly(z.array(z.string())), []),
  gitignore: z._default(z.boolean(), true),
  stacks: z._default(z.boolean(), true),
  include_secrets: z._default(z.boolean(), false),
  max_file_size: z._default(z.int().check(z.positive()), 512 * 1024 * 1024),
  max_total_size: z._default(z.nullable(z.int().check(z.positive())), null),
  on_limit: z._default(z.enum(['skip', 'fail']), 'skip'),
  keep_last: z._default(z.int().check(z.minimum(1), z.maximum(10_000)), 50),
  keep_daily: z._default(z.int().check(z.minimum(0), z.maximum(10_000)), 0),
  keep_weekly: z._default(z.int().check(z.minimum(0), z.maximum(10_000)), 0),
  keep_emergency: z._default(z.int().check(z.minimum(0), z.maximum(10_000)), 10),
  max_store_bytes: z._default(z.nullable(z.int().check(z.positive())), null),
  auto_prune: z._default(z.boolean(), true),
  large_deletion_percent: z._default(z.int().check(z.minimum(0), z.maximum(100)), 50),
  protect_commits: z._default(z.enum(['auto', 'true', 'false']), 'auto'),
  more_stacks: z._default(z.readonly(z.array(z.string().check(z.refine(isPresetName))).check(z.maxLength(100))), []),
  snapshot: z._default(z.enum(snapshotLevels), 'project'),
  exit_policy: z._default(z.enum(exitPolicies), 'ask'),
};

export const policySchema: z.ZodMiniType<Policy> = z.strictObject(policyFields);

/** For some settings: each must be one that there is, with a value that it takes. */
export function somePolicySchema(): z.ZodMiniType<Partial<Policy>> {
  return z.strictObject(
    Object.fromEntries(Object.entries(policyFields).map(([key, field]) => [key, z.optional(field.def.innerType)])),
  );
}

export const defaultPolicy: Policy = policySchema.parse({});

/**
 * The policy as manifests and instance records have it. What came later than format 1 is written only where it is not as
 * it always was, so that other versions can read the rest.
 */
export function policyToJson(policy: Policy): unknown {
  return Object.fromEntries(
    Object.entries(policy).filter(([key, value]) => !later.has(key) || !isDefault(key as keyof Policy, value)),
  );
}

const later: ReadonlySet<string> = new Set([
  'large_deletion_percent',
  'more_stacks',
  'snapshot',
  'protect_commits',
  'exit_policy',
]);

function isDefault(key: keyof Policy, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(defaultPolicy[key]);
}

/** What one save may override; recorded in the snapshot, not in the instance. */
export type PolicyOverrides = {
  readonly [
    Key in 'exclude' | 'include' | 'gitignore' | 'stacks' | 'include_secrets' | 'max_file_size' | 'protect_commits'
  ]?: Policy[Key] | undefined;
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
    protect_commits: overrides.protect_commits ?? policy.protect_commits,
  };
}

/** What each setting takes, as it is written after the "=". */
export const settingValues: { readonly [Key in keyof Policy]: string } = {
  exclude: 'patterns as in .gitignore, separated by commas',
  include: 'patterns as in .gitignore, separated by commas',
  gitignore: 'true or false',
  stacks: 'true or false',
  include_secrets: 'true or false',
  max_file_size: 'a size from 1 up, such as 1048576, 100M or 2G',
  max_total_size: 'none, or a size from 1 up, such as 1048576, 100M or 2G',
  on_limit: 'skip or fail',
  keep_last: 'a whole number from 1 to 10000',
  keep_daily: 'a whole number from 0 to 10000',
  keep_weekly: 'a whole number from 0 to 10000',
  keep_emergency: 'a whole number from 0 to 10000',
  max_store_bytes: 'none, or a size from 1 up, such as 1048576, 100M or 2G',
  auto_prune: 'true or false',
  large_deletion_percent: 'a whole number from 0 to 100',
  protect_commits: 'auto, true or false',
  more_stacks: 'names of presets, separated by commas (see "stacks list")',
  snapshot: 'off, metadata, project or project-and-state',
  exit_policy: 'ask, keep or discard',
};

/**
 * The policy with settings given as text: `keep_last` → `5`.
 * @throws SnapError USAGE naming the setting that is unknown, or the setting, the value and what it takes
 */
export function withSettings(policy: Policy, settings: Readonly<Record<string, string>>): Policy {
  const values = Object.entries(settings).map(([key, text]) => [key, settingValue(policy, key, text)] as const);
  return policySchema.parse({ ...policy, ...Object.fromEntries(values) });
}

function settingValue(policy: Policy, key: string, text: string): unknown {
  if (!isSetting(key)) {
    const known = Object.keys(policyFields).join(', ');
    const message = `There is no setting ${JSON.stringify(key)}; there are ${known}.`;
    throw new SnapError('USAGE', message, { what: 'setting' });
  }
  const value = parseValue(policy[key], key, text);
  if (policyFields[key].safeParse(value).success) return value;
  throw new SnapError('USAGE', `${key} takes ${settingValues[key]}, not ${JSON.stringify(text)}.`, { what: 'setting' });
}

function isSetting(key: string): key is keyof Policy {
  return Object.hasOwn(policyFields, key);
}

/** Settings whose value is one of some words. */
const words: ReadonlySet<string> = new Set(['on_limit', 'snapshot', 'protect_commits', 'exit_policy']);

/** Text as the kind of value that the setting has now: lists are separated by commas, sizes may end in K, M, G, T. */
function parseValue(current: unknown, key: string, text: string): unknown {
  if (Array.isArray(current)) return text === '' ? [] : text.split(',');
  if (typeof current === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  if (words.has(key)) return text;
  return text === 'none' ? null : (parseSize(text) ?? text);
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

function parseSize(text: string): number | undefined {
  const size = /^(\d{1,15})([kmgt]?)(?:i?b)?$/i.exec(text);
  return size === null ? undefined : Number(size[1]) * (units[(size[2] ?? '').toLowerCase()] ?? 1);
}
