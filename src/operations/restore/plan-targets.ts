import type { StoredEntry } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader, ObjectWriter } from '../../core/ports.js';
import type { RestoreRequest } from '../../core/requests.js';
import { type CapturedMount, captureMounts } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { type MountContent, readMountContent } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';
import { type AsInSnapshot, compareWithRecord, rulesOfBoth } from './as-in-snapshot.js';
import { type LeftOutSince, readLeftOutSince } from './left-out-since.js';
import { pendingTemporaryPrefix } from './pending.js';
import { type PlannedMount, planMount } from './plan-mounts.js';
import { type Returned, readReturned } from './returned.js';
import { RulesThen } from './rules-then.js';
import type { Target } from './targets.js';

/*
 * From a snapshot and the live state of its mounts to a plan.
 */

export interface PlannedRestoreRequest extends RestoreRequest {
  /** Paths that nobody knows any more are in order. */
  readonly unknownPaths?: 'pass';
}

export interface Planning {
  readonly context: Context;
  readonly request: PlannedRestoreRequest;
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
  readonly record: InstanceRecord;
  readonly targets: readonly Target[];
  readonly reader: ObjectReader;
  /** Takes the live state in for the emergency snapshot; null where there will be none. */
  readonly writer: ObjectWriter | null;
}

/** Directories that are as the snapshot has them are passed over, if the walk bears it out; else all is looked at. */
export async function planTargets(planning: Planning): Promise<PlannedMount[]> {
  const alike = new Map<MountName, AsInSnapshot>();
  // What a new repository is shows in its rules, which are not those of a save.
  if (planning.request.deleteNewRepositories !== true) {
    for (const target of planning.targets) {
      const found = await compareWithRecord(planning.context, { ...planning, target });
      if (found !== undefined) alike.set(target.mount.name, found);
    }
  }
  const before = await readBefore(planning, alike);
  const live = await captureLive(planning, before, alike);
  if (live.every((mount) => tookOverJustThat(mount, before))) return planAll(planning, before, live);
  const all = await readBefore(planning, new Map());
  return planAll(planning, all, await captureLive(planning, all, new Map()));
}

/** True when the walk took over just the directories that were not read of the snapshot. */
function tookOverJustThat({ mount, captured }: CapturedMount, { contents }: Before): boolean {
  return captured.grafted.isExactly(contents.get(mount.name)?.passedOver ?? new Set());
}

/** What there was. */
interface Before {
  readonly contents: ReadonlyMap<MountName, MountContent>;
  readonly returned: Returned;
}

async function readBefore(planning: Planning, alike: ReadonlyMap<MountName, AsInSnapshot>): Promise<Before> {
  const { context, known, manifest, targets, reader } = planning;
  const contents = new Map<MountName, MountContent>();
  for (const { mount } of targets) {
    const same = alike.get(mount.name);
    const passesOver = same === undefined ? undefined : same.holds.bind(same);
    contents.set(mount.name, await readMountContent(context, reader, known, manifest, mount.name, passesOver));
  }
  const returned = await readReturned(context, reader, manifest, (name) =>
    alike.has(name) ? contents.get(name)?.passedOver : undefined,
  );
  return { contents, returned };
}

/** The live state of the mounts, with every path that is known as stored, whatever rules say of it now. */
async function captureLive(
  { context, request, manifest, record, targets, writer }: Planning,
  { contents, returned }: Before,
  alike: ReadonlyMap<MountName, AsInSnapshot>,
): Promise<CapturedMount[]> {
  const stored = (name: MountName): ReadonlyMap<EntryPath, StoredEntry> => {
    const entries = contents.get(name)?.entries ?? new Map<EntryPath, StoredEntry>();
    const others = returned.get(name);
    return others === undefined || others.size === 0 ? entries : new Map([...others, ...entries]);
  };
  return captureMounts(context, {
    record,
    mounts: targets.map(({ mount }) => mount),
    policy: rulesOfBoth(record, manifest),
    writer: writer ?? context.hasher,
    full: false,
    graft: false,
    passOver: (name) => {
      const same = alike.get(name);
      const subtrees = contents.get(name)?.passedOver ?? new Set();
      return same === undefined || subtrees.size === 0 ? undefined : { recorded: same.recorded, subtrees };
    },
    scope: () => null,
    forced: (name) => ({ stored: stored(name), newRepositories: request.deleteNewRepositories ?? false }),
    temporaryPrefix: pendingTemporaryPrefix(context, record.name),
    // Only what is kept as an emergency snapshot says it.
    countAhead: writer !== null,
  });
}

async function planAll(
  planning: Planning,
  { contents, returned }: Before,
  live: readonly CapturedMount[],
): Promise<PlannedMount[]> {
  const { context, request, known, manifest, targets, reader } = planning;
  const caller = context.host.caller();
  const plans: ((since: LeftOutSince | undefined) => PlannedMount)[] = [];
  for (const { mount, scope } of targets) {
    const content = contents.get(mount.name);
    const captured = live.find(({ mount: { name } }) => name === mount.name);
    if (content === undefined || captured === undefined) continue;
    const then = await RulesThen.read(reader, content, manifest);
    const options = {
      scope,
      noDelete: request.noDelete ?? false,
      deleteNewRepositories: request.deleteNewRepositories ?? false,
      gitState: request.gitState ?? false,
      unknownPaths: request.unknownPaths,
      returned: returned.get(content.name) ?? new Map<EntryPath, StoredEntry>(),
      caller,
    };
    plans.push((since) => planMount(content, captured, then, { ...options, leftOutSince: since?.(content.name) }));
  }
  const planned = plans.map((plan) => plan(undefined));
  if (!planned.some(deletes)) return planned;
  const since = await readLeftOutSince(context, reader, known);
  return plans.map((plan) => plan(since));
}

function deletes({ plan }: PlannedMount): boolean {
  return plan.changes.some(({ action }) => action === 'delete');
}
