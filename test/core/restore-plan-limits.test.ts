import { describe } from 'vitest';

import { follows } from './plan-scene.js';

describe('--no-delete', () => {
  follows([
    {
      what: 'keeps what is new',
      now: { x: 'file A', 'n/y': 'file B' },
      noDelete: true,
      plan: ['keep n: no_delete', 'keep n/y: no_delete', 'keep x: no_delete'],
    },
    {
      what: 'brings back and overwrites all the same',
      then: { a: 'file A', b: 'file B' },
      now: { a: 'file C', x: 'file D' },
      noDelete: true,
      plan: ['overwrite a', 'create b', 'keep x: no_delete'],
    },
    {
      what: 'turns a file into a link',
      then: { x: 'link A' },
      now: { x: 'file A' },
      noDelete: true,
      plan: ['retype x'],
    },
    {
      what: 'turns an empty folder into a file',
      then: { x: 'file A' },
      now: { x: 'dir' },
      noDelete: true,
      plan: ['retype x'],
    },
    {
      what: 'turns a file into a folder',
      then: { 'x/y': 'file A' },
      now: { x: 'file A' },
      noDelete: true,
      plan: ['retype x', 'create x/y'],
    },
    {
      what: 'leaves a folder that holds something where a file is to be',
      then: { x: 'file A' },
      now: { 'x/y': 'file B' },
      noDelete: true,
      plan: ['keep x/y: no_delete', 'block x: the folder in its place holds files, and nothing is to be deleted'],
    },
    {
      what: 'is told the stronger reason first',
      now: { x: 'file A' },
      protection: { x: 'secret' },
      noDelete: true,
      plan: ['keep x: secret'],
    },
  ]);
});

describe('limited to paths', () => {
  follows([
    { what: 'a file', then: { a: 'file A', b: 'file B' }, now: {}, scope: ['a'], plan: ['create a'] },
    {
      what: 'a folder and what lies below it',
      then: { 'd/a': 'file A', da: 'file B' },
      now: {},
      scope: ['d'],
      plan: ['create d', 'create d/a'],
    },
    {
      what: 'folders on the way are made',
      then: { 'd/e/a': 'file A', 'd/e/b': 'file B', 'd/c': 'file C' },
      now: {},
      scope: ['d/e/a'],
      plan: ['create d', 'create d/e', 'create d/e/a'],
    },
    {
      what: 'folders on the way that are there keep their mode',
      then: { d: 'dir 0700', 'd/a': 'file A' },
      now: { d: 'dir 0755' },
      scope: ['d/a'],
      plan: ['create d/a'],
    },
    {
      what: 'a file where a folder on the way was makes way',
      then: { 'd/a': 'file A', 'd/b': 'file B' },
      now: { d: 'file C' },
      scope: ['d/a'],
      plan: ['retype d', 'create d/a'],
    },
    {
      what: 'a link where a folder on the way was makes way',
      then: { 'd/a': 'file A' },
      now: { d: 'link C' },
      scope: ['d/a'],
      plan: ['retype d', 'create d/a'],
    },
    { what: 'nothing else is deleted', now: { x: 'file A', y: 'file B' }, scope: ['x'], plan: ['delete x'] },
    {
      what: 'a new folder above the path stays',
      now: { 'n/x': 'file A', 'n/y': 'file B' },
      scope: ['n/x'],
      plan: ['delete n/x'],
    },
    {
      what: 'the empty path is the whole mount',
      then: { a: 'file A' },
      now: { b: 'file B' },
      scope: [''],
      plan: ['create a', 'delete b'],
    },
    {
      what: 'several paths',
      then: { a: 'file A', b: 'file B', c: 'file C' },
      now: {},
      scope: ['a', 'c'],
      plan: ['create a', 'create c'],
    },
    { what: 'no path at all', then: { a: 'file A' }, now: { b: 'file B' }, scope: [], plan: [] },
    {
      what: 'a path that was left out stays',
      thenOut: { d: 'ignored' },
      now: { 'd/x': 'file A' },
      scope: ['d/x'],
      plan: [],
    },
    {
      what: 'a name that only begins alike is another',
      then: { ab: 'file A' },
      now: { 'a.c': 'file B' },
      scope: ['a'],
      plan: [],
    },
  ]);
});

describe('a snapshot of some paths', () => {
  follows([
    {
      what: 'a path that was absent then goes',
      then: { '': 'dir' },
      thenOut: { x: 'absent' },
      thenScope: ['x'],
      now: { x: 'file A' },
      scope: ['x'],
      plan: ['delete x'],
    },
    {
      what: 'with all that lies below it',
      thenOut: { 'd/x': 'absent' },
      then: { d: 'dir' },
      thenScope: ['d/x'],
      now: { 'd/x/y': 'file A', 'd/z': 'file B' },
      scope: ['d/x'],
      plan: ['delete d/x', 'delete d/x/y'],
    },
    {
      what: 'nothing is proven of paths that it did not look at',
      then: { 'd/a': 'file A' },
      thenScope: ['d/a'],
      now: { 'd/a': 'file A', 'd/b': 'file B' },
      plan: ['keep d/b: not_proven_new'],
    },
    {
      what: 'a folder that it looked at is proven as ever',
      then: { 'd/a': 'file A' },
      thenScope: ['d'],
      now: { 'd/a': 'file A', 'd/b': 'file B' },
      scope: ['d'],
      plan: ['delete d/b'],
    },
  ]);
});

describe('a repository made since', () => {
  const made = { 'r/.git/HEAD': 'file A', 'r/code': 'file B' };
  follows([
    {
      what: 'stays as a whole and is reported as one',
      now: { 'r/code': 'file B', 'r/sub/x': 'file C' },
      nowOut: { 'r/.git': 'git_dir' },
      plan: ['keep r: new_repository'],
    },
    {
      what: 'whose .git is a file (a worktree, a submodule) too',
      now: { 'r/.git': 'file A', 'r/code': 'file B' },
      plan: ['keep r: new_repository'],
    },
    {
      what: 'of another in it, the outer is reported',
      now: { 'r/in/x': 'file B' },
      nowOut: { 'r/.git': 'git_dir', 'r/in/.git': 'git_dir' },
      plan: ['keep r: new_repository'],
    },
    {
      what: 'in a new folder keeps that folder',
      now: { 'n/r/code': 'file B', 'n/x': 'file C' },
      nowOut: { 'n/r/.git': 'git_dir' },
      plan: ['delete n/x', 'keep n/r: new_repository'],
    },
    {
      what: 'in a folder of the snapshot is its .git alone',
      then: { 'd/a': 'file A' },
      now: { 'd/a': 'file B', 'd/x': 'file C' },
      nowOut: { 'd/.git': 'git_dir' },
      plan: ['overwrite d/a', 'delete d/x', 'keep d/.git: new_repository'],
    },
    {
      what: 'in the root is its .git alone',
      now: { x: 'file C' },
      nowOut: { '.git': 'git_dir' },
      plan: ['delete x', 'keep .git: new_repository'],
    },
    {
      what: 'is not one that the snapshot saw',
      then: { 'd/a': 'file A' },
      thenOut: { 'd/.git': 'git_dir' },
      now: { 'd/a': 'file A', 'd/x': 'file C' },
      nowOut: { 'd/.git': 'git_dir' },
      plan: ['delete d/x'],
    },
    {
      what: 'goes when that was asked for',
      now: made,
      deleteNewRepositories: true,
      plan: ['delete r', 'delete r/.git', 'delete r/.git/HEAD', 'delete r/code'],
    },
    {
      what: 'goes with what rules protect elsewhere',
      now: { ...made, x: 'file C' },
      protection: { 'r/code': 'ignored', x: 'ignored' },
      deleteNewRepositories: true,
      plan: ['delete r', 'delete r/.git', 'delete r/.git/HEAD', 'delete r/code', 'keep x: ignored'],
    },
    {
      what: 'stays under --no-delete all the same',
      now: { 'r/.git': 'file A' },
      deleteNewRepositories: true,
      noDelete: true,
      plan: ['keep r: no_delete', 'keep r/.git: no_delete'],
    },
    {
      what: 'stays where its absence is not proven',
      thenOut: { '': 'incomplete' },
      now: { 'r/.git': 'file A' },
      deleteNewRepositories: true,
      plan: ['keep r: not_proven_new', 'keep r/.git: not_proven_new'],
    },
    {
      what: "the root's own never goes",
      now: { '.git/HEAD': 'file A' },
      deleteNewRepositories: true,
      plan: ['keep .git: new_repository'],
    },
    {
      what: 'in the way of a file makes way, once it is captured',
      then: { r: 'file C' },
      now: made,
      plan: ['retype r', 'delete r/.git', 'delete r/.git/HEAD', 'delete r/code'],
    },
    {
      what: 'in the way of a file blocks it, while its .git is left out',
      then: { r: 'file C' },
      now: { 'r/code': 'file B' },
      nowOut: { 'r/.git': 'git_dir' },
      plan: ['keep r: new_repository', 'block r: the folder in its place holds something that no snapshot can take'],
    },
  ]);
});

describe('what an earlier restore put there, when it is taken back', () => {
  follows([
    {
      what: 'goes, although a rule protects the name',
      now: { x: 'file A', y: 'file B' },
      protection: { x: 'ignored', y: 'ignored' },
      returned: { x: 'file A' },
      plan: ['delete x', 'keep y: ignored'],
    },
    {
      what: 'stays when somebody changed it since',
      now: { x: 'file B' },
      protection: { x: 'ignored' },
      returned: { x: 'file A' },
      plan: ['keep x: ignored'],
    },
    {
      what: 'makes no new repository',
      now: { 'r/.git': 'file A', 'r/code': 'file B' },
      returned: { 'r/.git': 'file A', 'r/code': 'file B' },
      plan: ['delete r', 'delete r/.git', 'delete r/code'],
    },
    {
      what: 'is proven by the snapshot like all else',
      thenOut: { '': 'incomplete' },
      now: { x: 'file A' },
      returned: { x: 'file A' },
      plan: ['keep x: not_proven_new'],
    },
    {
      what: 'stays under --no-delete',
      now: { x: 'file A' },
      returned: { x: 'file A' },
      noDelete: true,
      plan: ['keep x: no_delete'],
    },
  ]);
});
