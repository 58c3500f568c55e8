import { ulid } from 'ulid';

import { bytesOfText } from '../core/entry-path.js';
import type { HostPath } from '../core/entry-path.js';
import { type SnapshotId, parseInstanceName } from '../core/ids.js';
import type { FindData } from '../core/data-ranges.js';
import type { SaveRequest, SnapOptions } from '../core/requests.js';
import { systemCode } from '../errors.js';
import { createArchiveFile } from '../fs/archive-file.js';
import { openMount } from '../fs/held-directory.js';
import { FileJournals } from '../fs/journal.js';
import { CacheRecorder } from '../fs/stat-cache/cache-recorder.js';
import { readStatCache, removeDamagedStatCaches, writeStatCache } from '../fs/stat-cache/stat-cache.js';
import { openLocks } from '../git/flock.js';
import { hasher } from '../git/pack/hasher.js';
import { openStore, packDirectory } from '../git/store.js';
import { type DataDirectory, layout, locateDataDirectory, openDataDirectory } from '../instance/data-directory.js';
import { FileDrillNotes } from '../instance/drill-notes.js';
import { readCaller } from '../instance/caller.js';
import * as host from '../instance/host.js';
import { linuxProcesses } from '../instance/processes.js';
import { programVersion } from '../instance/program-version.js';
import { FileRegistry } from '../instance/registry.js';
import { StackFiles } from '../instance/stack-files.js';
import { userHome } from '../instance/user-home.js';
import type { Context, Host, StatCaches } from '../operations/context.js';
import { Interruption } from '../operations/interruption.js';
import { containerLook, dataFinder, jackinHome, lateRemotes, repositories } from './loaded-late.js';

/*
 * What operations work with: the adapters over one data directory, and the time, the randomness and the environment.
 */

const defaultGraceSeconds = 600;

export function dataDirectoryOf({ dataDir, env, cwd }: SnapOptions): string {
  return locateDataDirectory(dataDir, env ?? process.env, cwd ?? process.cwd());
}

/** `created` makes the data directory where it is missing; `existing` works over one that may be absent. */
export function contexts(options: SnapOptions): {
  existing: () => Context;
  /** @param folders those that a save names; default: the current one */
  created: (folders?: SaveRequest['folders']) => Context;
  /** Of what a save would be over, with nothing made. */
  foreseen: (folders?: SaveRequest['folders']) => Context;
} {
  const env = options.env ?? process.env;
  const path = dataDirectoryOf(options);
  let made: Context | undefined;
  const open = (create: boolean, newMounts: readonly string[], remembers = true): Context => {
    const directory = openDataDirectory(path, process.geteuid?.(), create);
    return toContext({ ...options, env }, directory ?? layout(path), newMounts, remembers);
  };
  const here = currentFolder(options);
  const newMounts = (folders: NonNullable<SaveRequest['folders']>): readonly string[] =>
    folders.length > 0 ? folders.map((folder) => folder.path) : [here];
  return {
    existing: () => (made ??= open(false, [])),
    created: (folders = []) => (made = open(true, newMounts(folders))),
    foreseen: (folders = []) => open(false, newMounts(folders), false),
  };
}

/** @param newMounts what a save may make mounts of, before any record says so */
function toContext(
  options: SnapOptions & { readonly env: NonNullable<SnapOptions['env']> },
  directory: DataDirectory,
  newMounts: readonly string[],
  remembers: boolean,
): Context {
  const { env } = options;
  const now = sinceEpoch(options.now ?? (() => new Date()));
  const registry = new FileRegistry(directory);
  // Programs that lie in a mount are an agent's, whatever PATH says.
  const mounts = (): string[] => {
    const records = registry.all();
    const isKnown = records.some(({ name }) => name === options.instance);
    return [...records.flatMap((record) => record.mounts.map((mount) => mount.path)), ...(isKnown ? [] : newMounts)];
  };
  const shared = { dataDir: directory.path, env, signal: options.signal };
  const held = new Set<number>();
  const holder = { pid: process.pid, command: 'jackin-snap' };
  const findTar = { dataDir: directory.path, env, forbiddenDirectories: mounts };
  return {
    store: openStore({ ...shared, heldLocks: held, remembers, forbiddenProgramDirectories: mounts }),
    locks: openLocks({ ...shared, held, forbiddenDirectories: mounts, holder }),
    registry,
    journals: new FileJournals(directory.journals),
    drillNotes: new FileDrillNotes(directory.drills),
    processes: linuxProcesses,
    host: toHost(options, env, directory, dataFinder(findTar)),
    statCaches: toStatCaches(directory),
    repositories,
    gitStates,
    stackFiles: new StackFiles(directory.path),
    worktrees: async () => (await import('../git/user-worktree/user-worktrees.js')).userWorktrees,
    remotes: lateRemotes({ ...shared, forbiddenDirectories: mounts }),
    hasher,
    startRestoreThreads: async () =>
      (await import('../threads/restore-threads.js')).startRestoreThreads(packDirectory(directory.path)),
    now,
    graceSeconds: options.graceSeconds ?? defaultGraceSeconds,
    newId: () => ulid(now().getTime()) as SnapshotId,
    interruption: new Interruption(options.signal),
    onProgress: options.onProgress ?? (() => undefined),
    program: `jackin-snap/${programVersion()}`,
    instance: options.instance === undefined ? null : parseInstanceName(options.instance),
    newArchive: createArchiveFile,
    containers: { look: containerLook({ dataDir: directory.path, env, forbiddenDirectories: mounts }) },
    jackin: jackinHome(env, options.cwd),
    secretScanner: async () => (await import('../scan/secret-scanner.js')).secretScanner,
    pid: process.pid,
  };
}

/** Neither a ULID nor a commit can tell of an earlier moment. */
function sinceEpoch(now: () => Date): () => Date {
  return () => new Date(Math.max(0, now().getTime()));
}

function toHost(
  options: SnapOptions,
  env: NonNullable<SnapOptions['env']>,
  directory: DataDirectory,
  findData: FindData,
): Host {
  const home = userHome(env);
  return {
    cwd: currentFolder(options),
    home: home === undefined ? null : (bytesOfText(home) as HostPath),
    dataDirectory: bytesOfText(directory.path) as HostPath,
    openMount: (path) => openMount(path, findData),
    realPath: (path) => host.realPath(path) as HostPath | undefined,
    identity: host.identity,
    isHome: (path) => host.isHome(path, home),
    worktreesDirectory: bytesOfText(directory.worktrees) as HostPath,
    makePrivateDirectories: host.makePrivateDirectories,
    makeDirectory: host.makeDirectory,
    digest: host.digest,
    freeBytes: host.freeBytes,
    caller: readCaller,
    // Loaded for the first restore of many files.
    syncFileSystem: async (path) => (await import('../run/sync-file-system.js')).syncFileSystem(path, process.pid),
    mountPointsBelow: host.mountPointsBelow,
  };
}

/** As bytes: what node says of a folder whose path is not UTF-8 names another one, or none. */
function currentFolder({ cwd }: SnapOptions): HostPath {
  return (cwd === undefined || isOwnFolder(cwd) ? host.currentFolder() : bytesOfText(cwd)) as HostPath;
}

export function isOwnFolder(cwd: string): boolean {
  try {
    return cwd === process.cwd();
  } catch (error) {
    // It is gone.
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

function toStatCaches(directory: DataDirectory): StatCaches {
  return {
    read: (instance, mount, dev) => readStatCache(directory.statCache(instance, mount), dev),
    removeDamaged: () => removeDamagedStatCaches(directory.caches),
    newRecorder: (dev) => {
      const recorder = new CacheRecorder(dev);
      return {
        enter: (path, stat, rules) => {
          recorder.enter(path, stat, rules);
        },
        leave: (files, tree, firm, adopted) => {
          recorder.leave(files, tree, firm, adopted);
        },
        adopt: (subtree) => {
          recorder.adopt(subtree);
        },
        write: (instance, mount, notes) => {
          writeStatCache(directory.statCache(instance, mount), recorder, notes);
        },
      };
    },
  };
}

/** Loaded where they are asked for. */
const gitStates: Context['gitStates'] = {
  protect: async (request) => (await import('../git/user-repo/protect.js')).protect(request),
  prepareRestore: async (request) => (await import('../git/user-repo/restore-git-state.js')).prepareGitRestore(request),
  newCheck: async (request) => new (await import('../git/user-repo/check-git-state.js')).GitStateCheck(request),
};
