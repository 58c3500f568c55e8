import { describe, expect, test } from 'vitest';

import type { ObjectId } from '../../src/core/ids.js';
import { directoryMode } from '../../src/git/pack/format.js';
import type { HeldEntry } from '../../src/git/user-repo/held-objects.js';
import { isBeyondIndex } from '../../src/git/user-repo/staged-size.js';

/** Trees in each other, each with `fan` entries that are all the next one; the last has as many files. */
function nested(levels: number, fan: number): { entries: (tree: ObjectId) => Promise<HeldEntry[]> } {
  return {
    entries: (tree) => {
      const level = Number(tree);
      const mode = level === levels ? 0o100644 : directoryMode;
      const entry = (at: number): HeldEntry => ({ mode, name: `d${at}`, oid: String(level + 1) as ObjectId });
      return Promise.resolve(Array.from({ length: fan }, (_, at) => entry(at)));
    },
  };
}

describe('the tree of an index', () => {
  test.each([
    [7, 10],
    [10, 10],
    [400, 10],
  ])('is none of %i levels with %i times the next', async (levels, fan) => {
    expect(await isBeyondIndex(nested(levels, fan), '1' as ObjectId)).toBe(true);
  });

  test.each([
    [1, 5000],
    [2, 1000],
    [5, 10],
    [3000, 1],
  ])('may have %i levels with %i entries', async (levels, fan) => {
    expect(await isBeyondIndex(nested(levels, fan), '1' as ObjectId)).toBe(false);
  });
});
