import { describe, expect, test } from 'vitest';

import { type LeftOutReason, leftOutReasons } from '../../src/core/entry.js';
import { type States, follows, planLines, planOf } from './plan-scene.js';

describe('one path, by what it was and what it is', () => {
  const kinds = { absent: null, file: 'file A', symlink: 'link B', directory: 'dir' } as const;
  const plans: Record<string, Record<keyof typeof kinds, string[]>> = {
    absent: { absent: [], file: ['delete x'], symlink: ['delete x'], directory: ['delete x'] },
    file: { absent: ['create x'], file: [], symlink: ['retype x'], directory: ['retype x'] },
    symlink: { absent: ['create x'], file: ['retype x'], symlink: [], directory: ['retype x'] },
    directory: { absent: ['create x'], file: ['retype x'], symlink: ['retype x'], directory: [] },
  };
  const states = (kind: keyof typeof kinds): States => {
    const state = kinds[kind];
    return state === null ? {} : { x: state };
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const pairs = names.flatMap((then) => names.map((now) => ({ then, now, plan: plans[then]![now] })));
  test.each(pairs)('then $then, now $now: $plan', ({ then, now, plan }) => {
    expect(planLines({ then: states(then), now: states(now) })).toEqual(plan);
  });

  test.each(pairs)('then $then, now $now: nothing is said of other paths', ({ then, now }) => {
    const around = { 'a/f': 'file C', y: 'file D' };
    const { changes } = planOf({ then: { ...states(then), ...around }, now: { ...states(now), ...around } });
    expect(changes.every(({ path }) => path === 'x')).toBe(true);
  });

  follows([
    { what: 'other content', then: { x: 'file A' }, now: { x: 'file B' }, plan: ['overwrite x'] },
    { what: 'the same blob in another form', then: { x: 'ranges A' }, now: { x: 'file A' }, plan: ['overwrite x'] },
    { what: 'the same ranges', then: { x: 'ranges A' }, now: { x: 'ranges A' }, plan: [] },
    { what: 'another link text', then: { x: 'link A' }, now: { x: 'link B' }, plan: ['overwrite x'] },
    { what: 'another mode', then: { x: 'file A 0644' }, now: { x: 'file A 0600' }, plan: ['chmod x'] },
    { what: 'set-id bits', then: { x: 'file A 04755' }, now: { x: 'file A 0755' }, plan: ['chmod x'] },
    { what: "a folder's mode", then: { x: 'dir 0700' }, now: { x: 'dir 01777' }, plan: ['chmod x'] },
    { what: "the root's mode", then: { '': 'dir 0700' }, now: { '': 'dir 0755' }, plan: ['chmod .'] },
    { what: 'another owner', then: { x: 'file A of 2' }, now: { x: 'file A of 3' }, plan: ['chmod x'] },
    { what: "a link's owner", then: { x: 'link A of 2' }, now: { x: 'link A of 3' }, plan: ['chmod x'] },
    {
      what: 'another owner that may not be set: no change',
      then: { x: 'file A of 2', l: 'link A of 2', d: 'dir 0755 of 2' },
      now: { x: 'file A of 3', l: 'link A of 3', d: 'dir 0755 of 3' },
      maySetOwner: 'never',
      plan: ['owner stays d', 'owner stays l', 'owner stays x'],
    },
    {
      what: 'more than an owner that may not be set',
      then: { x: 'file A of 2', y: 'file A 0600 of 2', z: 'file A of 2' },
      now: { x: 'file B of 3', y: 'file A 0644 of 3' },
      maySetOwner: 'never',
      plan: ['overwrite x', 'chmod y', 'create z'],
    },
    {
      what: 'another owner of a file that is made anew for its other names',
      then: { x: 'file A of 2' },
      now: { x: 'file A of 3' },
      shared: ['x'],
      maySetOwner: 'of what is made anew',
      plan: ['overwrite x'],
    },
    {
      what: 'another mode of a file that has names elsewhere: a new file takes its place',
      then: { x: 'file A 0644' },
      now: { x: 'file A 0600' },
      shared: ['x'],
      plan: ['overwrite x'],
    },
    {
      what: 'content and mode at once are one change',
      then: { x: 'file A 0644' },
      now: { x: 'file B 0600' },
      plan: ['overwrite x'],
    },
  ]);

  test('a change tells the states on both sides and why', () => {
    const [change] = planOf({ then: { x: 'file A 0600' }, now: { x: 'link B' } }).changes;
    expect(change).toEqual({
      path: 'x',
      action: 'retype',
      reason: 'is a symlink now',
      before: expect.objectContaining({ kind: 'symlink', oid: 'b'.repeat(40) }),
      after: expect.objectContaining({ kind: 'file', oid: 'a'.repeat(40), mode: 0o600 }),
    });
  });
});

describe('what was left out then, for whatever reason, is never written, changed or deleted', () => {
  describe.each(leftOutReasons)('%s', (reason) => {
    follows([
      { what: 'a file now', thenOut: { x: reason }, now: { x: 'file A' }, plan: [] },
      { what: 'a link now', thenOut: { x: reason }, now: { x: 'link A' }, plan: [] },
      { what: 'a folder with content now', thenOut: { x: reason }, now: { 'x/deep/f': 'file A' }, plan: [] },
      { what: 'absent now', thenOut: { x: reason }, plan: [] },
      { what: 'left out now too', thenOut: { x: reason }, nowOut: { x: reason }, plan: [] },
      {
        what: 'what lies beside it is judged for itself',
        then: { 'd/f': 'file A' },
        thenOut: { 'd/x': reason },
        now: { 'd/x/y': 'file B', 'd/x2': 'file C' },
        plan: ['create d/f', 'delete d/x2'],
      },
      {
        what: 'even under --no-delete and with new repositories to delete',
        thenOut: { x: reason },
        now: { 'x/.git/HEAD': 'file A' },
        noDelete: true,
        deleteNewRepositories: true,
        plan: [],
      },
    ]);
  });
});

describe('what cannot be captured now, for whatever reason, is never replaced or deleted', () => {
  describe.each(leftOutReasons)('%s', (reason) => {
    test.each([
      { what: 'a file then', then: { x: 'file A' } },
      { what: 'a link then', then: { x: 'link A' } },
      { what: 'a folder with content then', then: { 'x/y/f': 'file A' } },
    ])('$what: blocked once, at the path itself', ({ then }) => {
      const { changes, kept, blocked } = planOf({ then, nowOut: { x: reason } });
      expect([changes, kept, blocked.map(({ path }) => path)]).toEqual([[], [], ['x']]);
    });

    follows([
      { what: 'absent then: it stays, with that reason', nowOut: { x: reason }, plan: [staying('x', reason)] },
      {
        what: 'in a folder that is new: the folder stays for it, the rest goes',
        now: { 'new/a': 'file A', 'new/deep/b': 'file B' },
        nowOut: { 'new/deep/x': reason },
        plan: ['delete new/a', 'delete new/deep/b', staying('new/deep/x', reason)],
      },
      {
        what: 'in a folder whose place a file is to take: the folder stays for it',
        then: { d: 'file A' },
        now: { 'd/y': 'file B' },
        nowOut: { 'd/x': reason },
        plan: [
          'delete d/y',
          `keep d/x: ${reason}`,
          'block d: the folder in its place holds something that no snapshot can take',
        ],
      },
    ]);
  });

  /** What could not be read is named as a part of the restore that is missing. */
  function staying(path: string, reason: LeftOutReason): string {
    if (reason === 'unreadable') return `block ${path}: it may be new, and is not readable`;
    if (reason === 'unstable') return `block ${path}: it may be new, and is changing all the time`;
    return `keep ${path}: ${reason}`;
  }
});

describe('a path goes only when it is proven to be new', () => {
  follows([
    {
      what: 'in a folder that was listed to its end',
      then: { 'd/a': 'file A' },
      now: { 'd/a': 'file A', 'd/b': 'file B' },
      plan: ['delete d/b'],
    },
    {
      what: 'a whole new folder, the deepest first',
      now: { 'n/o/p': 'file A' },
      plan: ['delete n', 'delete n/o', 'delete n/o/p'],
    },
    {
      what: 'not in a folder whose listing is incomplete',
      then: { 'd/a': 'file A' },
      thenOut: { d: 'incomplete' },
      now: { 'd/a': 'file A', 'd/b': 'file B', 'd/new/c': 'file C' },
      plan: ['keep d/b: not_proven_new', 'keep d/new: not_proven_new', 'keep d/new/c: not_proven_new'],
    },
    {
      what: 'an incomplete folder says nothing of the listings below it',
      then: { 'd/e/a': 'file A' },
      thenOut: { d: 'incomplete' },
      now: { 'd/e/a': 'file A', 'd/e/b': 'file B', 'd/b': 'file B' },
      plan: ['delete d/e/b', 'keep d/b: not_proven_new'],
    },
    {
      what: 'not where a folder above it was not seen to be absent either',
      then: { 'd/a': 'file A' },
      thenOut: { '': 'incomplete' },
      now: { 'd/a': 'file A', 'e/b': 'file B' },
      plan: ['keep e: not_proven_new', 'keep e/b: not_proven_new'],
    },
    {
      what: 'below what was a file then: it was proven by being a file',
      then: { x: 'file A' },
      now: { 'x/a/b': 'file B' },
      plan: ['retype x', 'delete x/a', 'delete x/a/b'],
    },
  ]);

  describe.each(['ignored', 'excluded', 'secret'])('and not when rules, then or now, call it %s', (reason) => {
    follows([
      { what: 'a file', now: { x: 'file A' }, protection: { x: reason }, plan: [`keep x: ${reason}`] },
      {
        what: 'a file in a new folder, which stays for it',
        now: { 'n/x': 'file A', 'n/y': 'file B' },
        protection: { 'n/x': reason },
        plan: ['delete n/y', `keep n/x: ${reason}`],
      },
      {
        what: 'a folder, while its content goes where it may',
        now: { 'n/y': 'file B' },
        protection: { n: reason },
        plan: ['delete n/y', `keep n: ${reason}`],
      },
      {
        what: 'but a folder that has to make way goes with all in it',
        then: { x: 'link A' },
        now: { 'x/y': 'file A' },
        protection: { 'x/y': reason },
        plan: ['retype x', 'delete x/y'],
      },
    ]);
  });

  follows([
    {
      what: 'a folder of the snapshot stays, whatever is in it',
      then: { d: 'dir' },
      now: { 'd/new': 'file A' },
      plan: ['delete d/new'],
    },
    {
      what: 'the root is never deleted',
      now: {},
      plan: [],
    },
  ]);
});

describe('what is new and could not be read', () => {
  follows([
    {
      what: 'stays, and is no part of what was asked for',
      then: { f: 'file A' },
      now: { f: 'file A', d: 'dir' },
      nowOut: { 'd/new': 'unreadable', other: 'unstable' },
      plan: [
        'block d/new: it may be new, and is not readable',
        'block other: it may be new, and is changing all the time',
      ],
    },
  ]);
});

describe('what a blocked path holds up', () => {
  follows([
    {
      what: 'all that was stored below it, silently',
      then: { 'd/a': 'file A', 'd/e/b': 'file B', f: 'file C' },
      nowOut: { d: 'unreadable' },
      plan: ['create f', 'block d: its place is held by something that is not readable'],
    },
    {
      what: 'nothing beside it',
      then: { 'd/a': 'file A', 'd/b': 'file B' },
      now: { d: 'dir' },
      nowOut: { 'd/a': 'special' },
      plan: ['create d/b', 'block d/a: its place is held by something that is a socket, pipe or device'],
    },
  ]);
});
