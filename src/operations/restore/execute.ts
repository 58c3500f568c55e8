import { type EntryPath, displayPath } from '../../core/entry-path.js';
import type { InstanceName, MountName } from '../../core/ids.js';
import type { MountRecord } from '../../core/instance-record.js';
import { type JournalRecord, inverse } from '../../core/journal-record.js';
import type { Journal, ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { Change } from '../../core/restore-plan.js';
import type { KeptPath, SnapshotPointer } from '../../core/results.js';
import { SnapError, systemCode } from '../../errors.js';
import { openRoot } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { type Applied, applyChanges } from './apply.js';
import { asPending } from './as-pending.js';
import type { Remembered } from './entry-state.js';
import { refuseSwapped } from './guards.js';
import { isOfOwnerAlone } from './kinds-of-change.js';
import { ownersNotSetMessages } from './left-as-they-are.js';
import { type PendingRestore, clearFinished, temporaryPrefix } from './pending.js';
import { type PlannedMount, toKeptPaths } from './plan-mounts.js';
import { leftAsKept } from './temporaries.js';
import { verifyChanges } from './verify-changes.js';

/*
 * The part of a restore that changes mounts: journal, apply, verify, report; and the same again after a crash.
 */

/** What was done. */
export interface Finished {
  readonly changed: readonly { readonly mount: MountName; readonly path: EntryPath }[];
  readonly failed: readonly KeptPath[];
  readonly restoredFiles: number;
  readonly deletedFiles: number;
  readonly bytesWritten: number;
  readonly verified: boolean;
  readonly messages: readonly string[];
}

export interface RestoreJob {
  readonly instance: InstanceName;
  readonly snapshot: SnapshotPointer;
  readonly emergency: SnapshotPointer;
  readonly planned: readonly PlannedMount[];
  readonly request: string;
  readonly reader: ObjectReader;
}

/** Writes the plan down and carries it out. Whenever it ends early, the journal says how to go on. */
export async function finishRestore(context: Context, job: RestoreJob): Promise<Finished> {
  const id: string = context.newId();
  const changes = new Map(job.planned.map(({ name, plan }) => [name, plan.changes]));
  const remembered = new Map(job.planned.map(({ name, live }) => [name, memoryOf(live)]));
  const mounts = job.planned.map(({ live }) => live.mount);
  return withMounts(context, mounts, false, async (roots) => {
    clearFinished(context, job.instance);
    const journal = context.journals.create(job.instance);
    return closing(journal, async () => {
      journal.append(journalOf(id, job, changes));
      const { instance, reader } = job;
      const lent = new Map();
      const ownersKept = new Map(job.planned.map(({ name, plan }) => [name, new Set(plan.ownersKept)]));
      const work = { context, instance, journal, id, roots, changes, lent, reader, remembered, ownersKept };
      return carryOut({ ...work, resumed: null });
    });
  });
}

function journalOf(id: string, job: RestoreJob, changes: ReadonlyMap<MountName, readonly Change[]>): JournalRecord[] {
  const mounts = job.planned.map(({ live: { mount } }) => mount);
  const all = [...changes].flatMap(([mount, list]) =>
    list.map((change) => ({ kind: 'change' as const, mount, change })),
  );
  const { snapshot, emergency, request } = job;
  const blocked = job.planned.flatMap(({ name, plan }) => toKeptPaths(name, plan.blocked));
  return [
    { kind: 'begin', id, snapshot, emergency, mounts, request },
    ...all,
    { kind: 'planned', changes: all.length, ...(blocked.length === 0 ? {} : { blocked }) },
  ];
}

function memoryOf(live: PlannedMount['live']): (path: EntryPath) => Remembered | undefined {
  return (path) => {
    const entry = live.captured.entries.get(path);
    return entry === undefined ? undefined : { stat: entry.stat, momentNs: live.momentNs };
  };
}

export interface ResumeJob {
  readonly instance: InstanceName;
  readonly pending: PendingRestore;
  readonly direction: 'continue' | 'abort';
  /** Although the mount at its path is another folder than that of the plan, or temporary names have to be left. */
  readonly force: boolean;
  readonly reader: ObjectReader;
}

/** Goes on with a pending restore, or takes it back. The caller holds the instance's lock. */
export async function resumeRestore(context: Context, job: ResumeJob): Promise<Finished> {
  const { instance, pending, direction, force } = job;
  return withMounts(context, pending.begin.mounts, force, async (roots) => {
    const journal = context.journals.reopen(instance);
    return closing(journal, async () => {
      if (pending.direction !== direction) journal.append([{ kind: 'direction', direction }]);
      return resumeIn(context, job, roots, journal);
    });
  });
}

function resumeIn(
  context: Context,
  { instance, pending, direction, reader, force }: ResumeJob,
  roots: Work['roots'],
  journal: Journal,
): Promise<Finished> {
  const { id } = pending.begin;
  const changes = new Map(
    [...pending.changes].map(([mount, list]) => [mount, direction === 'abort' ? list.map(inverse) : list]),
  );
  const { lent } = pending;
  const resumed = { force };
  const [remembered, ownersKept] = [new Map(), new Map()];
  return carryOut({ context, instance, journal, id, roots, changes, lent, reader, remembered, ownersKept, resumed });
}

async function withMounts(
  context: Context,
  mounts: readonly MountRecord[],
  force: boolean,
  act: (roots: ReadonlyMap<MountName, WritableDirectory>) => Promise<Finished>,
): Promise<Finished> {
  const roots = new Map<MountName, WritableDirectory>();
  try {
    for (const mount of mounts) {
      const root = openRoot(context, mount);
      roots.set(mount.name, root);
      if (!force) refuseSwapped(root, mount);
    }
    return await act(roots);
  } finally {
    for (const root of roots.values()) root.close();
  }
}

/** A journal that is finished is gone; any other is closed, and stays. */
async function closing(journal: Journal, act: () => Promise<Finished>): Promise<Finished> {
  let finished = false;
  try {
    const result = await act();
    finished = true;
    return result;
  } finally {
    if (!finished) journal.close();
  }
}

interface Work {
  readonly context: Context;
  readonly instance: InstanceName;
  readonly journal: Journal;
  readonly id: string;
  readonly roots: ReadonlyMap<MountName, WritableDirectory>;
  readonly changes: ReadonlyMap<MountName, readonly Change[]>;
  readonly lent: PendingRestore['lent'];
  readonly reader: ObjectReader;
  readonly remembered: ReadonlyMap<MountName, (path: EntryPath) => Remembered | undefined>;
  /** Not known of a restore that is resumed. */
  readonly ownersKept: ReadonlyMap<MountName, ReadonlySet<EntryPath>>;
  /** An earlier run was interrupted; with `force`, temporary names may stay. */
  readonly resumed: { readonly force: boolean } | null;
}

async function carryOut(work: Work): Promise<Finished> {
  const { journal, roots } = work;
  const parts: { mount: MountName; applied: Applied; unlike: readonly EntryPath[] }[] = [];
  const progress = new RestoreProgress(work);
  try {
    for (const [mount, root] of roots) parts.push({ mount, ...(await applyMount(work, mount, root, progress)) });
  } catch (error) {
    throw asPending(error, work.instance);
  }
  if (work.resumed?.force !== true) refuseLeft(parts, work.instance);
  try {
    journal.append([{ kind: 'done' }]);
  } catch (error) {
    throw asPending(error, work.instance);
  }
  dismiss(journal);
  // A signal that came this late changes nothing any more: what was done is reported.
  return summarize(parts);
}

/** One that is done tells of nothing pending: where it cannot be removed, the next restore does it. */
function dismiss(journal: Journal): void {
  try {
    journal.remove();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

async function applyMount(
  work: Work,
  mount: MountName,
  root: WritableDirectory,
  progress: RestoreProgress,
): Promise<{ applied: Applied; unlike: readonly EntryPath[] }> {
  const { context, journal, reader } = work;
  const { hasher, interruption } = context;
  const onLend = (path: EntryPath, mode: number): void => {
    journal.append([{ kind: 'lent', mount, path, mode }]);
  };
  const changes = work.changes.get(mount) ?? [];
  const threads = changes.length < threadsFrom ? undefined : await context.startRestoreThreads();
  try {
    const applied = await applyChanges({
      root,
      changes,
      temporaryPrefix: temporaryPrefix(work.id),
      resumed: work.resumed !== null,
      mayLeaveTemporaries: work.resumed?.force ?? false,
      reader,
      hasher,
      remembered: work.remembered.get(mount) ?? (() => undefined),
      onLend,
      lentBefore: work.lent.get(mount) ?? new Map(),
      ownersKept: work.ownersKept.get(mount),
      interruption,
      threads,
      syncFileSystem: () => context.host.syncFileSystem(root.descriptorPath),
      onFile: (bytes) => {
        progress.add(bytes);
      },
    });
    return { applied, unlike: await verifyChanges(root, applied, { hasher, threads }, onLend) };
  } finally {
    await threads?.end();
  }
}

/** Starting threads takes as long as making some hundred files. */
const threadsFrom = 2000;

/** Where temporary names are left, the restore is not done: a recovery takes them away, or is told to leave them. */
function refuseLeft(
  parts: readonly { readonly mount: MountName; readonly applied: Applied }[],
  instance: InstanceName,
): void {
  const left = parts.flatMap(({ mount, applied }) => applied.left.map((name) => ({ mount, ...name })));
  const [first] = left;
  if (first === undefined) return;
  const where = `${displayPath(first.path)} in mount ${first.mount} (${first.problem})`;
  const others = left.length === 1 ? '' : ` and ${String(left.length - 1)} more`;
  throw new SnapError(
    'SYSTEM_FAILED',
    `Temporary files of the restore cannot be removed: ${where}${others}. The restore is pending.`,
    { problem: first.problem, pending: instance, left: left.map(({ path }) => path) },
  );
}

function summarize(parts: readonly { mount: MountName; applied: Applied; unlike: readonly EntryPath[] }[]): Finished {
  const isFile = ({ before, after }: Change): boolean => (after ?? before)?.kind !== 'directory';
  const done = parts.flatMap(({ mount, applied, unlike }) =>
    applied.done.filter(isDone(applied, unlike)).map((change) => ({ mount, change })),
  );
  const failed = parts.flatMap(({ mount, applied, unlike }) => [
    ...toKeptPaths(mount, applied.skipped),
    ...unlike.map((path) => ({ mount, path, reason: 'verification_failed' })),
    ...toKeptPaths(mount, leftAsKept(applied.left)),
  ]);
  return {
    changed: done.map(({ mount, change }) => ({ mount, path: change.path })),
    failed,
    restoredFiles: done.filter(({ change }) => change.after !== null && isFile(change)).length,
    deletedFiles: done.filter(({ change }) => change.after === null && isFile(change)).length,
    bytesWritten: parts.reduce((sum, { applied }) => sum + applied.bytesWritten, 0),
    verified: parts.every(({ unlike }) => unlike.length === 0),
    messages: ownersNotSetMessages(parts.flatMap(({ applied }) => applied.ownersNotSet)),
  };
}

/** What failed its check, or was to get an owner that could not be set and nothing else, is not told as restored. */
function isDone({ ownersNotSet }: Applied, unlike: readonly EntryPath[]): (change: Change) => boolean {
  const [failed, kept] = [new Set(unlike), new Set(ownersNotSet)];
  return (change) => !failed.has(change.path) && !(kept.has(change.path) && isOfOwnerAlone(change));
}

class RestoreProgress {
  readonly #context: Context;
  readonly #totalFiles: number;
  readonly #totalBytes: number;
  #files = 0;
  #bytes = 0;

  constructor({ context, changes }: Work) {
    this.#context = context;
    const written = [...changes.values()].flat().flatMap(({ after }) => (after?.kind === 'file' ? [after.size] : []));
    this.#totalFiles = written.length;
    this.#totalBytes = written.reduce((sum, size) => sum + size, 0);
  }

  add(bytes: number): void {
    this.#files += 1;
    this.#bytes += bytes;
    const { totalFiles, totalBytes } = { totalFiles: this.#totalFiles, totalBytes: this.#totalBytes };
    this.#context.onProgress({ phase: 'restore', files: this.#files, bytes: this.#bytes, totalFiles, totalBytes });
  }
}
