import { describe, expect, test } from 'vitest';
import { TomlProblem, parseToml } from '../../src/instance/toml.js';

const text = `name = "x"
list = [
  "a",
  { inner = 1 },
]
[table.below]
key = 1
[table]
"quoted key" = { one = 1, two = 2 }
[[many]]
a = 1
[[many]]
a = 2
`;

describe('a TOML text', () => {
  test('says its values', () => {
    expect(parseToml(text).value).toEqual({
      name: 'x',
      list: ['a', { inner: 1 }],
      table: { below: { key: 1 }, 'quoted key': { one: 1, two: 2 } },
      many: [{ a: 1 }, { a: 2 }],
    });
  });

  test.each<[readonly PropertyKey[], number | undefined]>([
    [['name'], 1],
    [['list'], 2],
    [['list', 0], 3],
    [['list', 1, 'inner'], 4],
    [['table', 'below'], 6],
    [['table', 'below', 'key'], 7],
    [['table'], 8],
    [['table', 'quoted key', 'two'], 9],
    [['many', 1], 12],
    [['many', 1, 'a'], 13],
    [['many', 1, 'missing'], 12],
    [['table', 'below', 'key', 'deeper'], 7],
    [['nowhere'], undefined],
    [[], undefined],
  ])('has %j on line %s', (key, line) => {
    expect(parseToml(text).lineOf(key)).toBe(line);
  });

  test.each([
    ['a = 1\nb = ]\n', 2],
    ['a = 1\na = 2\n', 2],
    ['[a b]\n', 1],
  ])('%j is none, and on which line it is not is said', (broken, line) => {
    expect(() => parseToml(broken)).toThrow(TomlProblem);
    try {
      parseToml(broken);
    } catch (error) {
      expect((error as TomlProblem).line).toBe(line);
      expect((error as TomlProblem).message).not.toMatch(/\.$/);
    }
  });
});
