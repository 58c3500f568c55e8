import { expect, test } from 'vitest';
import { drawGrowth } from '../../bench/report/growth-plot.js';

const line = { label: 'git, first save', ours: false, dashed: false };

test('draws both axes by powers of ten', () => {
  const points = [
    { files: 1_000, seconds: 0.2 },
    { files: 10_000, seconds: 2 },
    { files: 100_000, seconds: 20 },
  ];
  const drawing = drawGrowth([{ ...line, points }]);
  const places = /<polyline [^>]*points="([^"]*)"/
    .exec(drawing)![1]!
    .split(' ')
    .map((pair) => pair.split(',').map(Number));
  const [first, second, third] = places as [number[], number[], number[]];
  expect(second[0]! - first[0]!).toBeCloseTo(third[0]! - second[0]!, 0);
  expect(second[1]! - first[1]!).toBeCloseTo(third[1]! - second[1]!, 0);
  for (const text of ['1,000', '10,000', '100,000', '0.1 s', '1 s', '10 s', '100 s'])
    expect(drawing).toContain(`>${text}<`);
});

test('keeps the labels of lines that end together apart, and leaves out lines without points', () => {
  const points = [{ files: 1_000, seconds: 1 }];
  const lines = ['one', 'two', 'three'].map((label) => ({ ...line, label, points }));
  const drawing = drawGrowth([...lines, { ...line, label: 'four', points: [] }]);
  const heights = [...drawing.matchAll(/<text class="label[^>]* y="([\d.]+)">/g)].map((match) => Number(match[1]));
  expect(heights).toHaveLength(3);
  expect(heights[1]! - heights[0]!).toBeGreaterThanOrEqual(16);
  expect(heights[2]! - heights[1]!).toBeGreaterThanOrEqual(16);
});
