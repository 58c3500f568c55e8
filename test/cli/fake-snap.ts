import { isWithin, parseEntryPath, type EntryPath } from '../../src/core/entry-path.js';
import type { JackinSnap } from '../../src/core/requests.js';
import type { RestoreResult } from '../../src/core/results.js';
import { SnapError } from '../../src/errors.js';
import { evilName, instance, mount, pointer } from './fake-names.js';
import { exportedState, worktree, listed, saved, showed, plan, restored, summary } from './fake-answers.js';
import { contractAnswers } from './fake-contract.js';
import { remoteAnswers } from './fake-remote.js';
import { imported, recoveryAnswers } from './fake-recovery.js';
import { sessionAnswers } from './fake-session.js';

export { evilName, foreignName, instance, mount, pointer } from './fake-names.js';
export { ruined } from './fake-damage.js';
export {
  listed,
  mountSummary,
  leftOut,
  saved,
  partlySaved,
  showed,
  change,
  plan,
  restored,
  summary,
} from './fake-answers.js';

/*
 * A library that answers from literals and remembers what it was asked.
 */

/** What the library was asked, by method. */
export interface Asked {
  readonly method: string;
  readonly request: unknown;
}

export interface FakeSnap {
  readonly snap: JackinSnap;
  readonly asked: Asked[];
}

type Answers = { readonly [Method in keyof JackinSnap]?: Partial<JackinSnap[Method]> | (() => never) };

/** The fake; `answers` replaces single methods. */
export function fakeSnap(answers: Answers = {}): FakeSnap {
  const asked: Asked[] = [];
  const note = <Result>(method: string, request: unknown, result: Result): Promise<Result> => {
    asked.push({ method, request });
    return Promise.resolve(result);
  };
  const removal = { instance, removed: [pointer(2)], kept: [pointer(1), pointer(3)], freedBytes: 4096, messages: [] };
  const restoreLike = async (
    method: string,
    request: { confirm: Parameters<JackinSnap['restore']>[0]['confirm']; dryRun?: boolean | undefined },
  ): Promise<RestoreResult> => {
    const { confirm, ...rest } = request;
    asked.push({ method, request: rest });
    if (request.dryRun) return { ...restored, dryRun: true, emergencySnapshot: null };
    const { kept, messages } = restored;
    if (!(await confirm({ snapshot: pointer(1), plan, kept, messages }))) {
      throw new SnapError('DECLINED', 'The restore was declined.', {
        what: method === 'recover' ? 'recover' : 'restore',
      });
    }
    return restored;
  };
  const snap: JackinSnap = {
    housekeeping: {
      isDue: () => Promise.resolve(false),
      run: () => note('housekeeping.run', undefined, undefined),
      start: (program) => note('housekeeping.start', program, undefined),
    },
    save: (request) => note('save', request, saved),
    ...contractAnswers(note),
    list: (request) => note('list', request, { instance, snapshots: [listed(3), listed(2), listed(1)], messages: [] }),
    listAll: () => note('listAll', undefined, [summary]),
    show: (request) => note('show', request, showed),
    diff: ({ output, ...request }) => {
      if (output.kind === 'collect') output.onData(Buffer.from('+a\xe9', 'latin1'));
      return note('diff', { ...request, output: describeOutput(output) }, { exitCode: 1, messages: [] });
    },
    log: (request) => {
      if (request?.output.kind === 'collect') request.output.onData(Buffer.from('commit\n'));
      return note('log', { ...request, output: request && describeOutput(request.output) }, { exitCode: 0 });
    },
    cat: async (snapshot, path, write) => {
      if (!isWithin(path.path, parseEntryPath('a'))) {
        throw new SnapError('PATH_NOT_FOUND', `No ${path.path} in snapshot ${snapshot}.`, {
          path: path.path,
          where: snapshot,
        });
      }
      await write(Buffer.from('con'));
      await write(Buffer.from('tent'));
      return note('cat', { snapshot, path }, { sizeBytes: 7 });
    },
    tree: (snapshot, path) =>
      note('tree', { snapshot, path }, [
        { mount, path: parseEntryPath('d'), kind: 'directory' as const, mode: 0o1777, sizeBytes: null, target: null },
        { mount, path: parseEntryPath('d/f'), kind: 'file' as const, mode: 0o4755, sizeBytes: 1200, target: null },
        { mount, path: evilName, kind: 'symlink' as const, mode: 0o777, sizeBytes: 2, target: 'to\xff' },
      ]),
    export: (snapshot, destination, request) =>
      note(
        'export',
        { snapshot, destination, ...request },
        { files: 2, bytes: 10, state: exportedState, messages: [] },
      ),
    restore: (request) => restoreLike('restore', request),
    undo: (request) => restoreLike('undo', request),
    recover: (request) => restoreLike('recover', request),
    pendingRestores: () => Promise.resolve([]),
    pin: (request) => note('pin', request, pointer(3)),
    unpin: (request) => note('unpin', request, pointer(3)),
    delete: async ({ snapshots, dryRun = false, confirm }) => {
      asked.push({ method: 'delete', request: { snapshots, dryRun } });
      if (!dryRun && !(await confirm([pointer(2)]))) throw new SnapError('DECLINED', 'Declined.', { what: 'remove' });
      return { ...removal, dryRun };
    },
    prune: async ({ dryRun = false, confirm }) => {
      asked.push({ method: 'prune', request: { dryRun } });
      if (!dryRun && !(await confirm([pointer(2)]))) throw new SnapError('DECLINED', 'Declined.', { what: 'remove' });
      return { ...removal, dryRun };
    },
    ...remoteAnswers(note),
    gc: ({ dryRun = false }) => note('gc', { dryRun }, { ...removal, removed: [], dryRun }),
    verify: (request) =>
      note('verify', request, { ok: true, snapshotsChecked: 3, damaged: [], problems: [], content: null }),
    drill: (request) =>
      note('drill', request, { snapshot: pointer(3), ok: true, files: 2, bytes: 10, differences: [], messages: [] }),
    doctor: () =>
      note('doctor', undefined, {
        ok: true,
        damaged: false,
        findings: [{ level: 'note' as const, what: 'git 2.39', hint: 'Newer is faster.' }],
      }),
    run: (request) =>
      note('run', request, {
        instance,
        exitCode: 9,
        snapshotLevel: 'project',
        before: pointer(1),
        after: pointer(2),
        changes: {
          added: 1,
          modified: 2,
          deleted: 0,
          linesAdded: 14,
          linesRemoved: 3,
          files: [
            { mount, path: 'new.sh' as EntryPath, change: 'added' as const, lines: { added: 10, removed: 0 } },
            { mount, path: 'plan.txt' as EntryPath, change: 'modified' as const, lines: { added: 4, removed: 3 } },
            { mount, path: 'Makefile' as EntryPath, change: 'modified' as const, lines: null },
          ],
          noLongerStored: [
            { mount, path: 'src/a' as EntryPath, reason: 'ignored' as const, selfRunning: null },
            { mount, path: 'justfile' as EntryPath, reason: 'excluded' as const, selfRunning: 'build' as const },
          ],
          newExecutables: [{ mount, path: 'new.sh' as EntryPath }],
          selfRunning: [
            { mount, path: 'Makefile' as EntryPath, kind: 'build' as const, change: 'modified' as const, stored: true },
            {
              mount,
              path: '.git/hooks/pre-commit' as EntryPath,
              kind: 'git_hook' as const,
              change: 'added' as const,
              stored: false,
            },
          ],
        },
        complete: true,
        blocked: null,
        worktree: null,
        exitDecision: null,
        messages: [],
      }),
    worktrees: {
      list: (request) => note('run list', request, [worktree]),
      remove: async ({ confirm, ...request }) => {
        asked.push({ method: 'run remove', request });
        const { name, path, branch } = worktree;
        if (!(await confirm({ name, path, branch, whatGoes: () => Promise.resolve(['x.log goes.']) })))
          throw new SnapError('DECLINED', 'Nothing was removed.', { what: 'remove' });
        return { name, path, branch, branchStays: true, snapshot: pointer(3), messages: ['x.log is gone.'] };
      },
    },
    instance: {
      show: () => note('instance show', undefined, summary),
      activate: (request) => note('instance activate', request, summary),
      deactivate: () => note('instance deactivate', undefined, summary),
      set: (request) => note('instance set', request, summary),
      close: () => note('instance close', undefined, { ...summary, state: 'closed' as const }),
      import: (request) => note('instance import', request, imported),
    },
    recovery: recoveryAnswers(note),
    ...sessionAnswers(note, summary),
  };
  return { snap: Object.assign(snap, answers), asked };
}

function describeOutput(output: Parameters<JackinSnap['diff']>[0]['output']): unknown {
  return output.kind === 'collect' ? 'collect' : { color: output.color, pager: output.pager };
}
