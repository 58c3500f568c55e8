import { displayPath, pathToJson } from '../../core/entry-path.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader, ObjectWriter } from '../../core/ports.js';
import type { RestoreRequest } from '../../core/requests.js';
import type { KeptPath, PlannedChange, RestoreResult, SnapshotPointer } from '../../core/results.js';
import { SnapError, afterDone } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForSnapshot } from '../locking.js';
import { embeddedRecord, readManifest, refuseOversized } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, know, pointerTo, refuseRemoved, resolveSnapshot } from '../snapshots.js';
import {
  type ActiveOverlap,
  type Reach,
  activeOverlaps,
  refuseActive,
  refuseClosed,
  refuseReplaced,
} from './guards.js';
import { cutLinkMessages } from './cut-links.js';
import { publishEmergency } from './emergency.js';
import { type Finished, finishRestore } from './execute.js';
import type { GitRestoreJob, GitRestores } from './git-states.js';
import { readPending, refusePending } from './pending.js';
import { headMessages } from './head-moved.js';
import { largeDeletionMessage, largeDeletions, refuseLargeDeletions } from './large-deletions.js';
import { notStoredMessages, nothingMessage, ownersKeptMessages } from './left-as-they-are.js';
import { type PlannedMount, reachOf, toKeptPaths, toPlannedChanges } from './plan-mounts.js';
import { type PlannedRestoreRequest, planTargets } from './plan-targets.js';
import { resume } from './recover.js';
import { restoreElsewhere } from './restore-elsewhere.js';
import { refuseUnsound } from './sound.js';
import { spaceNeeded } from './space-needed.js';
import { chooseTargets } from './targets.js';
import { holdsContent, noContentMessage } from '../without-content.js';

/**
 * Puts an instance's mounts back to a snapshot. Nothing in a mount changes before the plan was confirmed and the
 * emergency snapshot, which holds every path that will be, is published. Killed at any point, `recover` leads to
 * either end, and the same restore again converges.
 */
export async function restore(context: Context, request: PlannedRestoreRequest): Promise<RestoreResult> {
  const resolved = await resolveSnapshot(context, request.snapshot, () => chooseInstance(context));
  const known = know(resolved.ref);
  if (request.to !== undefined) return restoreElsewhere(context, request, known, request.to);
  if (request.state === true) return refuseStateInPlace(context, known);
  refuseClosed(context.registry.find(known.ref.instance));
  const locks = await lockForSnapshot(context, known.ref.instance);
  const reader = context.store.reader();
  try {
    // What held before the lock may not hold under it.
    refuseClosed(context.registry.find(known.ref.instance));
    await refuseRemoved(context, known.ref);
    const resumed = await continuePending(context, request, known, reader);
    if (resumed === undefined) return await restoreLocked(context, request, known, reader);
    const result = await restoreLocked(context, request, known, reader).catch((error: unknown) => {
      throw afterResumedFailed(error, resumed);
    });
    return result.plan.length > 0 ? afterResumed(result, resumed) : resumed;
  } finally {
    await reader.close();
    locks.release();
  }
}

/** Of a restore in two parts, an undo takes back the second: how to have all of it back is said. */
function afterResumed(result: RestoreResult, resumed: RestoreResult): RestoreResult {
  if (result.emergencySnapshot === null || resumed.emergencySnapshot === null) return result;
  const [first, second] = [resumed.emergencySnapshot.seq, result.emergencySnapshot.seq].map(String);
  const message =
    `The restore that was interrupted was finished first; the state before it is snapshot ${first}. ` +
    `Snapshot ${second}, to which undo leads, is the state after that; for the one before all: restore ${first}.`;
  return { ...result, messages: [...result.messages, message] };
}

/** Whatever a failure says of nothing being changed is not true of what was finished before it. */
function afterResumedFailed(error: unknown, { emergencySnapshot, failed }: RestoreResult): unknown {
  const back = emergencySnapshot === null ? '' : `; the state before it is snapshot ${String(emergencySnapshot.seq)}`;
  const paths = failed.slice(0, 5).map(({ path, reason }) => `${displayPath(path)} (${reason})`);
  const more = failed.length > 5 ? ` and ${String(failed.length - 5)} more` : '';
  const but = failed.length === 0 ? '' : `, but for ${paths.join(', ')}${more}`;
  return afterDone(error, `The restore that was interrupted was finished first${but}${back}.`);
}

/** Before anything else is looked at: no part of such a restore is done. */
async function refuseStateInPlace(context: Context, known: KnownSnapshot): Promise<never> {
  const { refuseInPlace } = await import('../state/jackins-own.js');
  const { withState } = await import('../state/held-state.js');
  const reader = context.store.reader();
  try {
    return refuseInPlace(withState(await readManifest(reader, known)));
  } finally {
    await reader.close();
  }
}

/** What was asked for, in a form to compare: the same again continues a restore that is pending. */
export function requestKey(
  request: Pick<RestoreRequest, 'paths' | 'mount' | 'noDelete' | 'deleteNewRepositories' | 'gitState'>,
): string {
  const paths = (request.paths ?? []).map(({ mount, path }) => [mount, pathToJson(path)]);
  return JSON.stringify([
    paths,
    request.mount ?? null,
    request.noDelete ?? false,
    request.deleteNewRepositories ?? false,
    ...(request.gitState === true ? ['git_state'] : []),
  ]);
}

async function continuePending(
  context: Context,
  request: RestoreRequest,
  known: KnownSnapshot,
  reader: ObjectReader,
): Promise<RestoreResult | undefined> {
  const pending = readPending(context, known.ref.instance);
  if (pending === undefined || request.dryRun === true) return undefined;
  const same =
    pending.begin.snapshot.ref === known.ref.ref &&
    pending.begin.request === requestKey(request) &&
    pending.direction !== 'abort';
  if (!same) refusePending(known.ref.instance, pending);
  const { confirm, force } = request;
  return resume(context, { direction: 'continue', confirm, force }, { instance: known.ref.instance, pending, reader });
}

async function restoreLocked(
  context: Context,
  request: PlannedRestoreRequest,
  known: KnownSnapshot,
  reader: ObjectReader,
): Promise<RestoreResult> {
  const manifest = await readManifest(reader, known);
  const record = context.registry.find(known.ref.instance) ?? embeddedRecord(manifest, known);
  const targets = chooseTargets(manifest, record, request);
  for (const { manifestMount, mount } of targets)
    refuseReplaced(
      context,
      { mount: manifestMount, path: mount.path, instance: known.ref.instance },
      request.force ?? false,
    );
  if (isGuarded(request)) refuseActive(await activeOverlaps(context, [], record));
  await refuseDamaged(context, known);
  const writer = request.dryRun === true ? null : context.store.newWriter();
  let git: GitRestores | null = null;
  try {
    const planned = await planTargets({ context, request, known, manifest, record, targets, reader, writer });
    const gitJob = { known, manifest, reader, mounts: planned };
    if (request.gitState === true) git = await (await gitRestores()).prepare(context, gitJob);
    // Whose folders the plan leaves alone, they may go on working in.
    const active = await activeOverlaps(context, reachesOf({ planned, git }), record);
    if (isGuarded(request)) refuseActive(active);
    const journey = { context, request, known, manifest, record, planned, active, reader, writer, git, gitJob };
    return toResult(journey, await carryOut(journey));
  } finally {
    git?.close();
    await writer?.abandon();
  }
}

function isGuarded({ force, dryRun }: RestoreRequest): boolean {
  return force !== true && dryRun !== true;
}

/** Loaded where it is asked for. */
async function gitRestores(): Promise<typeof GitRestores> {
  return (await import('./git-states.js')).GitRestores;
}

async function refuseDamaged(context: Context, known: KnownSnapshot): Promise<void> {
  const broken = await context.store.brokenSnapshots([known.ref.commit]);
  if (broken.size === 0) return;
  await refuseOversized(context, [known.ref]);
  const snapshot = `${known.ref.instance}/${String(known.ref.seq)}`;
  throw new SnapError(
    'SNAPSHOT_DAMAGED',
    `Snapshot ${snapshot} misses objects: it cannot be restored, and nothing was changed.`,
    { snapshot },
  );
}

interface Journey {
  readonly context: Context;
  readonly request: RestoreRequest;
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
  readonly record: InstanceRecord;
  readonly planned: readonly PlannedMount[];
  readonly active: readonly ActiveOverlap[];
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter | null;
  /** What is done to repositories; null where that was not asked for. */
  readonly git: GitRestores | null;
  readonly gitJob: GitRestoreJob;
}

interface Outcome extends Finished {
  readonly emergency: SnapshotPointer | null;
  readonly messages: readonly string[];
}

async function carryOut(journey: Journey): Promise<Outcome> {
  const { context, request, known, planned, active, reader, writer } = journey;
  const messages = [
    ...notStoredMessages(planned),
    ...ownersKeptMessages(planned),
    ...headMessages(planned, request.gitState === true),
    ...cutLinkMessages(planned),
    ...active.map(({ instance, owner }) => `Instance ${instance} is active (${owner}).`),
  ];
  const large = largeDeletions(planned, journey.record.policy);
  messages.push(...large.map(largeDeletionMessage));
  const hasContent = holdsContent(known, journey.manifest);
  const nothing = { ...nothingDone, emergency: null, verified: hasContent };
  const count = planOf(journey).length;
  if (writer === null) return { ...nothing, verified: false, messages };
  if (count === 0)
    return { ...nothing, messages: [...messages, hasContent ? nothingMessage(planned) : noContentMessage(known)] };
  refuseLackOfSpace(context, planned);
  await refuseUnsound(context, reader, known, planned);
  const confirmed = await request.confirm({
    snapshot: pointerTo(known),
    plan: planOf(journey),
    kept: keptOf(journey),
    messages,
  });
  if (!confirmed) throw new SnapError('DECLINED', 'The restore was declined: nothing changed.', { what: 'restore' });
  await refuseLargeDeletions(large, request);
  context.interruption.check();
  // The question may have waited for long: who became active meanwhile is asked again.
  if (request.force !== true) refuseActive(await activeOverlaps(context, reachesOf(journey), journey.record));
  const emergency = await publishEmergency(context, { ...journey, writer });
  context.registry.recordRestore(emergency.instance, emergency.seq);
  const finished = await changeFiles(journey, emergency);
  const failed = [...finished.failed, ...(await changeRepositories(journey))];
  return { ...finished, failed, emergency, messages: [...messages, ...finished.messages] };
}

async function changeRepositories({ context, git, gitJob }: Journey): Promise<KeptPath[]> {
  return git === null ? [] : git.apply(context, gitJob);
}

const nothingDone: Finished = {
  changed: [],
  failed: [],
  restoredFiles: 0,
  deletedFiles: 0,
  bytesWritten: 0,
  verified: true,
  messages: [],
};

/** The files first: should that be interrupted, the same restore again goes on with it, and with the repositories then. */
async function changeFiles(
  { context, known, planned, request, reader }: Journey,
  emergency: SnapshotPointer,
): Promise<Finished> {
  if (planned.every(({ plan }) => plan.changes.length === 0)) return nothingDone;
  const snapshot = pointerTo(known);
  const { instance } = known.ref;
  return finishRestore(context, { instance, snapshot, emergency, planned, request: requestKey(request), reader });
}

function planOf({ planned, git }: Pick<Journey, 'planned' | 'git'>): PlannedChange[] {
  return [...toPlannedChanges(planned), ...(git?.changes ?? [])];
}

/** Whoever works anywhere in a mount may use its repository. */
function reachesOf({ planned, git }: Pick<Journey, 'planned' | 'git'>): Reach[] {
  return planned.map((mount) =>
    git?.mounts.has(mount.name) === true ? { folder: mount.path, paths: null } : reachOf(mount),
  );
}

function refuseLackOfSpace(context: Context, planned: readonly PlannedMount[]): void {
  for (const { path, plan } of planned) {
    if (spaceNeeded(plan.changes) <= context.host.freeBytes(path)) continue;
    throw new SnapError('NO_SPACE', `There is no space left for the restore: nothing was changed.`, { path });
  }
}

function keptOf({ planned, git }: Pick<Journey, 'planned' | 'git'>): KeptPath[] {
  const files = planned.flatMap(({ name, plan }) => [
    ...toKeptPaths(name, plan.kept),
    ...toKeptPaths(name, plan.blocked),
  ]);
  return [...files, ...(git?.kept ?? []), ...(git?.failed ?? [])];
}

function toResult(journey: Journey, outcome: Outcome): RestoreResult {
  const { known, planned, request, git } = journey;
  const blocked = planned.flatMap(({ name, plan }) => toKeptPaths(name, plan.blocked));
  const failed = [...blocked, ...(git?.failed ?? []), ...outcome.failed];
  const plan = planOf(journey);
  const dryRun = request.dryRun ?? false;
  return {
    instance: known.ref.instance,
    fromSnapshot: pointerTo(known),
    emergencySnapshot: outcome.emergency,
    dryRun,
    restoredFiles: outcome.restoredFiles,
    deletedFiles: outcome.deletedFiles,
    changed: outcome.changed,
    plan,
    kept: [...planned.flatMap(({ name, plan: { kept } }) => toKeptPaths(name, kept)), ...(git?.kept ?? [])],
    failed,
    filesAffected: plan.filter(({ from, to }) => isFile(from) || isFile(to)).length,
    bytesWritten: outcome.bytesWritten,
    activeSnapshot: dryRun || failed.length > 0 || !outcome.verified ? null : pointerTo(known),
    verified: outcome.verified,
    destination: null,
    messages: outcome.messages,
  };
}

function isFile(kind: string): boolean {
  return kind === 'file' || kind === 'symlink';
}
