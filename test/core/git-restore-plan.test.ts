import { describe, expect, test } from 'vitest';
import {
  type GitRestoreQuestion,
  type LiveGitState,
  isRefName,
  planGitRestore,
} from '../../src/core/git-restore-plan.js';
import { type GitState, withoutCredentials } from '../../src/core/git-state.js';
import type { ObjectId } from '../../src/core/ids.js';

const a = 'a'.repeat(40) as ObjectId;
const b = 'b'.repeat(40) as ObjectId;

const wanted: GitState = {
  format: '1',
  fingerprint: '',
  include_secrets: false,
  head: { branch: 'main' },
  branches: [{ name: 'main', commit: a, upstream: null }],
  tags: [],
  remotes: [],
  remote_branches: [],
  shallow: [],
  stashes: [],
  operation: null,
  operation_commits: [],
  index: null,
  missing: [],
  missing_total: 0,
  problems: [],
  commits: 1,
  bytes: 1,
};

const live: LiveGitState = {
  kind: 'clone',
  head: { branch: 'main' },
  branches: new Map([['main', a]]),
  tags: new Set(),
  stashes: [],
  index: null,
  elsewhere: new Set(),
  operation: null,
};

function plan(question: Partial<GitRestoreQuestion>) {
  return planGitRestore({
    wanted,
    live,
    isObtainable: () => true,
    isPushed: () => false,
    isIndexObtainable: true,
    madeBefore: new Map(),
    ...question,
  });
}

test('what is as it was is left alone', () => {
  expect(plan({})).toEqual({ changes: [], kept: [] });
});

test('a branch goes back, and one that is not known stays', () => {
  const branches = new Map([
    ['main', b],
    ['later', b],
  ]);
  expect(plan({ live: { ...live, branches } })).toEqual({
    changes: [{ kind: 'branch', name: 'main', from: b, to: a }],
    kept: [],
  });
});

describe('a branch stays', () => {
  const branches = new Map([['main', b]]);
  test.each([
    { why: 'another worktree has it', question: { live: { ...live, branches, elsewhere: new Set(['main']) } } },
    { why: 'its commits cannot be had', question: { live: { ...live, branches }, isObtainable: () => false } },
    {
      why: 'it is shared and not the own one',
      question: {
        wanted: { ...wanted, head: { commit: a } },
        live: { ...live, kind: 'worktree' as const, head: { commit: a }, branches },
      },
    },
  ])('since $why', ({ question }) => {
    const { changes, kept } = plan(question);
    expect(changes.filter(({ kind }) => kind === 'branch')).toEqual([]);
    expect(kept.map(({ path }) => path)).toContain('refs/heads/main');
  });
});

describe('a branch that has another one in its way', () => {
  const state = (name: string): GitState => ({
    ...wanted,
    head: { branch: name },
    branches: [{ name, commit: b, upstream: null }],
  });

  test.each([
    { name: 'feat/x', other: 'feat' },
    { name: 'feat', other: 'feat/x' },
  ])('$name beside $other is not made, and HEAD is left at its commit', ({ name, other }) => {
    const branches = new Map([...live.branches, [other, a]]);
    const reason = `refs/heads/${other} is in its way: git has no ref below another`;
    expect(plan({ wanted: state(name), live: { ...live, branches } })).toEqual({
      changes: [{ kind: 'head', from: { branch: 'main' }, to: { commit: b } }],
      kept: [
        { path: `refs/heads/${name}`, reason, failed: true },
        { path: 'HEAD', reason: 'its branch is not made: it is detached at the commit', failed: true },
      ],
    });
    const detached = { ...live, branches, head: { commit: b } };
    expect(plan({ wanted: state(name), live: detached }).changes).toEqual([]);
  });

  test('of two that a snapshot names, one is made', () => {
    const branches = ['feat', 'feat/x'].map((name) => ({ name, commit: b, upstream: null }));
    const tags = branches.map(({ name }) => ({ name, object: b }));
    const remote = branches.map(({ name, commit }) => ({ name, commit }));
    const both = { ...wanted, branches, tags, remote_branches: remote, head: { branch: 'feat' } };
    const empty = { ...live, kind: 'none' as const, head: null, branches: new Map() };
    const { changes, kept } = plan({ wanted: both, live: empty });
    expect(changes.flatMap((change) => ('name' in change ? [`${change.kind} ${change.name}`] : []))).toEqual([
      'branch feat',
      'tag feat',
      'remote_branch feat',
    ]);
    expect(kept.map(({ path, failed }) => [path, failed])).toEqual([
      ['refs/heads/feat/x', true],
      ['refs/tags/feat/x', true],
      ['refs/remotes/feat/x', true],
    ]);
  });

  test('that is not born either leaves HEAD where it is', () => {
    const branches = new Map([['feat', a]]);
    const unborn = { ...wanted, head: { branch: 'feat/x' }, branches: [] };
    const { changes, kept } = plan({ wanted: unborn, live: { ...live, branches, head: { branch: 'feat' } } });
    expect([changes, kept.map(({ path, failed }) => [path, failed])]).toEqual([[], [['HEAD', true]]]);
  });
});

test('HEAD stays where neither its branch nor the commit is to be had', () => {
  const other = { ...live, head: { branch: 'other' }, branches: new Map([['other', b]]) };
  const { changes, kept } = plan({ live: other, isObtainable: () => false, isPushed: () => true });
  expect([changes, kept.map(({ path, failed }) => [path, failed])]).toEqual([
    [],
    [
      ['refs/heads/main', false],
      ['HEAD', true],
    ],
  ]);
});

test.each([
  { at: 'at another commit', tip: b, parts: ['refs/heads/main', 'HEAD'] },
  { at: 'at the same', tip: a, parts: ['HEAD'] },
])('HEAD is left at the commit where another worktree has its branch, $at', ({ tip, parts }) => {
  const branches = new Map([
    ['main', tip],
    ['other', b],
  ]);
  const other = { ...live, head: { branch: 'other' }, branches, elsewhere: new Set(['main']) };
  const { changes, kept } = plan({ live: other });
  expect(changes).toEqual([{ kind: 'head', from: { branch: 'other' }, to: { commit: a } }]);
  expect(kept.map(({ path, failed }) => [path, failed])).toEqual(parts.map((path) => [path, true]));
});

test('a branch that another worktree has, and which is not the own one, is none that failed', () => {
  const state = { ...wanted, branches: [...wanted.branches, { name: 'theirs', commit: a, upstream: null }] };
  const branches = new Map([...live.branches, ['theirs', b]]);
  const { kept } = plan({ wanted: state, live: { ...live, branches, elsewhere: new Set(['theirs']) } });
  expect(kept.map(({ path, failed }) => [path, failed])).toEqual([['refs/heads/theirs', false]]);
});

test.each(['../../hooks/post-checkout', 'a/../b', '.x', 'x.lock', 'a b', 'a\nb', '', '/a', 'a//b'])(
  'no ref is called %j',
  (name) => {
    const { changes } = plan({ wanted: { ...wanted, branches: [{ name, commit: a, upstream: null }] } });
    expect(changes).toEqual([]);
    expect(isRefName(`refs/heads/${name}`)).toBe(false);
  },
);

test('a branch that a restore had made goes with its undo, unless somebody went on with it', () => {
  const branches = new Map([
    ['main', a],
    ['made', b],
  ]);
  const now = { ...live, branches };
  expect(plan({ live: now, madeBefore: new Map([['made', b]]) }).changes).toEqual([
    { kind: 'branch', name: 'made', from: b, to: null },
  ]);
  expect(plan({ live: now, madeBefore: new Map([['made', a]]) }).changes).toEqual([]);
});

test('stashes that are shared with other worktrees only grow', () => {
  const stash = (commit: ObjectId) => ({ commit, who: 'w', message: 'm' });
  const state = { ...wanted, stashes: [stash(a)] };
  const own = plan({ wanted: state, live: { ...live, stashes: [stash(b)] } }).changes;
  expect(own).toEqual([{ kind: 'stashes', from: [stash(b)], to: [stash(a)] }]);
  const shared = plan({ wanted: state, live: { ...live, kind: 'worktree', stashes: [stash(b)] } }).changes;
  expect(shared).toEqual([{ kind: 'stashes', from: [stash(b)], to: [stash(b), stash(a)] }]);
});

test.each([
  ['https://user:secret@host/repo.git', 'https://host/repo.git'],
  ['https://token@host/repo.git', 'https://host/repo.git'],
  ['https://host/repo?access_token=abc&x=1', 'https://host/repo?access_token=&x=1'],
  ['git@host:repo.git', 'git@host:repo.git'],
  ['/srv/with@sign/repo', '/srv/with@sign/repo'],
])('%s is kept as %s', (url, expected) => {
  expect(withoutCredentials(url)).toBe(expected);
});
