import { join } from 'node:path';

import {
  type AuthForward,
  type DirtyExitPolicy,
  type EnvironmentName,
  dirtyExitPolicies,
} from '../../core/jackin/configuration.js';
import { type Policy, somePolicySchema } from '../../core/policy.js';
import { environmentNames } from './environment.js';
import { type TomlFile, checkedAt, readTomlFile } from './toml-file.js';
import * as z from '../../core/schema.js';

/** What a workspace says of its sessions, in its own file or in the file of all. */
export interface Workspace {
  /** Of the workspace, then of the role in it. */
  readonly auth: readonly AuthForward[];
  readonly mounts: readonly { source: string; destination: string; readonly: boolean; isolation: Isolation }[];
  readonly environment: readonly EnvironmentName[];
  readonly dirtyExitPolicy: DirtyExitPolicy | undefined;
  readonly recovery: Partial<Policy> | null;
}

type Isolation = 'shared' | 'worktree' | 'clone';

/**
 * A workspace: `workspaces/<name>.toml`, else the table `[workspaces.<name>]` of the old layout in `config.toml`. Settings of
 * ours in the old layout hold beside a file, too, but for what its own table sets.
 * Undefined when it is in neither. @throws SnapError CONFIGURATION_INVALID with file and line
 */
export function readWorkspace(
  configDirectory: string,
  config: TomlFile,
  name: string,
  role: string,
): Workspace | undefined {
  const own = isFileName(name) ? readTomlFile(join(configDirectory, 'workspaces', `${name}.toml`)) : undefined;
  const key = ['workspaces', name];
  const embedded = tableIn(config, key);
  if (own === undefined) return embedded === undefined ? undefined : workspaceIn(config, key, embedded, role);
  const workspace = workspaceIn(own, [], own.value, role);
  const { recovery } = checkedAt(config, key, embedded ?? {}, recoverySchema);
  if (recovery === undefined) return workspace;
  return { ...workspace, recovery: { ...recovery, ...workspace.recovery } };
}

/** The table at a key; undefined where there is none. @throws SnapError CONFIGURATION_INVALID where something else stands */
export function tableIn(file: TomlFile, key: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  let at: unknown = file.value;
  for (const [depth, part] of key.entries()) {
    const table = checkedAt(file, key.slice(0, depth), at, tableSchema);
    if (!Object.hasOwn(table, part)) return undefined;
    at = table[part];
  }
  return checkedAt(file, key, at, tableSchema);
}

export const tableSchema: z.ZodMiniType<Record<string, unknown>> = z.record(z.string(), z.unknown());

/** The name becomes part of a path: nothing but a name may stand there. */
function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

function workspaceIn(
  file: TomlFile,
  key: readonly string[],
  table: Readonly<Record<string, unknown>>,
  role: string,
): Workspace {
  const { mounts, dirty_exit_policy: dirtyExitPolicy, recovery } = checkedAt(file, key, table, workspaceSchema);
  return {
    auth: [...authForwards(table), ...authForwards(roleTable(table, role))],
    mounts: (mounts ?? []).map(({ src, dst, readonly, isolation }) => ({
      source: src,
      destination: dst,
      readonly: readonly ?? false,
      isolation: isolation ?? 'shared',
    })),
    environment: [
      ...environmentNames(table['env'], 'workspace'),
      ...environmentNames(roleEnvironment(table, role), 'workspace_role'),
    ],
    dirtyExitPolicy,
    recovery: recovery ?? null,
  };
}

/** `[roles.<key>.env]`. */
export function roleEnvironment(table: Readonly<Record<string, unknown>>, role: string): unknown {
  return roleTable(table, role)['env'];
}

function roleTable(table: Readonly<Record<string, unknown>>, role: string): Readonly<Record<string, unknown>> {
  const roles = tableSchema.safeParse(table['roles']);
  return tableSchema.safeParse(roles.data?.[role]).data ?? {};
}

const agents = ['claude', 'codex', 'amp', 'kimi', 'kimi-code', 'opencode', 'grok', 'github'] as const;

/** `[<agent>] auth_forward`, as it stands in a table. */
export function authForwards(table: Readonly<Record<string, unknown>>): AuthForward[] {
  return agents.flatMap((agent) => {
    if (!Object.hasOwn(table, agent)) return [];
    const own = tableSchema.safeParse(table[agent]).data;
    if (own === undefined) return [{ agent, mode: null }];
    if (!Object.hasOwn(own, 'auth_forward')) return [];
    const { auth_forward: mode } = own;
    return [{ agent, mode: typeof mode === 'string' ? mode : null }];
  });
}

const hostPath = z.string().check(z.startsWith('/', 'it must be an absolute path'));

const recoverySchema = z.object({ recovery: z.optional(somePolicySchema()) });

const workspaceSchema = z.extend(recoverySchema, {
  mounts: z.optional(
    z.array(
      z.object({
        src: hostPath,
        dst: hostPath,
        readonly: z.optional(z.boolean()),
        isolation: z.optional(z.enum(['shared', 'worktree', 'clone'])),
      }),
    ),
  ),
  dirty_exit_policy: z.optional(z.enum(dirtyExitPolicies)),
});
