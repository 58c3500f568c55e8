import { ulid } from 'ulid';

import { bytesOfText, displayPath, textOfBytes } from './core/entry-path.js';
import type { HostPath } from './core/entry-path.js';
import { type SnapshotId, parseInstanceName } from './core/ids.js';
import type { FindData } from './core/ports.js';
import type { JackinSnap, RunRequest, SaveRequest, SnapOptions } from './core/requests.js';
import type { RunResult } from './core/results.js';
import { createArchiveFile } from './fs/archive-file.js';
import { systemCode } from './errors.js';
import { FileJournals } from './fs/journal.js';
import { openMount } from './fs/held-directory.js';
import { CacheRecorder } from './fs/stat-cache/cache-recorder.js';
import { readStatCache, removeDamagedStatCaches, writeStatCache } from './fs/stat-cache/stat-cache.js';
import { openLocks } from './git/flock.js';
import { hasher } from './git/pack/hasher.js';
import type { ProgramSearch } from './git/programs.js';
import { openStore, packDirectory } from './git/store.js';
import { type DataDirectory, layout, locateDataDirectory, openDataDirectory } from './instance/data-directory.js';
import * as host from './instance/host.js';
import { withKnownFailures } from './instance/known-failures.js';
import { programVersion } from './instance/program-version.js';
import { hasTerminal, linuxProcesses } from './instance/processes.js';
import { FileRegistry } from './instance/registry.js';
import { StackFiles } from './instance/stack-files.js';
import type { Context, Host, StatCaches } from './operations/context.js';
import { Interruption } from './operations/interruption.js';

/*
 * Joins operations to disk, git and clock. Operations are loaded when they are first asked for: a save does not pay
 * for what only a restore needs.
 */

const defaultGraceSeconds = 600;

/** The library over one data directory. Nothing is read or written before a method is called. */
export function createSnap(options: SnapOptions = {}): JackinSnap {
  const { existing, created, foreseen } = contexts(options);
  // A signal that reaches us while `run`'s command runs is the command's: what follows it is still done.
  const { created: undisturbed } = contexts({ ...options, signal: undefined });
  const api: JackinSnap = {
    save: async (request = {}) => (await import('./operations/save.js')).save(created(request.folders), request),
    plan: async (request = {}) => (await import('./operations/plan/plan.js')).plan(foreseen(request.folders), request),
    list: async (request = {}) => (await import('./operations/look/list.js')).list(existing(), request),
    listAll: async () => (await import('./operations/session/instances.js')).listInstances(existing()),
    show: async (snapshot) => (await import('./operations/look/show.js')).show(existing(), snapshot),
    diff: (request) =>
      inSnapshot(existing, request.from, async (context) =>
        (await import('./operations/look/diff.js')).diff(context, request),
      ),
    log: async (request) =>
      (await import('./operations/look/log.js')).log(
        existing(),
        request ?? { output: { kind: 'collect', onData: () => undefined } },
      ),
    cat: (snapshot, path, write) =>
      inSnapshot(existing, snapshot, async (context) =>
        (await import('./operations/look/cat.js')).cat(context, snapshot, path, write),
      ),
    tree: (snapshot, path) =>
      inSnapshot(existing, snapshot, async (context) =>
        (await import('./operations/look/cat.js')).tree(context, snapshot, path),
      ),
    explain: async (request) => (await import('./operations/look/explain.js')).explain(foreseen(), request),
    export: async (snapshot, destination) =>
      (await import('./operations/export.js')).exportSnapshot(existing(), snapshot, destination),
    restore: (request) =>
      inSnapshot(existing, request.snapshot, async (context) =>
        (await import('./operations/restore/restore.js')).restore(context, request),
      ),
    undo: async (request) => (await import('./operations/restore/undo.js')).undo(existing(), request),
    recover: async (request) => (await import('./operations/restore/recover.js')).recover(existing(), request),
    pendingRestores: async () => (await import('./operations/restore/recover.js')).pendingRestores(existing()),
    pin: async (snapshot) => (await import('./operations/keep/pin.js')).setPin(existing(), snapshot, true),
    unpin: async (snapshot) => (await import('./operations/keep/pin.js')).setPin(existing(), snapshot, false),
    delete: async (request) => (await import('./operations/keep/prune.js')).deleteSnapshots(existing(), request),
    prune: async (request) => (await import('./operations/keep/prune.js')).prune(existing(), request),
    usage: async (request = {}) => (await import('./operations/keep/usage.js')).usage(existing(), request),
    gc: async (request) => (await import('./operations/keep/collect-garbage.js')).gc(existing(), request),
    housekeeping: housekeeping(existing, options),
    verify: async (request = {}) => (await import('./operations/check/verify.js')).verify(existing(), request),
    drill: async (request) => (await import('./operations/check/drill.js')).drill(existing(), request),
    doctor: async (request = {}) => (await import('./operations/check/doctor.js')).doctor(existing(), request),
    run: (request) => runCommand(request, options, { created, undisturbed }),
    instance: lifecycle(existing, created),
    recovery: recovery(existing),
    worktrees: {
      list: async (request = {}) =>
        (await import('./operations/worktree/list-worktrees.js')).listWorktrees(existing(), request.all ?? false),
      remove: async (request) =>
        (await import('./operations/worktree/remove-worktree.js')).removeWorktree(existing(), request),
    },
    stacks: stacks(existing, created),
  };
  return withKnownFailures(api, dataDirectoryOf(options));
}

async function runCommand(
  request: RunRequest,
  options: SnapOptions,
  { created, undisturbed }: Readonly<Record<'created' | 'undisturbed', () => Context>>,
): Promise<RunResult> {
  const { startCommand } = await import('./run/start-command.js');
  const env = options.env ?? process.env;
  const surroundings = { outputToError: request.stdout === 'stderr', self: process, hasTerminal };
  if (request.worktree === true) {
    const { environmentIn } = await import('./run/environment.js');
    const { runInWorktree } = await import('./operations/run/run-in-worktree.js');
    return runInWorktree(created(), undisturbed(), request, (command, folder) => {
      const cwd = textOfBytes(folder) ?? displayPath(folder);
      return startCommand(command, { ...surroundings, cwd, env: environmentIn(cwd, env) });
    });
  }
  const cwd = options.cwd === undefined || isOwnFolder(options.cwd) ? undefined : options.cwd;
  const { run } = await import('./operations/run/run.js');
  const { result } = await run(created(), undisturbed(), request, (command) =>
    startCommand(command, { ...surroundings, cwd, env }),
  );
  return result;
}

/** Where a path is missing, the error says in which snapshot. */
async function inSnapshot<T>(open: () => Context, selector: string, act: (context: Context) => Promise<T>): Promise<T> {
  return (await import('./operations/which-snapshot.js')).sayingWhichSnapshot(open(), selector, act);
}

function housekeeping(existing: () => Context, options: SnapOptions): JackinSnap['housekeeping'] {
  return {
    isDue: async () => (await import('./operations/keep/housekeeping.js')).isDue(existing()),
    run: async () => (await import('./operations/keep/housekeeping.js')).housekeep(existing()),
    start: async (program) => {
      const { startInBackground } = await import('./run/start-in-background.js');
      const words = ['--data-dir', dataDirectoryOf(options), 'gc', '--auto'];
      startInBackground([process.execPath, program, ...words]);
    },
  };
}

function recovery(existing: () => Context): JackinSnap['recovery'] {
  return {
    show: async (instance) =>
      (await import('./operations/recovery/show-recovery.js')).showRecovery(existing(), instance),
    list: async (instance) =>
      (await import('./operations/recovery/list-recovery.js')).listRecovery(existing(), instance),
    instances: async () => (await import('./operations/recovery/list-recovery.js')).recoverableInstances(existing()),
    startingPoint: async (instance, snapshot) =>
      (await import('./operations/recovery/starting-point.js')).startingPoint(existing(), instance, snapshot),
  };
}

function lifecycle(existing: () => Context, created: () => Context): JackinSnap['instance'] {
  return {
    show: async () => (await import('./operations/session/instances.js')).showInstance(existing()),
    activate: async (request = {}) =>
      (await import('./operations/session/instances.js')).activate(existing(), request.pid ?? process.ppid),
    deactivate: async () => (await import('./operations/session/instances.js')).deactivate(existing()),
    set: async (settings) => (await import('./operations/session/instances.js')).set(existing(), settings),
    close: async () => (await import('./operations/session/instances.js')).close(existing()),
    import: async (request) =>
      (await import('./operations/jackin/import.js')).importSessions(existing(), created, request),
  };
}

function stacks(existing: () => Context, created: () => Context): JackinSnap['stacks'] {
  return {
    list: async () => (await import('./operations/stacks.js')).listStacks(existing()),
    show: async (name) => (await import('./operations/stacks.js')).showStack(existing(), name),
    validate: async (file) => (await import('./operations/stacks.js')).validateStack(existing(), file),
    approve: async (folder) => (await import('./operations/stacks.js')).approveStacks(created(), folder),
    revoke: async (folder) => (await import('./operations/stacks.js')).revokeStacks(existing(), folder),
  };
}

function dataDirectoryOf({ dataDir, env, cwd }: SnapOptions): string {
  return locateDataDirectory(dataDir, env ?? process.env, cwd ?? process.cwd());
}

/** `created` makes the data directory where it is missing; `existing` works over one that may be absent. */
function contexts(options: SnapOptions): {
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
  const findTar = { dataDir: directory.path, env, forbiddenDirectories: mounts };
  return {
    store: openStore({ ...shared, heldLocks: held, remembers, forbiddenProgramDirectories: mounts }),
    locks: openLocks({
      ...shared,
      held,
      forbiddenDirectories: mounts,
      holder: { pid: process.pid, command: 'jackin-snap' },
    }),
    registry,
    journals: new FileJournals(directory.journals),
    processes: linuxProcesses,
    host: toHost(options, env, directory, dataFinder(findTar)),
    statCaches: toStatCaches(directory),
    // Loaded for the first `.git` that a walk meets.
    repositories: {
      read: async (directory, gitEntry) =>
        (await import('./git/user-repo/repositories.js')).readRepository(directory, gitEntry),
      readSelfRunning: async ({ descriptorPath }, gitEntry) =>
        (await import('./git/user-repo/self-running.js')).readSelfRunning(descriptorPath, gitEntry),
    },
    stackFiles: new StackFiles(directory.path),
    worktrees: async () => (await import('./git/user-worktree/user-worktrees.js')).userWorktrees,
    hasher,
    startRestoreThreads: async () =>
      (await import('./threads/restore-threads.js')).startRestoreThreads(packDirectory(directory.path)),
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
    pid: process.pid,
  };
}

/** Neither a ULID nor a commit can tell of an earlier moment. */
function sinceEpoch(now: () => Date): () => Date {
  return () => new Date(Math.max(0, now().getTime()));
}

/** Both are loaded for the first file with vast holes. */
function dataFinder(search: ProgramSearch): FindData {
  return async (file) => {
    const { Programs } = await import('./git/programs.js');
    const programs = new Programs(search);
    const path = programs.findIfThere('tar');
    if (path === undefined) return undefined;
    return (await import('./run/find-data.js')).findData({ path, searchPath: programs.searchPath }, file);
  };
}

/** Loaded for the first session of jackin's. */
function jackinHome(env: NonNullable<SnapOptions['env']>, cwd: string | undefined): Context['jackin'] {
  return async (home) => {
    const { FileJackinHome, jackinPlaces } = await import('./instance/jackin/file-jackin-home.js');
    const places = jackinPlaces(env, cwd ?? '/');
    return new FileJackinHome(home === undefined ? places : { ...places, home });
  };
}

/** Docker is looked for, and asked, for the first container. */
function containerLook(search: ProgramSearch): Context['containers']['look'] {
  return async (name, avoid) => {
    const { Programs } = await import('./git/programs.js');
    const forbiddenDirectories = (): string[] => [...search.forbiddenDirectories(), ...avoid];
    const programs = new Programs({ ...search, forbiddenDirectories });
    const path = programs.findIfThere('docker');
    if (path === undefined) return { state: 'unknown', why: 'there is no docker on PATH that may be trusted' };
    const { dockerEnvironment, lookAtContainer } = await import('./run/look-at-container.js');
    const env = dockerEnvironment(search.env, (folder) => !programs.isForbidden(folder));
    return lookAtContainer({ path, env: { ...env, PATH: programs.searchPath } }, name);
  };
}

function toHost(
  options: SnapOptions,
  env: NonNullable<SnapOptions['env']>,
  directory: DataDirectory,
  findData: FindData,
): Host {
  const home = env['HOME'];
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
    // Loaded for the first restore of many files.
    syncFileSystem: async (path) => (await import('./run/sync-file-system.js')).syncFileSystem(path, process.pid),
    mountPointsBelow: host.mountPointsBelow,
  };
}

/** As bytes: what node says of a folder whose path is not UTF-8 names another one, or none. */
function currentFolder({ cwd }: SnapOptions): HostPath {
  return (cwd === undefined || isOwnFolder(cwd) ? host.currentFolder() : bytesOfText(cwd)) as HostPath;
}

function isOwnFolder(cwd: string): boolean {
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
