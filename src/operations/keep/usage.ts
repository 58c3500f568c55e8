import type { InstanceName, ObjectId } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import type { StoreUsage } from '../../core/store-usage.js';
import type { UsageRequest } from '../../core/requests.js';
import type { InstanceUsage, UsageResult } from '../../core/plan-result.js';
import { replaceRefName } from '../../core/snapshot-record.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { chooseInstance } from '../session/choose-instance.js';
import { chosenByPolicy } from './chosen-by-policy.js';

/**
 * What instances and snapshots take on the disk: how much of it is theirs alone, and what removing them would free.
 * @throws SnapError INSTANCE_NOT_FOUND
 */
export async function usage(context: Context, { all = false }: UsageRequest): Promise<UsageResult> {
  const chosen = all ? null : chooseInstance(context);
  const lock = context.store.exists() ? await lockForReading(context) : undefined;
  try {
    const refs = await context.store.snapshots(null);
    if (chosen !== null) refuseUnknown(context, chosen, refs);
    return await measured(context, chosen, refs);
  } finally {
    lock?.release();
  }
}

function refuseUnknown(context: Context, instance: InstanceName, refs: readonly SnapshotRef[]): void {
  if (refs.some((ref) => ref.instance === instance) || context.registry.find(instance) !== undefined) return;
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
}

async function measured(
  context: Context,
  chosen: InstanceName | null,
  refs: readonly SnapshotRef[],
): Promise<UsageResult> {
  const names = [
    ...new Set([...refs.map(({ instance }) => instance), ...context.registry.all().map(({ name }) => name)]),
  ];
  names.sort();
  // The settings of a damaged instance are not known: nothing of it is foreseen to go.
  const damaged = new Set(context.registry.damaged().map(({ name }) => name));
  const goes = new Set(
    names
      .filter((name) => !damaged.has(name))
      .flatMap((name) => {
        const own = refs.filter(({ instance }) => instance === name);
        return chosenByPolicy(context, name, own);
      }),
  );
  const sets = names.map((name) => [...refs.keys()].filter((at) => isOf(refs[at], name) && isIn(goes, refs[at])));
  const grafts = await graftsIn(context);
  const used = await context.store.usage({
    snapshots: refs.map(({ commit, tree, instance }) => ({
      commits: [commit, ...(grafts.get(replaceRefName(commit)) ?? [])],
      tree,
      group: names.indexOf(instance),
    })),
    others: await othersIn(context, refs),
    sets,
  });
  const instances = names.map((name, group) => instanceUsage(name, group, refs, { used, sets }));
  const total = await context.store.sizeOnDisk();
  return {
    instances: instances.filter(({ instance }) => chosen === null || instance === chosen),
    store: {
      totalBytes: total,
      reachableBytes: used.reachable,
      garbageBytes: used.garbage,
      overheadBytes: Math.max(0, total - used.reachable - used.garbage),
      objects: used.objects,
    },
    messages:
      used.missing === 0
        ? []
        : [`Objects are missing (${String(used.missing)}), which count for nothing: see "verify".`],
  };
}

function isOf(ref: SnapshotRef | undefined, name: InstanceName): boolean {
  return ref?.instance === name;
}

function isIn(set: ReadonlySet<SnapshotRef>, ref: SnapshotRef | undefined): boolean {
  return ref !== undefined && set.has(ref);
}

async function graftsIn(context: Context): Promise<ReadonlyMap<string, readonly ObjectId[]>> {
  return new Map((await context.store.refs('refs/replace/')).map(({ name, oid }) => [name, [oid]]));
}

/** What refs keep that are no snapshots of this version: nothing that removing snapshots could free. */
async function othersIn(
  context: Context,
  refs: readonly SnapshotRef[],
): Promise<readonly { readonly commits: readonly ObjectId[]; readonly tree: ObjectId }[]> {
  const known = new Set(refs.map(({ commit }) => commit));
  const ours = /^refs\/(?:replace|jackin|jackin-pin)\//;
  const others = (await context.store.refs('refs/')).filter(({ name, oid }) => !ours.test(name) && !known.has(oid));
  if (others.length === 0) return [];
  const reader = context.store.reader();
  try {
    const found = await Promise.all(others.map(({ oid }) => reader.find(`${oid}^{tree}`, 'tree')));
    return others.flatMap(({ oid }, at) => {
      const tree = found[at]?.oid;
      return tree === undefined ? [] : [{ commits: [oid], tree }];
    });
  } finally {
    await reader.close();
  }
}

function instanceUsage(
  instance: InstanceName,
  group: number,
  refs: readonly SnapshotRef[],
  { used, sets }: { readonly used: StoreUsage; readonly sets: readonly (readonly number[])[] },
): InstanceUsage {
  const own = [...refs.entries()].filter(([, ref]) => ref.instance === instance);
  const { bytes, unique } = used.groups[group] ?? nothing;
  return {
    instance,
    bytes,
    uniqueBytes: unique,
    sharedBytes: bytes - unique,
    prunable: { snapshots: sets[group]?.length ?? 0, freedBytes: used.sets[group] ?? 0 },
    snapshots: own.map(([at, { seq }]) => {
      const { bytes: all, unique: alone } = used.snapshots[at] ?? nothing;
      return { seq, bytes: all, uniqueBytes: alone, sharedBytes: all - alone };
    }),
  };
}

const nothing = { bytes: 0, unique: 0 };
