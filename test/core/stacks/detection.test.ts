import { expect, test } from 'vitest';

import { StackDetector } from '../../../src/core/stacks/detection.js';
import { usualDetector } from '../../../src/core/stacks/in-force.js';
import type { StackPreset } from '../../../src/core/stacks/preset.js';

test.each([
  { names: ['package.json', 'src'], found: ['node'] },
  { names: ['Cargo.toml'], found: ['rust'] },
  { names: ['uv.lock', 'pyproject.toml'], found: ['python-uv'] },
  { names: ['pom.xml', 'settings.gradle.kts'], found: ['java-gradle', 'java-maven'] },
  { names: ['x.cabal'], found: ['haskell-cabal'] },
  { names: ['main.tf'], found: ['terraform'] },
  { names: ['m.cfg', 'm.tla'], found: ['tla-java'] },
  { names: ['m.cfg'], found: [] },
  { names: ['.beads'], found: ['beads'] },
  { names: ['go.mod', 'vendor'], found: [] },
  { names: ['PACKAGE.JSON', 'tf', '*.cabalx', ''], found: [] },
  { names: [], found: [] },
])('finds $found in $names', ({ names, found }) => {
  expect(usualDetector.foundIn(names).map(({ name }) => name)).toEqual(found);
});

function preset(changes: Partial<StackPreset>): StackPreset {
  return { name: 'x', description: '', detect: [['x']], patterns: ['y/'], optIn: false, ...changes };
}

test('names are bytes', () => {
  const detector = new StackDetector([preset({ detect: [['é.conf']] })]);
  expect(detector.foundIn(['Ã©.conf'])).toHaveLength(1);
  expect(detector.foundIn(['é.conf'])).toHaveLength(0);
});

test('a preset is found once, in whichever ways', () => {
  const detector = new StackDetector([preset({ detect: [['a'], ['b']] })]);
  expect(detector.foundIn(['a', 'b'])).toHaveLength(1);
});

test('the key tells presets apart by all that decides', () => {
  const key = (changes: Partial<StackPreset>): string => new StackDetector([preset(changes)]).key();
  expect(key({ description: 'z' })).toBe(key({}));
  expect(new Set([key({}), key({ detect: [['z']] }), key({ patterns: ['z'] }), key({ name: 'z' })]).size).toBe(4);
});
