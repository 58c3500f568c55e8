import { Buffer } from 'node:buffer';

import type { EntryPath } from '../../core/entry-path.js';
import { joinPath, rootPath } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { MountRecord } from '../../core/instance-record.js';
import type { Directory } from '../../core/ports.js';
import { watchedPaths } from '../../core/self-running.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';

/** Digests of the watched files by path, for each mount. */
export type Watched = ReadonlyMap<MountName, ReadonlyMap<EntryPath, string>>;

export interface WatchedChange {
  readonly mount: MountName;
  readonly path: EntryPath;
  readonly change: 'added' | 'modified' | 'deleted';
}

/** Looks at what runs by itself and is often in no snapshot: git's hooks and configuration, settings of editors and agents. */
export async function lookAtWatched(context: Context, mounts: readonly MountRecord[]): Promise<Watched> {
  const found = new Map<MountName, ReadonlyMap<EntryPath, string>>();
  for (const { name, path } of mounts) {
    const root = orNothing(() => context.host.openMount(path));
    if (root === undefined) continue;
    try {
      found.set(name, await lookAtMount(context, root));
    } finally {
      root.close();
    }
  }
  return found;
}

async function lookAtMount(context: Context, root: Directory): Promise<Map<EntryPath, string>> {
  const digests = new Map<EntryPath, string>();
  for (const path of watchedPaths) {
    const digest = orNothing(() => digestAt(context, root, path.split('/')));
    if (digest !== undefined) digests.set(path, digest);
  }
  const git = orNothing(() => root.stat('.git'));
  if (git?.kind === 'directory' || git?.kind === 'file') {
    const running = await context.repositories.readSelfRunning(root, git.kind);
    for (const [path, digest] of running) digests.set(joinPath(rootPath, path), digest);
  }
  return digests;
}

function digestAt(context: Context, directory: Directory, [name = '', ...rest]: readonly string[]): string | undefined {
  const stat = directory.stat(name);
  if (stat === undefined) return undefined;
  if (rest.length === 0)
    return stat.kind === 'file' ? digestOfFile(context, directory, name) : `${stat.kind} ${linkText(directory, name)}`;
  if (stat.kind !== 'directory') return undefined;
  const below = directory.enter(name);
  try {
    return digestAt(context, below, rest);
  } finally {
    below.close();
  }
}

const limit = 1024 * 1024;

/** Of a large file, its beginning and its size. */
function digestOfFile(context: Context, directory: Directory, name: string): string {
  const file = directory.openFile(name);
  try {
    const buffer = Buffer.alloc(limit);
    const length = file.read(buffer);
    return `${String(file.stat().size)} ${context.host.digest(buffer.toString('latin1', 0, length))}`;
  } finally {
    file.close();
  }
}

function linkText(directory: Directory, name: string): string {
  return orNothing(() => directory.readLink(name)) ?? '';
}

/** What cannot be read is not compared: the snapshots name it. */
function orNothing<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

export function compareWatched(before: Watched, after: Watched): WatchedChange[] {
  const changes: WatchedChange[] = [];
  for (const mount of new Set([...before.keys(), ...after.keys()])) {
    const [then, now] = [before.get(mount) ?? new Map(), after.get(mount) ?? new Map()];
    for (const path of [...new Set<EntryPath>([...then.keys(), ...now.keys()])].sort()) {
      if (then.get(path) === now.get(path)) continue;
      changes.push({ mount, path, change: !then.has(path) ? 'added' : now.has(path) ? 'modified' : 'deleted' });
    }
  }
  return changes;
}
