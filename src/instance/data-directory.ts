import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { type HostPath, contains, displayPath } from '../core/entry-path.js';
import type { InstanceName, MountName } from '../core/ids.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably } from '../fs/durable.js';
import { userHome } from './user-home.js';

/** Where everything of ours lives. All paths are text; the directory and all in it belong to the user alone. */
export interface DataDirectory {
  readonly path: string;
  readonly instanceDirectory: (name: InstanceName) => string;
  readonly instances: string;
  readonly locks: string;
  readonly journals: string;
  /** Where `run` puts worktrees: `<name>/<folder>`. It need not exist. */
  readonly worktrees: string;
  /** Where drills are noted; it need not exist. */
  readonly drills: string;
  /** Where caches lie; it need not exist. */
  readonly caches: string;
  readonly statCache: (name: InstanceName, mount: MountName) => string;
}

/**
 * The data directory that the options and the environment name; it need not exist.
 * @throws SnapError USAGE when none is named, and no home directory is known
 */
export function locateDataDirectory(
  option: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string {
  const named = option ?? env['JACKIN_SNAP_DATA_DIR'];
  if (named !== undefined && named !== '') return resolve(cwd, named);
  const jackin = env['JACKIN_HOME_DIR'];
  if (jackin !== undefined && jackin !== '') return resolve(cwd, jackin, 'snapshots');
  const home = userHome(env);
  if (home !== undefined) return resolve(home, '.jackin', 'snapshots');
  throw new SnapError('USAGE', 'No home directory is known, and no data directory was named.', {
    what: 'data directory',
  });
}

/**
 * Opens the data directory; undefined when it does not exist and `create` is false.
 * @throws SnapError DATA_DIR_OPEN when others may read it or write to it, DATA_DIR_DENIED when it is not ours.
 */
export function openDataDirectory(path: string, owner: number | undefined, create: boolean): DataDirectory | undefined {
  if (create) makePrivate(path);
  let real: string;
  try {
    real = realpathSync(path);
    checkPrivate(real, owner);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return undefined;
    if (code === 'EACCES' || code === 'ENOTDIR') throw denied(path, error);
    throw error;
  }
  const directory = layout(real);
  if (create)
    for (const part of [directory.instances, directory.locks, directory.journals, join(real, 'cache')])
      makePrivate(part);
  return directory;
}

/** Where things lie in a data directory, be it there or not. */
export function layout(path: string): DataDirectory {
  const instances = join(path, 'instances');
  return {
    path,
    instances,
    instanceDirectory: (name) => join(instances, name),
    locks: join(path, 'locks'),
    journals: join(path, 'journals'),
    worktrees: join(path, 'worktrees'),
    drills: join(path, 'drills'),
    caches: join(path, 'cache'),
    statCache: (name, mount) => join(path, 'cache', `stat-${name}@${mount}`),
  };
}

function makePrivate(path: string): void {
  try {
    makeDirectoryDurably(path);
  } catch (error) {
    if (error instanceof SnapError || systemCode(error) === undefined) throw error;
    throw denied(path, error);
  }
}

function denied(path: string, cause: unknown): SnapError {
  return new SnapError(
    'DATA_DIR_DENIED',
    `${displayPath(path)} cannot be used as part of the data directory (${systemCode(cause) ?? 'denied'}).`,
    { path },
    { cause },
  );
}

/** What a refusal of the system means that concerns something in the data directory; undefined for all else. */
export function refusalWithin(directory: string, error: unknown): SnapError | undefined {
  if (!(error instanceof Error) || !refusals.has(systemCode(error))) return undefined;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : '';
  const isOurs = [directory, realOf(directory)].some((ours) => contains(ours as HostPath, path as HostPath));
  return isOurs ? denied(path, error) : undefined;
}

const refusals: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

function realOf(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** An empty folder may become one; any other that has no store is somebody's for something else. */
function isOurs(path: string): boolean {
  const names = readdirSync(path);
  return names.length === 0 || names.includes('store.git');
}

function checkPrivate(path: string, owner: number | undefined): void {
  const stat = statSync(path);
  if (!stat.isDirectory()) throw new SnapError('DATA_DIR_DENIED', `${displayPath(path)} is no directory.`, { path });
  if (owner !== undefined && stat.uid !== owner) {
    throw new SnapError('DATA_DIR_DENIED', `The data directory ${displayPath(path)} belongs to another user.`, {
      path,
    });
  }
  if ((stat.mode & 0o066) === 0) return;
  if (!isOurs(path)) {
    const shown = displayPath(path);
    throw new SnapError(
      'DATA_DIR_DENIED',
      `${shown} is open to others and no data directory: name a folder of your own.`,
      { path },
    );
  }
  const mode = (stat.mode & 0o777).toString(8);
  throw new SnapError('DATA_DIR_OPEN', `Others may look into the data directory ${displayPath(path)} (mode ${mode}).`, {
    path,
    mode,
  });
}
