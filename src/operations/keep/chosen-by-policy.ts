import type { InstanceName } from '../../core/ids.js';
import { type Policy, defaultPolicy } from '../../core/policy.js';
import type { SnapshotRef } from '../../core/ports.js';
import { type Candidate, expired, yielding } from '../../core/retention.js';
import type { Context } from '../context.js';
import { isFetched, knowIfReadable, pinned } from '../snapshots.js';
import { neededByPending } from './remove.js';

export function policyOf(context: Context, instance: InstanceName): Policy {
  return context.registry.find(instance)?.policy ?? defaultPolicy;
}

/** The snapshots that the instance's policy lets go. One that this version cannot read is not its to remove. */
export function chosenByPolicy(context: Context, instance: InstanceName, all: readonly SnapshotRef[]): SnapshotRef[] {
  const gone = new Set(expired(candidates(context, instance, all), policyOf(context, instance)).map(({ seq }) => seq));
  return all.filter(({ seq }) => gone.has(seq));
}

/** Of the others those that go, in this order, while the store takes more than it may. */
export function chosenOverCeiling(
  context: Context,
  instance: InstanceName,
  all: readonly SnapshotRef[],
): SnapshotRef[] {
  return yielding(candidates(context, instance, all), policyOf(context, instance)).flatMap(
    ({ seq }) => all.find((ref) => ref.seq === seq) ?? [],
  );
}

function candidates(context: Context, instance: InstanceName, all: readonly SnapshotRef[]): Candidate[] {
  const pins = pinned(context);
  const needed = new Set(neededByPending(context, instance));
  const kept = context.registry.find(instance)?.exit;
  if (kept?.decision === 'keep') for (const { ref, seq } of all) if (seq === kept.snapshot) needed.add(ref);
  const readable = all.flatMap((ref) => knowIfReadable(ref) ?? []);
  const fetched = context.registry.fetched(instance);
  // What a run can be taken back with, however many snapshots are made in it.
  const beforeRun = readable
    .filter(({ ref, record }) => record.trigger === 'run_start' && !isFetched(ref, fetched))
    .at(-1);
  if (beforeRun !== undefined) needed.add(beforeRun.ref.ref);
  return readable.map(({ ref, record: { id, trigger, createdAt } }) => ({
    seq: ref.seq,
    id,
    trigger,
    createdAt,
    pinned: pins.has(`${ref.instance}/${String(ref.seq)}`),
    needed: needed.has(ref.ref),
    fetched: isFetched(ref, fetched),
  }));
}
