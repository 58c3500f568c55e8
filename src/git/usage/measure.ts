import type { ObjectId } from '../../core/ids.js';
import type { StoreUsage, UsageQuestion } from '../../core/store-usage.js';
import type { BatchReader } from '../objects.js';
import type { GitRunner } from '../run-git.js';
import { ObjectGraph } from './object-graph.js';

/** What snapshots take on the disk. Each tree is read once, whatever leads to it. The reader is closed at the end. */
export async function measureUsage(git: GitRunner, reader: BatchReader, question: UsageQuestion): Promise<StoreUsage> {
  const graph = await ObjectGraph.read(git);
  try {
    const trees = [...question.snapshots.map(({ tree }) => tree), ...question.others.map(({ tree }) => tree)];
    await graph.readBelow(reader, trees);
  } finally {
    await reader.close();
  }
  const starts = question.snapshots.map(({ commits, tree }) => numbersOf(graph, [...commits, tree]));
  const others = question.others.flatMap(({ commits, tree }) => numbersOf(graph, [...commits, tree]));
  const owners = ownersOf(graph, starts, others);
  const groups = question.snapshots.map(({ group }) => group);
  const sharedGroups = groupsOf(graph, starts, others, groups);
  const seen = new Int32Array(graph.sizes.length);
  let round = 0;
  const weigh = (start: readonly number[], own: Int32Array, owner: number): Weight =>
    sums(graph, start, { seen, round: ++round, isOwn: (number) => own[number] === owner });
  const snapshots = starts.map((start, index) => weigh(start, owners, index + 1));
  const perGroup = Array.from({ length: Math.max(-1, ...groups) + 1 }, (_, group) => {
    const start = starts.filter((_start, index) => groups[index] === group).flat();
    return weigh(start, sharedGroups, group + 1);
  });
  let reachable = 0;
  let garbage = 0;
  for (const [number, size] of graph.sizes.entries())
    if (owners[number] === 0) garbage += size;
    else reachable += size;
  return {
    snapshots,
    groups: perGroup,
    sets: question.sets.map((set) => freedWithout(graph, starts, others, new Set(set))),
    reachable,
    garbage,
    objects: graph.sizes.length,
    missing: graph.missing,
  };
}

type Weight = StoreUsage['snapshots'][number];

function numbersOf(graph: ObjectGraph, oids: readonly ObjectId[]): number[] {
  return oids.flatMap((oid) => graph.numberOf(oid) ?? []);
}

/** Owned by several, or by what is no snapshot. */
const several = -1;

/**
 * For each object the one snapshot that leads to it, counted from 1; 0 for none, -1 for several. What is known to be
 * several's is not gone below again: all below it is several's too.
 */
function ownersOf(graph: ObjectGraph, starts: readonly (readonly number[])[], others: readonly number[]): Int32Array {
  const owners = new Int32Array(graph.sizes.length);
  graph.walk(others, mark(owners, several));
  for (const [index, start] of starts.entries()) graph.walk(start, mark(owners, index + 1));
  return owners;
}

/** The same by groups of snapshots. */
function groupsOf(
  graph: ObjectGraph,
  starts: readonly (readonly number[])[],
  others: readonly number[],
  groups: readonly number[],
): Int32Array {
  const owners = new Int32Array(graph.sizes.length);
  graph.walk(others, mark(owners, several));
  for (const [index, start] of starts.entries()) graph.walk(start, mark(owners, (groups[index] ?? 0) + 1));
  return owners;
}

function mark(owners: Int32Array, owner: number): (number: number) => boolean {
  return (number) => {
    const before = owners[number];
    if (before === owner || before === several) return false;
    owners[number] = before === 0 ? owner : several;
    return true;
  };
}

/** All that these lead to, each object once, and how much of it is their own. */
function sums(
  graph: ObjectGraph,
  start: readonly number[],
  {
    seen,
    round,
    isOwn,
  }: { readonly seen: Int32Array; readonly round: number; readonly isOwn: (number: number) => boolean },
): Weight {
  let bytes = 0;
  let unique = 0;
  graph.walk(start, (number) => {
    if (seen[number] === round) return false;
    seen[number] = round;
    const size = graph.sizes[number] ?? 0;
    bytes += size;
    if (isOwn(number)) unique += size;
    return true;
  });
  return { bytes, unique };
}

/** What only these snapshots lead to, all of them together. */
function freedWithout(
  graph: ObjectGraph,
  starts: readonly (readonly number[])[],
  others: readonly number[],
  gone: ReadonlySet<number>,
): number {
  if (gone.size === 0) return 0;
  const owners = new Int32Array(graph.sizes.length);
  const stays = [...starts.filter((_, index) => !gone.has(index)).flat(), ...others];
  graph.walk(stays, mark(owners, several));
  let freed = 0;
  graph.walk(starts.filter((_, index) => gone.has(index)).flat(), (number) => {
    if (owners[number] !== 0) return false;
    owners[number] = 1;
    freed += graph.sizes[number] ?? 0;
    return true;
  });
  return freed;
}

/** Of a store that is not there. */
export function measureNothing({ snapshots, sets }: UsageQuestion): StoreUsage {
  const none = { bytes: 0, unique: 0 };
  return {
    snapshots: snapshots.map(() => none),
    groups: [],
    sets: sets.map(() => 0),
    reachable: 0,
    garbage: 0,
    objects: 0,
    missing: 0,
  };
}
