import { expect, test } from 'vitest';
import { RefNames, namesAbove } from '../../src/core/ref-names.js';

test('what is above a name', () => {
  expect(namesAbove('a')).toEqual([]);
  expect(namesAbove('a/b/c')).toEqual(['a', 'a/b']);
});

test.each([
  { names: ['feat'], name: 'feat/x', other: 'feat' },
  { names: ['feat'], name: 'feat/x/y', other: 'feat' },
  { names: ['feat/x/y'], name: 'feat', other: 'feat/x/y' },
  { names: ['feat/x/y'], name: 'feat/x', other: 'feat/x/y' },
  { names: ['feat/x'], name: 'feat/y', other: undefined },
  { names: ['feat'], name: 'feature', other: undefined },
  { names: ['feat-a', 'feat.b'], name: 'feat', other: undefined },
  { names: ['feat'], name: 'feat', other: undefined },
])('$name beside $names: $other is in its way', ({ names, name, other }) => {
  const taken = new RefNames(names);
  expect(taken.clashWith(name)).toBe(other);
  expect(taken.has(name)).toBe(names.includes(name));
});
