import { type HostPath, pathToJson } from '../../core/entry-path.js';
import { type InstanceName, type MountName, parseMountName, slug } from '../../core/ids.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { DryRunPlan, JackinConfiguration } from '../../core/jackin/configuration.js';
import type { JackinHome } from '../../core/jackin/home.js';
import type { JackinManifest } from '../../core/jackin/manifest.js';
import {
  type KnownMounts,
  type NamedMount,
  type SessionMount,
  nameOfDestination,
  sessionMounts,
} from '../../core/jackin/mount-table.js';
import { defaultPolicy, type Policy } from '../../core/policy.js';
import type { LaunchRecipe, LeftOutMountReason, MountOrigin, RecoveryIndex } from '../../core/recovery-index.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { refuseClosed } from '../restore/guards.js';
import { liesIn } from '../session/folders.js';
import { whyUnsafe } from '../session/mount-guards.js';
import { containerOf } from './session.js';

/** What an import is told besides what jackin's own files say. */
export interface ImportHints {
  readonly named: readonly NamedMount[];
  readonly plan: DryRunPlan | null;
}

export const noHints: ImportHints = { named: [], plan: null };

/**
 * The record of the instance that stands for a session of jackin's, as it would be; nothing is written. An instance of that
 * name keeps its age and settings, apart from those that jackin's configuration gives.
 * @throws SnapError JACKIN_NOT_FOUND, CONFIGURATION_INVALID, JACKIN_VERSION_UNKNOWN, INSTANCE_CLOSED
 */
export async function importedRecord(
  context: Context,
  name: InstanceName,
  hints: ImportHints,
): Promise<InstanceRecord> {
  const home = await context.jackin();
  const manifest = manifestOf(home, name);
  const before = context.registry.find(name);
  refuseClosed(before);
  const configuration = home.configuration(manifest.workspace_name ?? null, manifest.role_key);
  const known = { ...hints, isolation: home.isolation(name), configured: configuration.mounts, home: home.path };
  const mounts = await withContainer(context, manifest, { ...known, container: null });
  const sorted = sortOut(context, mounts, before?.mounts ?? []);
  if (sorted.kept.length === 0) throw noMount(name, sorted);
  return {
    name,
    createdAt: before?.createdAt ?? context.now().toISOString(),
    state: 'open',
    mounts: sorted.kept.map(({ record }) => record),
    ...keptFrom(before, configuration.recovery),
    recovery: {
      jackin: { home: home.path, manifest },
      mounts: sorted.kept.map(originOf),
      left_out: sorted.leftOut,
      cleanup: configuration.dirtyExitPolicy,
      launch: launchOf(manifest, configuration, mounts),
    },
  };
}

/** Settings, apart from those that jackin's configuration gives, and what was decided. */
function keptFrom(
  before: InstanceRecord | undefined,
  configured: Partial<Policy> | null,
): Pick<InstanceRecord, 'policy' | 'exit' | 'ended'> {
  return {
    policy: { ...(before?.policy ?? defaultPolicy), ...configured },
    ...(before?.exit === undefined ? {} : { exit: before.exit }),
    ...(before?.ended === undefined ? {} : { ended: before.ended }),
  };
}

/** @throws SnapError JACKIN_NOT_FOUND */
function manifestOf(home: JackinHome, name: InstanceName): JackinManifest {
  const manifest = home.manifest(name);
  if (manifest !== undefined) return manifest;
  throw new SnapError('JACKIN_NOT_FOUND', `jackin has no instance ${name}.`, { selector: name });
}

/** The mounts, by the container's own list where there is one. */
async function withContainer(context: Context, manifest: JackinManifest, known: KnownMounts): Promise<SessionMount[]> {
  const mounts = sessionMounts(known);
  const folders = mounts.map(({ path }) => path);
  const container = await containerOf(context, manifest, folders);
  if (container.state === 'unknown' || container.mounts.length === 0) return mounts;
  return sessionMounts({ ...known, container: container.mounts });
}

interface Kept {
  readonly record: MountRecord;
  readonly mount: SessionMount;
}

interface SortedOut {
  readonly kept: readonly Kept[];
  readonly leftOut: RecoveryIndex['left_out'];
}

/** What can be a mount of an instance, and what cannot, with the reason. */
function sortOut(context: Context, mounts: readonly SessionMount[], before: readonly MountRecord[]): SortedOut {
  const kept: Kept[] = [];
  const leftOut: RecoveryIndex['left_out'][number][] = [];
  // Outer folders first: what lies in one of them is in its snapshot.
  for (const mount of [...mounts].sort((a, b) => a.path.length - b.path.length)) {
    const found = folderOf(context, mount, kept);
    if (typeof found === 'string') {
      leftOut.push({
        container_path: pathToJson(mount.containerPath),
        path: pathToJson(mount.path),
        source: mount.source,
        reason: found,
      });
    } else {
      kept.push({ record: { name: nameFor(mount, found.path, before, kept), ...found }, mount });
    }
  }
  return { kept, leftOut };
}

function folderOf(
  context: Context,
  mount: SessionMount,
  kept: readonly Kept[],
): Omit<MountRecord, 'name'> | LeftOutMountReason {
  if (mount.readonly) return 'read_only';
  if (!isMade(mount)) return 'not_made';
  const path = context.host.realPath(mount.path);
  const identity = path === undefined ? undefined : context.host.identity(path);
  if (path === undefined || identity === undefined) return 'missing';
  if (!identity.directory) return 'no_folder';
  if (mount.source !== 'named' && whyUnsafe(context, path) !== undefined) return 'unsafe';
  if (kept.some(({ record }) => liesIn(context, path, record.path))) return 'inside_another';
  return { path, dev: identity.dev, ino: identity.ino };
}

/** What is to be isolated, by configuration or plan, is worked in only where its tree was made. */
function isMade({ isolation, record, source }: SessionMount): boolean {
  return isolation === 'shared' || record !== null || source === 'container' || source === 'named';
}

/** A mount keeps the name that it has: snapshots know it by that. */
function nameFor(
  mount: SessionMount,
  path: HostPath,
  before: readonly MountRecord[],
  kept: readonly Kept[],
): MountName {
  const isFree = (name: MountName): boolean => kept.every(({ record }) => record.name !== name);
  const known = before.find((record) => record.path === path);
  if (known !== undefined && isFree(known.name)) return known.name;
  const base = slug(nameOfDestination(mount.containerPath), 80);
  for (let number = 1; ; number++) {
    const name = parseMountName(number === 1 ? base : `${base}-${String(number)}`);
    if (isFree(name) && !before.some((record) => record.name === name && record.path !== path)) return name;
  }
}

function noMount(name: InstanceName, { leftOut }: SortedOut): SnapError<'JACKIN_NOT_FOUND'> {
  const why = leftOut.length === 0 ? '' : ` (${leftOut.map(leftOutText).join('; ')})`;
  const message = `No folder of ${name} is known that could be saved${why}. Name one with --mount NAME=DIR.`;
  return new SnapError('JACKIN_NOT_FOUND', message, { selector: name });
}

const reasons: Readonly<Record<LeftOutMountReason, string>> = {
  read_only: 'it is read-only',
  missing: 'its folder is not there',
  no_folder: 'it is no folder',
  unsafe: 'it is a home, a folder of secrets, or around the data directory',
  inside_another: 'it lies in another mount',
  not_made: 'its worktree or clone is not made, or gone',
};

/** A mount that is left out, and why, for a reader. */
export function leftOutText({ container_path: path, reason }: RecoveryIndex['left_out'][number]): string {
  return `${typeof path === 'string' ? path : 'a mount'} is left out: ${reasons[reason]}`;
}

function originOf({ record, mount }: Kept): MountOrigin {
  return {
    name: record.name,
    source: mount.source,
    container_path: pathToJson(mount.containerPath),
    isolation:
      mount.record === null || mount.record.isolation === 'shared'
        ? null
        : {
            kind: mount.record.isolation,
            original: mount.record.original_src,
            branch: mount.record.scratch_branch ?? null,
            base_commit: mount.record.base_commit ?? null,
            cleanup_status: mount.record.cleanup_status ?? null,
          },
  };
}

function launchOf(
  manifest: JackinManifest,
  configuration: JackinConfiguration,
  mounts: readonly SessionMount[],
): LaunchRecipe {
  return {
    image: manifest.image_tag === '' ? null : manifest.image_tag,
    role: {
      key: manifest.role_key,
      git: manifest.role_source_git,
      ref: manifest.role_source_ref ?? null,
      commit: manifest.role_git_sha ?? null,
    },
    base: { image: manifest.base_image_ref ?? null, digest: manifest.base_image_digest ?? null },
    agent: manifest.agent_runtime,
    workspace: manifest.workspace_name ?? null,
    workdir: manifest.workdir,
    backend: manifest.backend ?? 'docker',
    mounts: mounts.map(({ path, containerPath, readonly, isolation, source }) => ({
      host_path: pathToJson(path),
      container_path: pathToJson(containerPath),
      readonly,
      isolation,
      source,
    })),
    environment: configuration.environment,
  };
}
