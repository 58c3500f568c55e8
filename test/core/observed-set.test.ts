import { describe, expect, test } from 'vitest';

import { leftOutReasons } from '../../src/core/entry.js';
import type { EntryPath } from '../../src/core/entry-path.js';
import type { ObservedLine } from '../../src/core/manifest.js';
import { ObservedSet } from '../../src/core/observed-set.js';

const stored = new Set(['', 'd', 'd/e', 'whole', 'part']);

function observedSet(lines: Readonly<Record<string, ObservedLine['reason']>>, scope: readonly string[] | null = null) {
  return new ObservedSet(
    Object.entries(lines).map(([path, reason]) => ({ path, reason, directory: true }) as ObservedLine),
    (path) => stored.has(path),
    scope as readonly EntryPath[] | null,
  );
}

describe('what was left out stands for all below it', () => {
  test.each(leftOutReasons)('%s', (reason) => {
    const observed = observedSet({ 'd/out': reason });
    const reasons = ['d/out', 'd/out/x/y', 'd/outer', 'd', ''].map((path) => observed.leftOutAt(path as EntryPath));
    expect(reasons).toEqual([reason, reason, undefined, undefined, undefined]);
    expect(observed.provesAbsence('d/out/x' as EntryPath)).toBe(false);
    expect(observed.provesAbsence('d/outer' as EntryPath)).toBe(true);
  });

  test('and the nearest reason counts', () => {
    const observed = observedSet({ 'd/out': 'ignored', 'd/out/key': 'secret' });
    expect(observed.leftOutAt('d/out/key/x' as EntryPath)).toBe('secret');
    expect([...observed.leftOut]).toEqual([
      ['d/out', 'ignored'],
      ['d/out/key', 'secret'],
    ]);
  });
});

describe('absence is proven', () => {
  test.each([
    { path: 'x', proven: true, why: 'the root was listed to its end' },
    { path: 'd/x', proven: true, why: 'its folder was listed to its end' },
    { path: 'd/new/deep/x', proven: true, why: 'the folder on the way was not there' },
    { path: 'part/x', proven: false, why: 'its folder was not listed to its end' },
    { path: 'part/new/x', proven: false, why: 'the folder on the way may have been there' },
    { path: 'd/gone', proven: true, why: 'it was looked for and not found' },
    { path: 'd/gone/x', proven: true, why: 'its folder was looked for and not found' },
    { path: 'part/gone/x', proven: true, why: 'it was looked for, whatever its folder held besides' },
    { path: 'd/ignored/x', proven: false, why: 'its folder was left out' },
  ])('of $path: $proven, since $why', ({ path, proven }) => {
    const observed = observedSet({
      part: 'incomplete',
      'd/gone': 'absent',
      'part/gone': 'absent',
      'd/ignored': 'ignored',
    });
    expect(observed.provesAbsence(path as EntryPath)).toBe(proven);
  });

  test('of nothing where the root was not listed to its end', () => {
    const observed = observedSet({ '': 'incomplete' });
    expect(['x', 'n/x', 'd/x'].map((path) => observed.provesAbsence(path as EntryPath))).toEqual([false, false, true]);
  });

  test.each([
    { path: 'd/e/x', proven: true },
    { path: 'd/e/new/x', proven: true },
    { path: 'd/x', proven: false },
    { path: 'x', proven: false },
    { path: 'whole/x', proven: false },
    { path: 'd/file/x', proven: false },
    { path: 'd/none', proven: true },
    { path: 'd/none/x', proven: true },
  ])('after a save of d/e, d/file and d/none only, of $path: $proven', ({ path, proven }) => {
    const observed = observedSet({ 'd/none': 'absent' }, ['d/e', 'd/file', 'd/none']);
    expect(observed.provesAbsence(path as EntryPath)).toBe(proven);
  });

  test('never of the root itself', () => {
    expect(observedSet({}).provesAbsence('' as EntryPath)).toBe(false);
  });
});
