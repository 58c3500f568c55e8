import type { ContainerMount } from '../containers.js';
import { type HostPath, bytesOfText, contains } from '../entry-path.js';
import type { MountSource } from '../recovery-index.js';
import type { ConfiguredMount, DryRunPlan } from './configuration.js';
import type { IsolationRecord } from './isolation.js';

/** A folder that was named for a mount of a session. */
export interface NamedMount {
  /** Which mount: by its path in the container, or by the name that it is to have; null: one that stands for itself. */
  readonly which: string | null;
  readonly path: HostPath;
}

/** All that is known of a session's mounts, from wherever it is. */
export interface KnownMounts {
  readonly named: readonly NamedMount[];
  readonly isolation: readonly IsolationRecord[];
  /** The container's own list; null where it cannot be had. */
  readonly container: readonly ContainerMount[] | null;
  readonly plan: DryRunPlan | null;
  readonly configured: readonly ConfiguredMount[];
  /** jackin's own folder: what it mounts of that is none of the user's. */
  readonly home: string;
}

/** One mount of a session, with where its host path was found. */
export interface SessionMount {
  readonly containerPath: string;
  readonly path: HostPath;
  readonly source: MountSource;
  readonly readonly: boolean;
  readonly isolation: 'shared' | 'worktree' | 'clone';
  readonly record: IsolationRecord | null;
}

/**
 * The mounts of a session, by their paths in the container. The host path of each is what was named for it, else what
 * jackin's isolation record says, else what the container has, else the dry-run plan, else the workspace's configuration.
 * Which mounts there are is told by the first of the last three that is known.
 */
export function sessionMounts(known: KnownMounts): SessionMount[] {
  const table = new Map(listed(known).map((mount) => [mount.containerPath, mount]));
  for (const record of known.isolation) {
    if (record.isolation === 'shared' || record.worktree_path === '') continue;
    table.set(record.mount_dst, isolated(record));
  }
  for (const named of known.named) applyNamed(table, named);
  return [...table.values()].sort((a, b) => (a.containerPath < b.containerPath ? -1 : 1));
}

/** The last part of a mount's path in the container: what the mount is called. */
export function nameOfDestination(containerPath: string): string {
  return containerPath.replace(/\/+$/, '').replace(/^.*\//, '');
}

function listed(known: KnownMounts): SessionMount[] {
  if (known.container !== null) return known.container.flatMap((mount) => ofContainer(mount, known.home));
  if (known.plan !== null) return known.plan.mounts.map((mount) => ofPlan(mount, known.configured));
  return known.configured.map(ofConfiguration);
}

/** Of what is jackin's own only the trees that it made for the session are work. */
function ofContainer(mount: ContainerMount, home: string): SessionMount[] {
  const kind = isolatedTree.exec(mount.source)?.[1];
  if (contains(home as HostPath, mount.source as HostPath) && kind === undefined) return [];
  return [
    {
      containerPath: mount.destination,
      path: bytesOfText(mount.source) as HostPath,
      source: 'container',
      readonly: mount.readonly,
      isolation: kind === 'worktree' || kind === 'clone' ? kind : 'shared',
      record: null,
    },
  ];
}

const isolatedTree = /\/data\/[^/]+\/git\/(worktree|clone)\/repo\//;

/** A plan does not say what is read-only; the configuration may. */
function ofPlan(mount: DryRunPlan['mounts'][number], configured: readonly ConfiguredMount[]): SessionMount {
  const same = configured.find(({ destination }) => destination === mount.destination);
  return { ...ofConfiguration({ ...mount, readonly: same?.readonly ?? false, from: 'workspace' }), source: 'dry_run' };
}

function ofConfiguration(mount: ConfiguredMount): SessionMount {
  return {
    containerPath: mount.destination,
    path: bytesOfText(mount.source) as HostPath,
    source: mount.from,
    readonly: mount.readonly,
    isolation: mount.isolation,
    record: null,
  };
}

function isolated(record: IsolationRecord): SessionMount {
  return {
    containerPath: record.mount_dst,
    path: bytesOfText(record.worktree_path) as HostPath,
    source: 'isolation',
    readonly: false,
    isolation: record.isolation,
    record,
  };
}

function applyNamed(table: Map<string, SessionMount>, { which, path }: NamedMount): void {
  const known = [...table.values()].find(
    ({ containerPath }) => containerPath === which || nameOfDestination(containerPath) === which,
  );
  const containerPath = known?.containerPath ?? which ?? path;
  table.set(containerPath, {
    containerPath,
    path,
    source: 'named',
    readonly: false,
    isolation: known?.isolation ?? 'shared',
    record: known?.record ?? null,
  });
}
