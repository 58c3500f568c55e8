import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObjectId } from '../../src/core/ids.js';
import { countAhead, isReached } from '../../src/git/user-repo/commit-walk.js';
import { type Reading, absent, read, unreadable } from '../../src/git/user-repo/guarded-directory.js';

interface Graph {
  /** Parents are commits before it. */
  readonly parents: readonly (readonly number[])[];
  readonly times: readonly number[];
}

const idOf = (commit: number): ObjectId => commit.toString(16).padStart(40, '0') as ObjectId;

class Commits {
  reads = 0;
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  read(oid: ObjectId): Reading<Buffer> {
    this.reads += 1;
    const commit = Number.parseInt(oid, 16);
    const own = this.#graph.parents[commit];
    if (own === undefined) return absent;
    const lines = own.map((parent) => `parent ${idOf(parent)}\n`).join('');
    const who = `A <a@b> ${String(this.#graph.times[commit] ?? 0)} +0000`;
    return read(Buffer.from(`tree ${idOf(0)}\n${lines}author ${who}\ncommitter ${who}\n\nparent ${idOf(99)}\n`));
  }
}

/** One commit upon the other. */
function chain(length: number): Graph {
  const commits = Array.from({ length }, (_, commit) => commit);
  return { parents: commits.map((commit) => (commit === 0 ? [] : [commit - 1])), times: commits };
}

function reachable({ parents }: Graph, tip: number): Set<number> {
  const seen = new Set([tip]);
  for (const commit of seen) for (const parent of parents[commit] ?? []) seen.add(parent);
  return seen;
}

/** A history in which no commit is older than its parents, as clocks that run have it. */
const histories = fc.integer({ min: 1, max: 25 }).chain((size) =>
  fc.record({
    parents: fc.tuple(
      ...Array.from({ length: size }, (_, commit) =>
        commit === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat(commit - 1), { maxLength: 3 }),
      ),
    ),
    steps: fc.array(fc.nat(3), { minLength: size, maxLength: size }),
    tip: fc.nat(size - 1),
    base: fc.nat(size - 1),
  }),
);

function timesOf(steps: readonly number[]): number[] {
  let now = 0;
  return steps.map((step) => (now += step));
}

describe('how far a commit is ahead of another', () => {
  test('is what it reaches and the other does not', () => {
    fc.assert(
      fc.property(histories, ({ parents, steps, tip, base }) => {
        const graph = { parents, times: timesOf(steps) };
        const behind = reachable(graph, base);
        const wanted = [...reachable(graph, tip)].filter((commit) => !behind.has(commit)).length;
        expect(countAhead(new Commits(graph), idOf(tip), idOf(base))).toBe(wanted);
      }),
    );
  });

  test('is right where all are of the same second', () => {
    // 1 and 3 are upon 0, 3 by way of 2.
    const graph = { parents: [[], [0], [0], [2]], times: [5, 6, 5, 5] };
    expect(countAhead(new Commits(graph), idOf(1), idOf(3))).toBe(1);
  });

  test.each([
    { what: 'the same', tip: 5, base: 5, ahead: 0, reads: 0 },
    { what: 'two further on', tip: 5, base: 3, ahead: 2 },
    { what: 'behind', tip: 3, base: 5, ahead: 0 },
  ])('reads no more than it must when it is $what', ({ tip, base, ahead, reads = 6 }) => {
    const commits = new Commits(chain(200));
    expect(countAhead(commits, idOf(tip), idOf(base))).toBe(ahead);
    expect(commits.reads).toBeLessThanOrEqual(reads);
  });

  test('is not known where it takes more commits than may be read', () => {
    const graph = chain(200);
    expect(countAhead(new Commits(graph), idOf(150), idOf(0), 200)).toBe(150);
    const commits = new Commits(graph);
    expect(countAhead(commits, idOf(150), idOf(0), 100)).toBeNull();
    expect(commits.reads).toBeLessThanOrEqual(102);
  });

  test.each([
    { missing: 5, why: 'the commit' },
    { missing: 2, why: 'the other' },
    { missing: 4, why: 'one between them' },
  ])('is not known where $why cannot be read', ({ missing }) => {
    const commits = new Commits(chain(6));
    const read = (oid: ObjectId): Reading<Buffer> =>
      oid === idOf(missing) ? unreadable('damaged') : commits.read(oid);
    expect(countAhead({ read }, idOf(5), idOf(2))).toBeNull();
  });
});

describe('whether a commit is reached', () => {
  test('by one of the tips', () => {
    fc.assert(
      fc.property(histories, ({ parents, steps, tip, base }) => {
        const graph = { parents, times: timesOf(steps) };
        expect(isReached(new Commits(graph), idOf(base), [idOf(tip)])).toBe(reachable(graph, tip).has(base));
      }),
    );
  });

  test('is no where what leads to it is missing, and a tip that is no commit leads nowhere', () => {
    const graph = chain(5);
    expect(isReached(new Commits(graph), idOf(1), [idOf(77), idOf(4)])).toBe(true);
    expect(isReached(new Commits(graph), idOf(1), [idOf(77)])).toBe(false);
    expect(isReached(new Commits(graph), idOf(1), [])).toBe(false);
    expect(isReached(new Commits(graph), idOf(77), [idOf(77)])).toBe(true);
    const commits = new Commits(graph);
    const read = (oid: ObjectId): Reading<Buffer> => (oid === idOf(3) ? absent : commits.read(oid));
    expect(isReached({ read }, idOf(1), [idOf(4)])).toBe(false);
  });
});
