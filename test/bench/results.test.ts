import { describe, expect, test } from 'vitest';
import { judge } from '../../bench/goals.js';
import { Results, median } from '../../bench/results.js';
import { inputNames, readSettings } from '../../bench/settings.js';

const mib = 2 ** 20;
const noMemory = { largest: 0, program: '', together: 0 };

test.each([
  { numbers: [], middle: undefined },
  { numbers: [3], middle: 3 },
  { numbers: [10, 2, 3], middle: 3 },
  { numbers: [4, 1, 3, 100], middle: 3.5 },
])('the median of $numbers is $middle', ({ numbers, middle }) => {
  expect(median(numbers)).toBe(middle);
});

describe('goals', () => {
  const seen = new Results();
  for (const seconds of [9, 1, 2]) seen.add('first-save', 'large', 'jackin-snap', { seconds, memory: noMemory });
  for (const seconds of [10, 8, 30]) seen.add('first-save', 'large', 'git', { seconds, memory: noMemory });
  seen.add('first-save', 'large', 'restic', { seconds: 3, memory: noMemory });
  const memory = { largest: 500 * mib, program: 'node', together: 600 * mib };
  seen.add('full-restore', 'large', 'jackin-snap', { seconds: 1, memory });
  const judged = judge({ results: seen, settings: readSettings(['--only', 'large']) });

  test.each([
    { text: 'at most 0.30 of git add + write-tree', measured: 0.2, verdict: 'holds' },
    { text: 'at most 0.5 of restic', measured: 2 / 3, verdict: 'misses' },
    { text: 'peak memory of every process: at most 400 MiB', measured: 500, verdict: 'misses' },
    { text: 'at most 3 of the nothing-changed save', measured: null, verdict: 'not measured' },
  ])('$text: $verdict', ({ text, measured, verdict }) => {
    expect(judged.find((goal) => goal.text === text)).toMatchObject({ measured, verdict });
  });

  test('are those of the inputs and rows that were asked for', () => {
    expect(new Set(judged.map(({ input }) => input))).toEqual(new Set(['', 'large']));
    const settings = readSettings(['--only', 'history', '--rows', 'list,diff']);
    const rows = judge({ results: seen, settings }).map(({ row }) => row);
    expect(rows.sort()).toEqual(['diff', 'list']);
  });
});

describe('the command line', () => {
  test('measures everything unless told otherwise', () => {
    expect(readSettings([])).toMatchObject({ inputs: inputNames, runs: undefined, quick: false, growth: false });
  });

  test.each([
    { words: ['--only', 'tiny'], reason: /--only knows .*, not "tiny"/ },
    { words: ['--rows', 'list,nothing'], reason: /--rows knows .*, not "nothing"/ },
    { words: ['--runs', '0'], reason: /--runs takes a count, not "0"/ },
    { words: ['--fast'], reason: /--fast/ },
    { words: ['large'], reason: /large/ },
  ])('refuses $words', ({ words, reason }) => {
    expect(() => readSettings(words)).toThrow(reason);
  });
});
