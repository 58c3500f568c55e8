import { expect, test } from 'vitest';
import { onFirstUse } from '../../src/core/on-first-use.js';

test('a value is made when it is first asked for, and only once', () => {
  const made: (undefined | { readonly number: number })[] = [];
  const value = onFirstUse(() => {
    const one = { number: made.length };
    made.push(one);
    return one;
  });
  expect(made).toEqual([]);
  expect([value(), value()]).toEqual([{ number: 0 }, { number: 0 }]);
  expect(value()).toBe(made[0]);
});

test('a value that is undefined is not made again', () => {
  let made = 0;
  const value = onFirstUse((): number | undefined => {
    made += 1;
    return made > 9 ? made : undefined;
  });
  expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
});
