import { describe, expect, test } from 'vitest';
import {
  type BranchWork,
  type RepositoryWork,
  judgeFolder,
  judgeRepository,
  namedRisks,
  unobservable,
  withLoss,
  worstOf,
} from '../../src/core/assessment.js';
import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import { parseMountName, parseObjectId } from '../../src/core/ids.js';

const base = parseObjectId('b'.repeat(40));
const other = parseObjectId('c'.repeat(40));

function branch(options: Partial<BranchWork>): BranchWork {
  return {
    name: 'main',
    tip: other,
    current: true,
    upstream: 'origin/main',
    gone: false,
    ahead: 0,
    held: null,
    elsewhere: false,
    ...options,
  };
}

function work(options: Partial<RepositoryWork>): RepositoryWork {
  const usual = {
    head: other,
    branch: 'main',
    detached: false,
    headIsHeld: false,
    left: [],
    stashes: 0,
    operation: null,
  };
  return { ...usual, branches: [branch({})], unknown: [], ...options };
}

describe('a repository', () => {
  test.each([
    { what: 'with all pushed', work: {}, dirty: false, verdict: 'clean', why: [] },
    { what: 'with changes', work: {}, dirty: true, verdict: 'dirty', why: ['uncommitted changes'] },
    {
      what: 'with changes and more',
      work: { branches: [branch({ upstream: null })] },
      dirty: true,
      verdict: 'dirty',
      why: ['uncommitted changes', 'no upstream'],
    },
    {
      what: 'of which it is not known',
      work: {},
      dirty: null,
      verdict: 'unpushed',
      why: ['could not be observed: whether files are changed'],
    },
    {
      what: 'with a branch at the base',
      work: { branches: [branch({ tip: base, upstream: null })] },
      dirty: false,
      verdict: 'clean',
      why: [],
    },
    {
      what: 'with a branch without an upstream',
      work: { branches: [branch({}), branch({ name: 'x', upstream: null, ahead: null })] },
      dirty: false,
      verdict: 'unpushed',
      why: ['no upstream'],
    },
    {
      what: 'whose upstream is gone',
      work: { branches: [branch({ gone: true, ahead: null })] },
      dirty: false,
      verdict: 'clean',
      why: [],
    },
    {
      what: 'ahead of its upstream',
      work: { branches: [branch({ ahead: 3 })] },
      dirty: false,
      verdict: 'unpushed',
      why: ['3 ahead of its upstream'],
    },
    {
      what: 'whose upstream is in the repository',
      work: { branches: [branch({ upstream: 'main', held: false }), branch({ gone: true, ahead: null, held: false })] },
      dirty: false,
      verdict: 'unpushed',
      why: [
        'its upstream is in this repository, and no remote has its commits',
        'its upstream is in this repository, and no remote has its commits',
      ],
    },
    {
      what: 'whose upstream is in the repository, and which a remote has',
      work: { branches: [branch({ upstream: 'main', ahead: 2, held: true })] },
      dirty: false,
      verdict: 'clean',
      why: [],
    },
    {
      what: 'ahead by who knows',
      work: { branches: [branch({ ahead: null })] },
      dirty: false,
      verdict: 'unpushed',
      why: ['could not be observed: how far it is ahead of its upstream'],
    },
    { what: 'without a branch', work: { branches: [] }, dirty: false, verdict: 'unpushed', why: ['it has no branch'] },
    {
      what: 'detached at the base',
      work: { detached: true, head: base },
      dirty: false,
      verdict: 'clean',
      why: [],
    },
    {
      what: 'detached away from the base',
      work: { detached: true, headIsHeld: true },
      dirty: false,
      verdict: 'unpushed',
      why: ['detached HEAD at cccccccccccc, away from the base'],
    },
    { what: 'with stashes', work: { stashes: 2 }, dirty: false, verdict: 'unpushed', why: ['2 stashed'] },
    {
      what: 'amid a rebase',
      work: { operation: 'rebase' },
      dirty: false,
      verdict: 'unpushed',
      why: ['in the middle of a rebase'],
    },
    {
      what: 'that is malformed',
      work: { unknown: ['a ref is malformed'] },
      dirty: false,
      verdict: 'unpushed',
      why: ['could not be observed: a ref is malformed'],
    },
  ])('$what is $verdict', ({ work: options, dirty, verdict, why }) => {
    const judged = judgeRepository(work(options), dirty, base);
    expect(judged.verdict).toBe(verdict);
    expect(judged.risks.map((risk) => risk.why)).toEqual(why);
  });

  test.each([
    { headIsHeld: true, verdict: 'clean' },
    { headIsHeld: false, verdict: 'unpushed' },
  ])('without a base, detached: held $headIsHeld is $verdict', ({ headIsHeld, verdict }) => {
    expect(judgeRepository(work({ detached: true, headIsHeld }), false, null).verdict).toBe(verdict);
  });
});

test('a folder without a repository is never guessed', () => {
  expect(judgeFolder(false, []).verdict).toBe('saved');
  expect(judgeFolder(true, ['x']).verdict).toBe('dirty');
  expect(judgeFolder(false, ['x'])).toEqual({
    verdict: 'unpushed',
    risks: [{ branch: null, why: 'could not be observed: x' }],
  });
  expect(judgeFolder(null, ['no snapshot holds it']).verdict).toBe('unpushed');
  expect(unobservable('gone').verdict).toBe('unpushed');
});

test('a folder that has lost its repository is not saved', () => {
  expect(withLoss(judgeFolder(false, []), null).verdict).toBe('saved');
  expect(withLoss(judgeFolder(false, []), 'gone')).toEqual({
    verdict: 'unpushed',
    risks: [{ branch: null, why: 'gone' }],
  });
  expect(withLoss(judgeFolder(true, []), 'gone').risks).toHaveLength(2);
  expect(withLoss(judgeFolder(true, []), 'gone').verdict).toBe('dirty');
});

test('the worst counts', () => {
  expect(worstOf('saved', ['clean'])).toBe('saved');
  expect(worstOf('saved', ['clean', 'unpushed'])).toBe('unpushed');
  expect(worstOf('unpushed', ['dirty'])).toBe('dirty');
});

test('what is at risk has names: mounts, branches, and branches of repositories in them', () => {
  const name = parseMountName('m');
  const repository = (path: string) => ({
    path: path as EntryPath,
    work: null,
    base: null,
    verdict: 'unpushed' as const,
    risks: [
      { branch: null, why: '1 stashed' },
      { branch: 'topic', why: 'no upstream' },
    ],
  });
  const mount = {
    ...({
      name,
      path: '/m' as HostPath,
      present: true,
      kind: 'clone',
      isolation: 'shared',
      verdict: 'unpushed',
    } as const),
    risks: [],
    repositories: [repository(''), repository('sub')],
    files: [],
    comparedWith: null,
  };
  expect(namedRisks({ mounts: [mount] })).toEqual([
    { name: 'm', why: ['1 stashed', 'sub: 1 stashed'] },
    { name: 'm:topic', why: ['no upstream'] },
    { name: 'm:sub:topic', why: ['no upstream'] },
  ]);
});
