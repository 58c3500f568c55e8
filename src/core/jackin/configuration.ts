import type { Policy } from '../policy.js';

/*
 * What jackin's configuration says of the sessions of a workspace, whichever files it stands in. Paths are text, of the
 * host unless they say otherwise.
 */

export const dirtyExitPolicies = ['ask', 'keep', 'discard'] as const;
export type DirtyExitPolicy = (typeof dirtyExitPolicies)[number];

export interface ConfiguredMount {
  readonly source: string;
  readonly destination: string;
  readonly readonly: boolean;
  readonly isolation: 'shared' | 'worktree' | 'clone';
  /** Which file names it: a workspace's own, or that of all. */
  readonly from: 'workspace' | 'global';
}

/** A variable of the environment that a session is given: never its value. */
export interface EnvironmentName {
  readonly name: string;
  readonly from: 'global' | 'workspace' | 'role' | 'workspace_role';
  /** How its value is had: it stands there, it is another variable of the host, or a secret store has it. */
  readonly kind: 'literal' | 'host' | 'secret_store';
}

/** How an agent's login is handed to sessions: `<agent>.auth_forward` of the narrowest table that sets it. */
export interface AuthForward {
  readonly agent: string;
  /** As it stands there; null where it is no text. */
  readonly mode: string | null;
}

const usualModes = ['sync', 'api_key', 'ignore'];

/** By the agent's table. One that jackin does not have is no way of that agent's, whatever another makes of the word. */
const authModes: ReadonlyMap<string, readonly string[]> = new Map([
  ['claude', [...usualModes, 'oauth_token']],
  ['codex', usualModes],
  ['amp', usualModes],
  ['kimi', usualModes],
  ['kimi-code', usualModes],
  ['opencode', usualModes],
  ['grok', usualModes],
  ['github', ['sync', 'token', 'ignore']],
]);

/** Those with which nobody can say what lies in the agents' homes. */
export function unknownAuthModes(auth: readonly AuthForward[]): readonly AuthForward[] {
  return auth.filter(({ agent, mode }) => mode === null || authModes.get(agent)?.includes(mode) !== true);
}

export interface JackinConfiguration {
  /** What is set; what is not is `sync`. */
  readonly auth: readonly AuthForward[];
  readonly mounts: readonly ConfiguredMount[];
  readonly environment: readonly EnvironmentName[];
  readonly dirtyExitPolicy: DirtyExitPolicy;
  /** What `[recovery]` sets; null where there is no such table. */
  readonly recovery: Partial<Policy> | null;
}

/** A launch as `jackin load … --dry-run --format json` prints it. */
export interface DryRunPlan {
  readonly workspace: string | null;
  readonly role: string | null;
  readonly mounts: readonly Pick<ConfiguredMount, 'source' | 'destination' | 'isolation'>[];
}
