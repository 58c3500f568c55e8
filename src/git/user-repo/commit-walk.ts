import type { ObjectId } from '../../core/ids.js';
import type { RepositoryObjects } from './repository-objects.js';

/*
 * Ancestry, without git: commits are read one by one, each once, and no more than a limit of them.
 */

const walkLimit = 20_000;

interface Commit {
  readonly parents: readonly ObjectId[];
  /** Seconds; commits that are newer come first. */
  readonly time: number;
}

/** How many commits `tip` reaches that `base` does not; null when it cannot be known. */
export function countAhead(objects: RepositoryObjects, tip: ObjectId, base: ObjectId): number | null {
  if (tip === base) return 0;
  const marks = new Map<ObjectId, Mark>([
    [tip, 'ahead'],
    [base, 'shared'],
  ]);
  const queue = new NewestFirst(objects);
  if (!queue.add(tip) || !queue.add(base)) return null;
  for (let walked = 0; walked < walkLimit; walked += 1) {
    if (!queue.some((oid) => marks.get(oid) === 'ahead')) return count(marks);
    const next = queue.take();
    if (next === undefined) return count(marks);
    const mark = marks.get(next.oid) ?? 'ahead';
    // What turns out to be shared after all passes that on to its own parents.
    for (const parent of markAll(next.parents, mark, marks)) if (!queue.add(parent)) return null;
  }
  return null;
}

type Mark = 'ahead' | 'shared';

/** Those whose mark is another one now. */
function markAll(commits: readonly ObjectId[], mark: Mark, marks: Map<ObjectId, Mark>): ObjectId[] {
  const changed = commits.filter((oid) => marks.get(oid) !== mark && marks.get(oid) !== 'shared');
  for (const oid of changed) marks.set(oid, mark);
  return changed;
}

function count(marks: ReadonlyMap<ObjectId, Mark>): number {
  return [...marks.values()].filter((mark) => mark === 'ahead').length;
}

/** Whether one of the tips reaches the commit; false also when that cannot be known. */
export function isReached(objects: RepositoryObjects, wanted: ObjectId, tips: readonly ObjectId[]): boolean {
  if (tips.includes(wanted)) return true;
  const seen = new Set<ObjectId>(tips);
  const queue = new NewestFirst(objects);
  // A tag or a commit that is missing leads nowhere.
  for (const tip of seen) queue.add(tip);
  for (let walked = 0; walked < walkLimit; walked += 1) {
    const next = queue.take();
    if (next === undefined) return false;
    for (const parent of next.parents) {
      if (parent === wanted) return true;
      if (seen.has(parent)) continue;
      seen.add(parent);
      queue.add(parent);
    }
  }
  return false;
}

class NewestFirst {
  readonly #objects: RepositoryObjects;
  readonly #waiting: ({ readonly oid: ObjectId } & Commit)[] = [];

  constructor(objects: RepositoryObjects) {
    this.#objects = objects;
  }

  /** False when the commit cannot be read. */
  add(oid: ObjectId): boolean {
    const commit = readCommit(this.#objects, oid);
    if (commit === undefined) return false;
    let [low, high] = [0, this.#waiting.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#waiting[middle]?.time ?? 0) <= commit.time) low = middle + 1;
      else high = middle;
    }
    this.#waiting.splice(low, 0, { oid, ...commit });
    return true;
  }

  take(): ({ readonly oid: ObjectId } & Commit) | undefined {
    return this.#waiting.pop();
  }

  some(test: (oid: ObjectId) => boolean): boolean {
    return this.#waiting.some(({ oid }) => test(oid));
  }
}

function readCommit(objects: RepositoryObjects, oid: ObjectId): Commit | undefined {
  const reading = objects.read(oid, 'commit');
  if (reading.kind !== 'read') return undefined;
  const [head = ''] = reading.value.toString('latin1').split('\n\n', 1);
  const parents = [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent as ObjectId);
  return { parents, time: Number(/^committer .*> (\d+) [+-]\d+$/m.exec(head)?.[1] ?? 0) };
}
