import {
  type EntryPath,
  type HostPath,
  displayPath,
  baseName,
  hostPathBelow,
  isWithin,
  parentPath,
  pathFromJson,
} from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { RestoreRequest } from '../../core/requests.js';
import type { Change } from '../../core/restore-plan.js';
import type { KeptPath, PlannedChange, RestoreResult } from '../../core/results.js';
import { SnapError, systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { pathNotFound } from '../not-stored.js';
import { chooseMounts } from '../path-arguments.js';
import { liesIn } from '../session/folders.js';
import { type KnownSnapshot, pointerTo } from '../snapshots.js';
import type { FitToLeave } from '../state/fit-to-leave.js';
import { type NotStored, contentToLeave, manifestToLeave } from '../state/state-to-leave.js';
import { withoutContentMessages } from '../without-content.js';
import { applyChanges } from './apply.js';
import type { GitRestoreJob } from './git-states.js';
import { ownersNotSetMessages } from './left-as-they-are.js';
import { temporaryPrefix } from './pending.js';
import { toKeptPaths, toPlannedChange } from './plan-mounts.js';
import { leftAsKept } from './temporaries.js';
import { verifyChanges } from './verify-changes.js';

/** Writes a snapshot's content into a new or empty folder; the live mounts are not looked at. */
export async function restoreElsewhere(
  context: Context,
  request: RestoreRequest,
  known: KnownSnapshot,
  destination: HostPath,
): Promise<RestoreResult> {
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    return await restoreElsewhereLocked(context, request, known, destination, reader);
  } finally {
    await reader.close();
    lock.release();
  }
}

/** The same for whoever holds the store's lock. */
export async function restoreElsewhereLocked(
  context: Context,
  request: RestoreRequest,
  known: KnownSnapshot,
  destination: HostPath,
  reader: ObjectReader,
): Promise<RestoreResult> {
  const manifest = await manifestToLeave(context, reader, known, { destination, state: request.state === true });
  refuseTaken(context, destination);
  const { parts, withheld } = await planParts(context, request, { known, manifest, reader, destination });
  const plan = parts.flatMap(({ name, path, changes }) => changes.map((change) => toPlannedChange(name, path, change)));
  const mounts = parts.filter(({ name }) => name !== manifest.state?.name);
  if (request.gitState === true)
    await (await import('./git-states.js')).refuseWithoutGitState({ known, reader, mounts });
  const base = { known, destination, plan, withheld };
  const notes = withoutContentMessages(known, manifest);
  if (request.dryRun === true) return toResult(base, { dryRun: true, failed: [], bytesWritten: 0, messages: notes });
  const confirmed = await request.confirm({ snapshot: pointerTo(known), plan, kept: [], messages: [] });
  if (!confirmed) throw new SnapError('DECLINED', 'Declined: nothing was written.', { what: 'restore' });
  const written = await writeParts(context, parts, destination, reader);
  written.messages.push(
    ...notes,
    ...whereStateIs(manifest, parts),
    ...(request.gitState === true ? [] : linksToRepositories(mounts)),
  );
  if (request.gitState !== true) return toResult(base, { dryRun: false, ...written });
  const git = await makeRepositories(context, { known, manifest, reader, mounts, elsewhere: true });
  return toResult(base, { dryRun: false, ...written, failed: [...written.failed, ...git] });
}

/** It goes no further by itself. */
function whereStateIs({ state }: Manifest, parts: readonly Part[]): string[] {
  const part = parts.find(({ name }) => name === state?.name);
  if (state === undefined || part === undefined) return [];
  const home = displayPath(pathFromJson(state.path));
  return [
    `The session's state is in ${displayPath(part.path)}. What you want of it in ${home}, copy there yourself, while the session's container does not run.`,
  ];
}

/** A `.git` file is stored as it is: that of a worktree leads to the repository that it belongs to. */
function linksToRepositories(parts: readonly Part[]): string[] {
  const links = parts.flatMap(({ path, changes }) =>
    changes
      .filter(({ path: entry, after }) => after?.kind === 'file' && baseName(entry) === '.git')
      .map(({ path: entry }) => displayPath(hostPathBelow(path, entry))),
  );
  return links.map(
    (link) => `${link} leads to the repository that it came from: git in this copy changes that one. Remove it first.`,
  );
}

/** The folders are new, and so are their repositories. */
async function makeRepositories(context: Context, job: GitRestoreJob): Promise<KeptPath[]> {
  const { GitRestores } = await import('./git-states.js');
  const git = await GitRestores.prepare(context, job);
  try {
    const { failed } = git;
    return [...failed, ...(await git.apply(context, job))];
  } finally {
    git.close();
  }
}

interface Part {
  readonly name: MountName;
  readonly path: HostPath;
  readonly changes: readonly Change[];
}

interface PartsOf {
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
  readonly reader: ObjectReader;
  readonly destination: HostPath;
}

interface Parts {
  readonly parts: readonly Part[];
  /** What of the state may not leave the store. */
  readonly withheld: readonly KeptPath[];
}

/** A single mount's content goes into the folder itself, several mounts (or a mount and state) into one folder each. */
async function planParts(
  context: Context,
  request: Pick<RestoreRequest, 'mount' | 'paths' | 'gitState'>,
  of: PartsOf,
): Promise<Parts> {
  const { known, manifest, reader, destination } = of;
  const names = manifest.mounts.map(({ name }) => name as MountName);
  const parts: Part[] = [];
  const withheld: KeptPath[] = [];
  for (const [name, limits] of chooseMounts(names, request)) {
    const content = await contentToLeave(context, reader, known, manifest, name);
    const kept = content.withheld.filter(({ path }) => limits === null || limits.some((limit) => meet(limit, path)));
    withheld.push(...kept.map((one) => ({ mount: name, ...one })));
    const path = names.length === 1 ? destination : hostPathBelow(destination, name);
    const within = limits?.filter((limit) => !kept.some((one) => isWithin(limit, one.path))) ?? null;
    const changes = creations(content, within, name);
    // A worktree's `.git` file stands where the repository goes.
    const apart = request.gitState === true ? changes.filter((change) => change.path !== '.git') : changes;
    parts.push({ name, path, changes: apart });
  }
  return { parts, withheld };
}

/** True when one of the paths is the other, or lies below it. */
function meet(a: EntryPath, b: EntryPath): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function creations(
  { entries, leftOutAt }: Pick<FitToLeave, 'entries'> & NotStored,
  limits: readonly EntryPath[] | null,
  mount: MountName,
): Change[] {
  const needed = limits === null ? null : new Set<EntryPath>();
  for (const limit of limits ?? []) {
    if (!entries.has(limit)) throw pathNotFound(mount, limit, leftOutAt(limit), 'is not in the snapshot');
    for (let at = limit; at !== ''; at = parentPath(at)) needed?.add(at);
  }
  const inScope = (path: EntryPath): boolean =>
    needed === null || path === '' || needed.has(path) || (limits ?? []).some((limit) => isWithin(path, limit));
  return [...entries.values()]
    .filter(({ path }) => inScope(path))
    .map((after) => ({ path: after.path, action: 'create', reason: 'written elsewhere', before: null, after }));
}

async function writeParts(
  context: Context,
  parts: readonly Part[],
  destination: HostPath,
  reader: ObjectReader,
): Promise<{ failed: KeptPath[]; bytesWritten: number; messages: string[] }> {
  const folder = openDestination(context, destination);
  const result = { failed: [] as KeptPath[], bytesWritten: 0, messages: [] as string[] };
  try {
    for (const part of parts) {
      const root = part.path === destination ? folder : makeFolderIn(context, folder, part);
      try {
        await writePart(context, part, root, reader, result);
      } finally {
        if (root !== folder) root.close();
      }
    }
  } finally {
    folder.close();
  }
  return result;
}

/** Made and opened in the very folder that was found empty, whatever its path leads to by now. */
function makeFolderIn({ host }: Context, folder: WritableDirectory, { name, path }: Part): WritableDirectory {
  try {
    folder.makeDirectory(name);
    return host.openMount(hostPathBelow(folder.descriptorPath as HostPath, name));
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EEXIST' && code !== 'ELOOP' && code !== 'ENOTDIR') throw error;
    throw destinationExists(path);
  }
}

async function writePart(
  context: Context,
  part: Part,
  root: WritableDirectory,
  reader: ObjectReader,
  result: { failed: KeptPath[]; bytesWritten: number; messages: string[] },
): Promise<void> {
  let files = 0;
  let bytes = 0;
  const applied = await applyChanges({
    root,
    changes: part.changes,
    temporaryPrefix: temporaryPrefix(context.newId()),
    reader,
    hasher: context.hasher,
    remembered: () => undefined,
    onLend: () => undefined,
    lentBefore: new Map(),
    interruption: context.interruption,
    syncFileSystem: () => context.host.syncFileSystem(root.descriptorPath),
    onFile: (size) => {
      files += 1;
      bytes += size;
      context.onProgress({ phase: 'export', files, bytes, totalFiles: part.changes.length, totalBytes: null });
    },
  });
  const unlike = await verifyChanges(root, applied, context, () => undefined);
  result.bytesWritten += applied.bytesWritten;
  result.failed.push(
    ...toKeptPaths(part.name, applied.skipped),
    ...unlike.map((path) => ({ mount: part.name, path, reason: 'verification_failed' })),
    ...toKeptPaths(part.name, leftAsKept(applied.left)),
  );
  result.messages.push(...ownersNotSetMessages(applied.ownersNotSet));
}

/** @throws SnapError DESTINATION_EXISTS when something is there that is not an empty folder */
function openDestination(context: Context, destination: HostPath): WritableDirectory {
  refuseOurs(context, destination);
  const { host } = context;
  const present = host.identity(destination);
  if (present === undefined) host.makeDirectory(destination);
  else if (!present.directory) throw destinationExists(destination);
  const folder = host.openMount(destination);
  if (folder.list().length === 0) return folder;
  folder.close();
  throw destinationExists(destination);
}

/** Nobody is asked about, or shown, what would be refused then. */
function refuseTaken(context: Context, destination: HostPath): void {
  refuseOurs(context, destination);
  if (context.host.identity(destination) !== undefined) openDestination(context, destination).close();
}

function destinationExists(destination: HostPath): SnapError<'DESTINATION_EXISTS'> {
  const path = displayPath(destination);
  return new SnapError('DESTINATION_EXISTS', `${path} exists and is not empty: nothing was written.`, { path });
}

/** @throws SnapError USAGE for a destination in the data directory: what is put there would be taken for ours */
export function refuseOurs(context: Context, destination: HostPath): void {
  if (!liesIn(context, destination, context.host.dataDirectory)) return;
  const message = `${displayPath(destination)} lies in the data directory: nothing was written.`;
  throw new SnapError('USAGE', message, { what: 'destination' });
}

function toResult(
  base: {
    known: KnownSnapshot;
    destination: HostPath;
    plan: readonly PlannedChange[];
    withheld: readonly KeptPath[];
  },
  outcome: { dryRun: boolean; failed: readonly KeptPath[]; bytesWritten: number; messages: readonly string[] },
): RestoreResult {
  const { known, destination, plan, withheld } = base;
  const failed = new Set(outcome.failed.map(({ mount, path }) => `${mount}:${path}`));
  const done = outcome.dryRun ? [] : plan.filter(({ mount, path }) => !failed.has(`${mount}:${path}`));
  return {
    instance: known.ref.instance,
    fromSnapshot: pointerTo(known),
    emergencySnapshot: null,
    dryRun: outcome.dryRun,
    restoredFiles: done.filter(isFile).length,
    deletedFiles: 0,
    changed: done.map(({ mount, path }) => ({ mount, path })),
    plan,
    kept: [],
    failed: [...withheld, ...outcome.failed],
    filesAffected: plan.filter(isFile).length,
    bytesWritten: outcome.bytesWritten,
    activeSnapshot: null,
    verified: !outcome.dryRun && outcome.failed.length === 0,
    destination,
    messages: outcome.messages,
  };
}

function isFile({ to }: PlannedChange): boolean {
  return to !== 'directory';
}
