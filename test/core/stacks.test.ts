import { expect, test } from 'vitest';

import { stackExcludes, stacks } from '../../src/core/stacks.js';

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
  expect(stackExcludes(names).map(({ stack }) => stack)).toEqual(found);
});

test('leaves alone what people keep by hand, and never re-includes', () => {
  const patterns = stacks.flatMap((stack) => stack.patterns);
  for (const kept of ['vendor/', 'dist/', 'out/', 'build/', 'tmp/', 'log/', '*.tfstate'])
    expect(patterns).not.toContain(kept);
  expect(patterns.filter((pattern) => pattern.startsWith('!'))).toEqual([]);
});
