import { describe, expect, test } from 'vitest';

import { type TreeSize, isOversized, nothingBelow, withEntry } from '../../src/core/tree-size.js';

/** So many trees in each other, each with `fan` entries that are all the next one; the last with as many files. */
function nested(levels: number, fan: number): { size: TreeSize; distinct: number } {
  let size: TreeSize | null = null;
  for (let level = 0; level < levels; level += 1) {
    let outer = nothingBelow;
    for (let at = 0; at < fan; at += 1) outer = withEntry(outer, `d${at}`, size);
    size = outer;
  }
  return { size: size ?? nothingBelow, distinct: levels * fan };
}

function oversized({ size, distinct }: ReturnType<typeof nested>, files: number): boolean {
  return isOversized(size, files, () => distinct);
}

describe('the size of a tree', () => {
  test('is that of its listing', () => {
    const inner = withEntry(withEntry(nothingBelow, 'one', null), 'two', null);
    const outer = withEntry(withEntry(nothingBelow, 'd', inner), 'file', null);
    // d, d/one, d/two, file
    expect(outer).toEqual({ entries: 4, ends: 3, pathBytes: 1 + 5 + 5 + 4 });
  });

  test('counts a directory with nothing in it as an end', () => {
    expect(withEntry(nothingBelow, 'd', nothingBelow)).toEqual({ entries: 1, ends: 1, pathBytes: 1 });
  });

  test('is a number for what nobody can hold', () => {
    const { size } = nested(400, 10);
    expect(size.ends).toBe(Infinity);
    expect(oversized(nested(400, 10), Infinity)).toBe(true);
  });
});

describe('a tree that stands for more than it can', () => {
  test.each([5, 7, 10, 50, 200])('is one of %i levels with ten times the next', (levels) => {
    expect(oversized(nested(levels, 10), 10)).toBe(true);
  });

  test.each([7, 10])('is one of %i levels, also where the snapshot tells how many files it stands for', (levels) => {
    expect(oversized(nested(levels, 10), 10 ** levels)).toBe(true);
  });

  test('is one whose paths are too long together', () => {
    expect(oversized(nested(70_000, 1), 1)).toBe(true);
  });
});

describe('a tree that was saved', () => {
  test.each([
    { what: 'is empty', size: nothingBelow, files: 0, distinct: 0 },
    { what: 'has nothing twice', size: { entries: 3e6, ends: 2.5e6, pathBytes: 2e8 }, files: 2.5e6, distinct: 3e6 },
    {
      what: 'holds one folder twenty times',
      size: { entries: 2e6, ends: 1.9e6, pathBytes: 1e8 },
      files: 1.9e6,
      distinct: 1e5,
    },
    {
      what: 'holds one folder a thousand times',
      size: { entries: 2e6, ends: 2e6, pathBytes: 1e8 },
      files: 2e6,
      distinct: 3000,
    },
    {
      what: 'has state that is not counted',
      size: { entries: 3e5, ends: 2.5e5, pathBytes: 2e7 },
      files: 10,
      distinct: 3e5,
    },
    { what: 'is deep', ...nested(10_000, 1), files: 1 },
  ])('is none: it $what', ({ size, files, distinct }) => {
    expect(isOversized(size, files, () => distinct)).toBe(false);
  });

  test('needs no second look', () => {
    const distinct = (): number => {
      throw new Error('asked for');
    };
    expect(isOversized({ entries: 2e6, ends: 1.9e6, pathBytes: 1e8 }, 1.9e6, distinct)).toBe(false);
  });
});
