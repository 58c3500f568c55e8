import { describe, expect, test } from 'vitest';
import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { Directory, RecordedRepository } from '../../src/core/ports.js';
import { countCommitsAhead } from '../../src/operations/capture/commits-ahead.js';
import type { Repositories, UserRepository } from '../../src/operations/context.js';

const root = '' as EntryPath;
const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40) as ObjectId) as [ObjectId, ObjectId, ObjectId];

/** A folder that is a repository at its root. */
const folder = { stat: () => ({ kind: 'directory' }) } as unknown as Directory;

function found(head: ObjectId | null, upstreamCommit: ObjectId | null) {
  return [{ path: root, repository: { state: { head }, upstreamCommit } as UserRepository }];
}

class Counting {
  readonly asked: unknown[] = [];
  readonly #answer: number | null;

  constructor(answer: number | null) {
    this.#answer = answer;
  }

  get repositories(): Repositories {
    const countAhead: Repositories['countAhead'] = (_, kind, commits) => {
      this.asked.push({ kind, ...commits });
      return Promise.resolve(this.#answer);
    };
    return { countAhead } as Repositories;
  }
}

function recorded(ahead?: RecordedRepository['ahead']): RecordedRepository[] {
  return [{ path: root, fingerprint: '', dirty: false, ...(ahead === undefined ? {} : { ahead }) }];
}

describe('commits ahead of the upstream', () => {
  test('are counted in the repository, and what is not known is so', async () => {
    for (const count of [3, null]) {
      const counting = new Counting(count);
      const ahead = await countCommitsAhead(counting.repositories, folder, found(a, b), []);
      expect([...ahead]).toEqual([[root, { head: a, upstream: b, count }]]);
      expect(counting.asked).toEqual([{ kind: 'directory', head: a, upstream: b }]);
    }
  });

  test.each([
    { what: 'both are the same commit', repository: found(a, a), counts: [0] },
    { what: 'there is no upstream', repository: found(a, null), counts: [] },
    { what: 'there is no commit yet', repository: found(null, b), counts: [] },
    { what: 'both are as recorded', repository: found(a, b), counts: [7] },
  ])('are not counted where $what', async ({ repository, counts }) => {
    const counting = new Counting(1);
    const known = recorded({ head: a, upstream: b, count: 7 });
    const ahead = await countCommitsAhead(counting.repositories, folder, repository, known);
    expect([...ahead.values()].map(({ count }) => count)).toEqual(counts);
    expect(counting.asked).toEqual([]);
  });

  test.each([
    { what: 'another commit is at HEAD', known: recorded({ head: c, upstream: b, count: 7 }) },
    { what: 'the upstream is another one', known: recorded({ head: a, upstream: c, count: 7 }) },
    { what: 'it was never counted', known: recorded() },
  ])('are counted anew where $what', async ({ known }) => {
    const ahead = await countCommitsAhead(new Counting(1).repositories, folder, found(a, b), known);
    expect(ahead.get(root)?.count).toBe(1);
  });
});
