import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { occurrences } from './equipment/mutated-tree.js';
import { mutants } from './mutants/all.js';

// Whoever changes what a mutant breaks has to break it anew: one that breaks nothing is caught by nobody.

const root = join(import.meta.dirname, '../..');

test('what each mutant breaks is in its file just once, and it changes it', () => {
  const lost = mutants.filter(
    ({ file, find, replace }) =>
      find === replace || occurrences(readFileSync(join(root, 'src', file), 'utf8'), find) !== 1,
  );
  expect(lost.map(({ name, file }) => `${file}: ${name}`)).toEqual([]);
});

test('each mutant has a name of its own, and tests that are there', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  const missing = mutants.flatMap(({ tests }) => tests).filter((path) => !existsSync(join(root, 'test', path)));
  expect(missing).toEqual([]);
  expect(mutants.length).toBeGreaterThanOrEqual(60);
});
