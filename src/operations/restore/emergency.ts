import type { InstanceRecord } from '../../core/instance-record.js';
import { type EntryPath, ancestorsOf, pathToJson, rootPath } from '../../core/entry-path.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectWriter, SnapshotRef } from '../../core/ports.js';
import type { SnapshotPointer } from '../../core/results.js';
import { type GitStatesByMount, protectMounts } from '../capture/protect-commits.js';
import { publish, writeContent } from '../capture/publish.js';
import type { Context } from '../context.js';
import { incompletePaths } from '../capture/incomplete.js';
import { type KnownSnapshot, pointerTo, earlierSnapshots } from '../snapshots.js';
import type { GitRestores } from './git-states.js';
import type { ActiveOverlap } from './guards.js';
import type { PlannedMount } from './plan-mounts.js';

export interface EmergencyRequest {
  readonly known: KnownSnapshot;
  readonly record: InstanceRecord;
  readonly planned: readonly PlannedMount[];
  readonly active: readonly ActiveOverlap[];
  readonly writer: ObjectWriter;
  readonly manifest: Manifest;
  /** What is to be changed in repositories; null where nothing is. */
  readonly git: GitRestores | null;
}

/**
 * Publishes the live state that the plan was made from. It holds every path that the restore overwrites or deletes:
 * the plan was made from this very capture, and what was not captured is in no plan.
 */
export async function publishEmergency(context: Context, emergency: EmergencyRequest): Promise<SnapshotPointer> {
  const { known, record, planned, active, writer, manifest } = emergency;
  const live = planned.map(({ live: captured }) => captured);
  const of = `${known.ref.instance}/${String(known.ref.seq)}`;
  const forced = active.map(({ instance }) => ` It was forced while instance ${instance} was active.`).join('');
  const { last } = await earlierSnapshots(context, record.name);
  const gitStates = await protectBefore(context, emergency, last);
  const snapshot = await publish(
    context,
    writer,
    {
      record,
      mounts: live,
      // What the restore had to take in beyond the rules is stored; the rules themselves are the instance's.
      policy: { ...record.policy, exclude: excludesOfBoth(record.policy.exclude, manifest.policy.exclude) },
      trigger: 'emergency',
      message: () => `Before the restore of snapshot ${of}${forced === '' ? '' : `\n\n${forced.trim()}`}`,
      scope: null,
      complete: incompletePaths(live).length === 0,
      recovery: {
        instance: known.ref.instance,
        seq: known.ref.seq,
        mounts: planned.map(({ name }) => name),
        paths: reachOf(planned),
        ...(gitStates.size === 0 ? {} : { git_state: true }),
      },
      recoveryOf: pointerTo(known),
      labels: { sourceTool: null, phase: null, decision: null, resource: null },
      meta: {},
    },
    writeContent(writer, live, gitStates),
    last,
  );
  for (const mount of live) mount.rememberStats();
  return { instance: snapshot.instance, seq: snapshot.seq, id: snapshot.id, ref: snapshot.ref };
}

/** What the repositories have now, where something of it will be changed. */
async function protectBefore(
  context: Context,
  { git, record, planned, writer }: EmergencyRequest,
  last: SnapshotRef | null,
): Promise<GitStatesByMount> {
  if (git === null || git.mounts.size === 0) return new Map();
  const isComplete = last !== null && (await context.store.brokenSnapshots([last.commit])).size === 0;
  const mounts = planned.map(({ live }) => live).filter(({ mount }) => git.mounts.has(mount.name));
  const states = await protectMounts(context, {
    record,
    policy: record.policy,
    mounts,
    writer,
    last: isComplete ? last : null,
    always: true,
  });
  git.refuseUnprotected(states);
  return states;
}

/** What an undo must be limited to, so that it takes back this restore and nothing else. */
function reachOf(planned: readonly PlannedMount[]): NonNullable<Manifest['recovery']>['paths'] {
  if (planned.every(({ scope }) => scope === null)) return null;
  return planned.flatMap(({ name, scope, plan }) => {
    const changed = new Set(plan.changes.map(({ path }) => path));
    const reach = new Set((scope ?? [rootPath]).map((limit) => highestChanged(limit, changed)));
    return [...reach].map((path) => ({ mount: name, path: pathToJson(path) }));
  });
}

/** A folder that had to be made for a path is taken back with it. */
function highestChanged(limit: EntryPath, changed: ReadonlySet<EntryPath>): EntryPath {
  return [...ancestorsOf(limit)].find((path) => path !== rootPath && changed.has(path)) ?? limit;
}

/** What begins with the instance's own patterns says it all already: so each `undo` would have them once more. */
function excludesOfBoth(own: readonly string[], recorded: readonly string[]): readonly string[] {
  return own.every((pattern, at) => recorded[at] === pattern) ? recorded : [...own, ...recorded];
}
