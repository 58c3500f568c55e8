import type { Random } from '../../support/random.js';
import type { Place } from './trace.js';

/**
 * So many of the points, of every program and call some: one of each kind in turn, at random within a kind, until there
 * are enough.
 */
export function sample<P extends { readonly place: Place }>(points: readonly P[], count: number, random: Random): P[] {
  if (points.length <= count) return [...points];
  const kinds = new Map<string, P[]>();
  for (const point of shuffled(points, random)) {
    const kind = `${point.place.who.split(' ')[0] ?? ''} ${point.place.call}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), point]);
  }
  const queues = shuffled([...kinds.values()], random);
  const chosen: P[] = [];
  for (let turn = 0; chosen.length < count; turn += 1) {
    const next = queues[turn % queues.length]!.pop();
    if (next !== undefined) chosen.push(next);
  }
  return chosen;
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const mixed = [...list];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}
