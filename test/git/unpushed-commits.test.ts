import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ObjectId } from '../../src/core/ids.js';
import { absent, read } from '../../src/git/user-repo/guarded-directory.js';
import { findUnpushed } from '../../src/git/user-repo/unpushed-commits.js';

interface Graph {
  /** Parents are commits before it. */
  readonly parents: readonly (readonly number[])[];
  readonly times: readonly number[];
}

const idOf = (commit: number): ObjectId => commit.toString(16).padStart(40, '0') as ObjectId;

async function unpushed({ parents, times }: Graph, tips: readonly number[], remotes: readonly number[]) {
  const found = await findUnpushed({
    tips: tips.map(idOf),
    remotes: remotes.map(idOf),
    wanted: null,
    shallow: new Set(),
    readCommit: (oid) => {
      const commit = Number.parseInt(oid, 16);
      const own = parents[commit];
      if (own === undefined) return absent;
      const lines = own.map((parent) => `parent ${idOf(parent)}\n`).join('');
      const who = `A <a@b> ${String(times[commit] ?? 0)} +0000`;
      return read(Buffer.from(`tree ${idOf(0)}\n${lines}author ${who}\ncommitter ${who}\n\nm\n`));
    },
    pause: () => Promise.resolve(),
    limit: 10_000,
  });
  return found!;
}

function reachable({ parents }: Graph, tips: readonly number[]): Set<number> {
  const seen = new Set(tips);
  for (const commit of seen) for (const parent of parents[commit] ?? []) seen.add(parent);
  return seen;
}

const graphs = fc.integer({ min: 1, max: 25 }).chain((size) =>
  fc.record({
    parents: fc.tuple(
      ...Array.from({ length: size }, (_, commit) =>
        commit === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat(commit - 1), { maxLength: 3 }),
      ),
    ),
    times: fc.array(fc.nat(30), { minLength: size, maxLength: size }),
    tips: fc.uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 4 }),
    remotes: fc.uniqueArray(fc.nat(size - 1), { maxLength: 4 }),
  }),
);

test('whatever the clocks say, no commit that no remote has is left out, and each has its parents', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async ({ tips, remotes, ...graph }) => {
      const { unpushed: kept, boundary, unreadable } = await unpushed(graph, tips, remotes);
      const pushed = reachable(graph, remotes);
      const wanted = [...reachable(graph, tips)].filter((commit) => !pushed.has(commit));
      for (const commit of wanted) expect(kept.has(idOf(commit))).toBe(true);
      for (const oid of kept.keys())
        for (const parent of graph.parents[Number.parseInt(oid, 16)] ?? [])
          expect(kept.has(idOf(parent)) || boundary.has(idOf(parent))).toBe(true);
      expect(unreadable).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('with clocks that are right, just those are found', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async ({ tips, remotes, ...graph }) => {
      const times = graph.parents.map((_, commit) => commit);
      const { unpushed: kept } = await unpushed({ ...graph, times }, tips, remotes);
      const pushed = reachable(graph, remotes);
      const wanted = [...reachable(graph, tips)].filter((commit) => !pushed.has(commit)).map(idOf);
      expect([...kept.keys()].sort()).toEqual(wanted.sort());
    }),
    { numRuns: 300 },
  );
});

test('a commit that is not there is told, be it a tip or a parent', async () => {
  const { unpushed: kept, unreadable } = await unpushed({ parents: [[], [0, 9]], times: [1, 2] }, [1, 8], []);
  expect([...kept.keys()]).toEqual([idOf(1), idOf(0)]);
  expect(unreadable.map(({ oid }) => oid)).toEqual([idOf(8), idOf(9)]);
});
