import type { InstanceRecord } from '../../core/instance-record.js';
import type { ObjectReader, SnapshotRef } from '../../core/ports.js';
import type { ForeseenRestore, Refusal } from '../../core/plan-result.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { activeOverlaps, refuseActive, refuseClosed, refuseReplaced } from '../restore/guards.js';
import { largeDeletionMessage, largeDeletions } from '../restore/large-deletions.js';
import { readPending, refusePending } from '../restore/pending.js';
import { ownersKeptMessages } from '../restore/left-as-they-are.js';
import { type PlannedMount, reachOf, toKeptPaths, toPlannedChanges } from '../restore/plan-mounts.js';
import { planTargets } from '../restore/plan-targets.js';
import { spaceNeeded } from '../restore/space-needed.js';
import { chooseTargets } from '../restore/targets.js';
import { readManifest } from '../snapshot-content.js';
import { type KnownSnapshot, know, knowIfReadable, pointerTo } from '../snapshots.js';

/** What restores of the latest and of the first snapshot would do now, and what stands in their way. */
export async function foreseeRestores(
  context: Context,
  record: InstanceRecord,
): Promise<{ readonly restores: readonly ForeseenRestore[]; readonly messages: readonly string[] }> {
  if (!context.store.exists()) return { restores: [], messages: [] };
  // Looking at a store that lacks parts would put them right, which is a change.
  if (context.store.missingParts().length > 0)
    return {
      restores: [],
      messages: ['The store is not in order, so that restores were not looked at: see "doctor".'],
    };
  const refs = (await context.store.snapshots(record.name)).filter((ref) => knowIfReadable(ref) !== undefined);
  const first = refs.at(0);
  const latest = refs.at(-1);
  if (first === undefined || latest === undefined) return { restores: [], messages: [] };
  const restores = [await foresee(context, record, latest, 'latest')];
  if (first !== latest) restores.push(await foresee(context, record, first, 'first'));
  return { restores, messages: [] };
}

async function foresee(
  context: Context,
  record: InstanceRecord,
  ref: SnapshotRef,
  which: ForeseenRestore['which'],
): Promise<ForeseenRestore> {
  const refusals = standingRefusals(context, record);
  const reader = context.store.reader();
  try {
    const foreseen = await foreseePlan(context, record, know(ref), reader);
    const all = [...refusals, ...foreseen.refusals];
    return { ...foreseen, which, snapshot: pointerTo(know(ref)), possible: all.length === 0, refusals: all };
  } catch (error) {
    const all = [...refusals, toRefusal(error)];
    return { ...nothingForeseen, which, snapshot: pointerTo(know(ref)), possible: false, refusals: all };
  } finally {
    await reader.close();
  }
}

/** Why no snapshot of the instance would be restored. */
function standingRefusals(context: Context, record: InstanceRecord): Refusal[] {
  return refusalsOf([
    () => {
      refuseClosed(record);
    },
    () => {
      const pending = readPending(context, record.name);
      if (pending !== undefined) refusePending(record.name, pending);
    },
  ]);
}

async function foreseePlan(
  context: Context,
  record: InstanceRecord,
  known: KnownSnapshot,
  reader: ObjectReader,
): Promise<Omit<ForeseenRestore, 'which' | 'snapshot' | 'possible'>> {
  const manifest = await readManifest(reader, known);
  const request = { snapshot: known.ref.ref, dryRun: true, confirm: () => Promise.resolve(false) };
  const targets = chooseTargets(manifest, record, request);
  const refusals = refusalsOf(
    targets.map(({ manifestMount, mount }) => () => {
      refuseReplaced(context, { mount: manifestMount, path: mount.path, instance: known.ref.instance }, false);
    }),
  );
  // Fails where an object is missing, and notes down nothing.
  await context.store.bytesReachable([known.ref.commit]);
  const planned = await planTargets({ context, request, known, manifest, record, targets, reader, writer: null });
  const active = await activeOverlaps(context, planned.map(reachOf), record);
  const ofPlan = refusalsOf([
    () => {
      refuseActive(active);
    },
    () => {
      refuseLackOfSpace(context, planned);
    },
  ]);
  return {
    refusals: [...refusals, ...ofPlan],
    changes: toPlannedChanges(planned),
    kept: planned.flatMap(({ name, plan }) => toKeptPaths(name, plan.kept)),
    blocked: planned.flatMap(({ name, plan }) => toKeptPaths(name, plan.blocked)),
    messages: [...ownersKeptMessages(planned), ...largeDeletions(planned, record.policy).map(largeDeletionMessage)],
  };
}

const nothingForeseen = { changes: [], kept: [], blocked: [], messages: [] };

function refuseLackOfSpace(context: Context, planned: readonly PlannedMount[]): void {
  for (const { path, plan } of planned)
    if (spaceNeeded(plan.changes) > context.host.freeBytes(path))
      throw new SnapError('NO_SPACE', 'There is no space left for the restore.', { path });
}

function refusalsOf(guards: readonly (() => void)[]): Refusal[] {
  return guards.flatMap((guard) => {
    try {
      guard();
      return [];
    } catch (error) {
      return [toRefusal(error)];
    }
  });
}

function toRefusal(error: unknown): Refusal {
  if (!isSnapError(error) || error.code === 'INTERRUPTED' || error.code === 'INTERNAL') throw error;
  return { code: error.code, message: error.message };
}
