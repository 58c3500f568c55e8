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

/** How many commits `tip` reaches that `base` does not; null when it cannot be known by reading so many. */
export function countAhead(
  objects: Pick<RepositoryObjects, 'read'>,
  tip: ObjectId,
  base: ObjectId,
  mostCommits: number = walkLimit,
): number | null {
  if (tip === base) return 0;
  const walk = new WalkOfBoth(objects);
  if (!walk.begin(tip, base)) return null;
  for (let walked = 0; walked < mostCommits; walked += 1) {
    if (walk.isDone) return walk.ahead;
    if (!walk.step()) return null;
  }
  return null;
}

type Mark = 'ahead' | 'shared';

/** From two commits at once, the newest first. */
class WalkOfBoth {
  readonly #marks = new Map<ObjectId, Mark>();
  readonly #queue: NewestFirst;
  /** The time of the oldest that was walked as one that is ahead. */
  #oldestAhead = Infinity;

  constructor(objects: Pick<RepositoryObjects, 'read'>) {
    this.#queue = new NewestFirst(objects);
  }

  /** False when one cannot be read. */
  begin(tip: ObjectId, base: ObjectId): boolean {
    this.#marks.set(tip, 'ahead').set(base, 'shared');
    return this.#queue.add(tip) && this.#queue.add(base);
  }

  /** What is shared and as old as what was counted may lead to it: clocks have but seconds. */
  get isDone(): boolean {
    return this.#queue.newest < this.#oldestAhead && !this.#queue.some((oid) => this.#marks.get(oid) === 'ahead');
  }

  get ahead(): number {
    return [...this.#marks.values()].filter((mark) => mark === 'ahead').length;
  }

  /** False when a commit cannot be read. */
  step(): boolean {
    const next = this.#queue.take();
    if (next === undefined) return true;
    const mark = this.#marks.get(next.oid) ?? 'ahead';
    if (mark === 'ahead') this.#oldestAhead = Math.min(this.#oldestAhead, next.time);
    // What turns out to be shared after all passes that on to its own parents.
    return this.#mark(next.parents, mark).every((parent) => this.#queue.add(parent));
  }

  /** Those whose mark is another one now. */
  #mark(commits: readonly ObjectId[], mark: Mark): ObjectId[] {
    const changed = commits.filter((oid) => this.#marks.get(oid) !== mark && this.#marks.get(oid) !== 'shared');
    for (const oid of changed) this.#marks.set(oid, mark);
    return changed;
  }
}

/** Whether one of the tips reaches the commit; false also when that cannot be known. */
export function isReached(
  objects: Pick<RepositoryObjects, 'read'>,
  wanted: ObjectId,
  tips: readonly ObjectId[],
): boolean {
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
  readonly #objects: Pick<RepositoryObjects, 'read'>;
  readonly #waiting: ({ readonly oid: ObjectId } & Commit)[] = [];

  constructor(objects: Pick<RepositoryObjects, 'read'>) {
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

  /** The time of the newest that waits. */
  get newest(): number {
    return this.#waiting.at(-1)?.time ?? -Infinity;
  }

  take(): ({ readonly oid: ObjectId } & Commit) | undefined {
    return this.#waiting.pop();
  }

  some(test: (oid: ObjectId) => boolean): boolean {
    return this.#waiting.some(({ oid }) => test(oid));
  }
}

function readCommit(objects: Pick<RepositoryObjects, 'read'>, oid: ObjectId): Commit | undefined {
  const reading = objects.read(oid, 'commit');
  if (reading.kind !== 'read') return undefined;
  const [head = ''] = reading.value.toString('latin1').split('\n\n', 1);
  const parents = [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent as ObjectId);
  return { parents, time: Number(/^committer .*> (\d+) [+-]\d+$/m.exec(head)?.[1] ?? 0) };
}
