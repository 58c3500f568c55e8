import { displayPath, textOfBytes } from './core/entry-path.js';
import type { JackinSnap, RunRequest, SnapOptions } from './core/requests.js';
import type { RunResult } from './core/run-results.js';
import { withKnownFailures } from './instance/known-failures.js';
import { hasTerminal } from './instance/processes.js';
import type { Context } from './operations/context.js';
import { contexts, dataDirectoryOf, isOwnFolder } from './snap/context.js';

/*
 * Joins operations to disk, git and clock. Operations are loaded when they are first asked for: a save does not pay
 * for what only a restore needs.
 */

/** The library over one data directory. Nothing is read or written before a method is called. */
export function createSnap(options: SnapOptions = {}): JackinSnap {
  const { existing, created, foreseen } = contexts(options);
  // A signal that reaches us while `run`'s command runs is the command's: what follows it is still done.
  const { created: undisturbed } = contexts({ ...options, signal: undefined });
  const api: JackinSnap = {
    save: async (request = {}) => (await import('./operations/save.js')).save(created(request.folders), request),
    plan: async (request = {}) => (await import('./operations/plan/plan.js')).plan(foreseen(request.folders), request),
    ...looks(existing),
    explain: async (request) => (await import('./operations/look/explain.js')).explain(foreseen(), request),
    restore: (request) =>
      inSnapshot(existing, request.snapshot, async (context) =>
        (await import('./operations/restore/restore.js')).restore(context, request),
      ),
    undo: async (request) => (await import('./operations/restore/undo.js')).undo(existing(), request),
    recover: async (request) => (await import('./operations/restore/recover.js')).recover(existing(), request),
    pendingRestores: async () => (await import('./operations/restore/pending.js')).pendingRestores(existing()),
    ...retention(existing),
    push: async (request) => (await import('./operations/remote/push.js')).push(existing(), request),
    fetch: async (request) => {
      const context = request.dryRun === true ? existing() : created();
      return (await import('./operations/remote/fetch.js')).fetchSnapshots(context, request);
    },
    housekeeping: housekeeping(existing, options),
    verify: async (request = {}) => (await import('./operations/check/verify.js')).verify(existing(), request),
    drill: async (request) => (await import('./operations/check/drill.js')).drill(existing(), request),
    doctor: async (request = {}) => (await import('./operations/check/doctor.js')).doctor(existing(), request),
    run: (request) => runCommand(request, options, { created, undisturbed }),
    ...decisions(existing),
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

type Looks = 'list' | 'listAll' | 'show' | 'diff' | 'log' | 'cat' | 'tree' | 'export';

function looks(existing: () => Context): Pick<JackinSnap, Looks> {
  return {
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
    export: async (snapshot, destination, request = {}) =>
      (await import('./operations/export.js')).exportSnapshot(existing(), snapshot, destination, request),
  };
}

type Retention = 'pin' | 'unpin' | 'delete' | 'prune' | 'usage' | 'gc';

function retention(existing: () => Context): Pick<JackinSnap, Retention> {
  return {
    pin: async (snapshot) => (await import('./operations/keep/pin.js')).setPin(existing(), snapshot, true),
    unpin: async (snapshot) => (await import('./operations/keep/pin.js')).setPin(existing(), snapshot, false),
    delete: async (request) => (await import('./operations/keep/prune.js')).deleteSnapshots(existing(), request),
    prune: async (request) => (await import('./operations/keep/prune.js')).prune(existing(), request),
    usage: async (request = {}) => (await import('./operations/keep/usage.js')).usage(existing(), request),
    gc: async (request) => (await import('./operations/keep/collect-garbage.js')).gc(existing(), request),
  };
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
  const { runInFolder } = await import('./operations/run/run-in-folder.js');
  return runInFolder(created(), undisturbed(), request, (command) =>
    startCommand(command, { ...surroundings, cwd, env }),
  );
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

function decisions(existing: () => Context): Pick<JackinSnap, 'assess' | 'keep' | 'discard' | 'resume'> {
  return {
    assess: async (instance) => (await import('./operations/assess/assess.js')).assess(existing(), instance),
    keep: async (request = {}) => (await import('./operations/assess/decide.js')).keep(existing(), request),
    discard: async (request) => (await import('./operations/assess/decide.js')).discard(existing(), request),
    resume: async (instance) => (await import('./operations/assess/decide.js')).resume(existing(), instance),
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
