/** The states of a container, as docker names them. */
export const dockerStates = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const;

/** `not_found` for one that is not there, and `unknown`. */
export const containerStates: readonly [...typeof dockerStates, 'not_found', 'unknown'] = [
  ...dockerStates,
  'not_found',
  'unknown',
];
export type ContainerState = Exclude<(typeof containerStates)[number], 'unknown'>;

/** A folder of the host in a container, by the container's own account. Paths are text. */
export interface ContainerMount {
  readonly source: string;
  readonly destination: string;
  readonly readonly: boolean;
}

/** What a look at a container found; `why` says why nothing could be found out. */
export type ContainerView =
  | {
      readonly state: ContainerState;
      readonly exitCode: number | null;
      readonly oomKilled: boolean;
      readonly mounts: readonly ContainerMount[];
    }
  | { readonly state: 'unknown'; readonly why: string };

/** Containers of this machine, looked at by name. Nothing is ever changed. */
export interface Containers {
  /** @param avoid folders (bytes) that no program is run from, besides the mounts that are known */
  look(name: string, avoid: readonly string[]): Promise<ContainerView>;
}

const live: ReadonlySet<ContainerView['state']> = new Set(['created', 'running', 'paused', 'restarting', 'removing']);

/** True where something in the container works, or may at any moment. */
export function isLive({ state }: ContainerView): boolean {
  return live.has(state);
}
