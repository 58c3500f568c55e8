import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GuardedDirectory } from '../../src/git/user-repo/guarded-directory.js';
import { type Refs, listRefs, readableRefs } from '../../src/git/user-repo/ref-listing.js';
import * as user from '../support/user-git.js';
import { history, mkfifo } from './user-repo-samples.js';

function inRepository<T>(path: string, act: (commonDir: GuardedDirectory) => T): T {
  const directory = GuardedDirectory.open(join(path, '.git'));
  if (directory.kind !== 'read') throw new Error('There is no repository.');
  try {
    return act(directory.value);
  } finally {
    directory.value.close();
  }
}

/** What git lists, apart from symbolic refs. */
function byGit(path: string): string[] {
  const format = '--format=%(if)%(symref)%(then)%(else)%(refname) %(objectname)%(end)';
  const listed = user.userGitText(path, ['for-each-ref', format, 'refs/heads', 'refs/remotes', 'refs/tags']);
  return listed.split('\n').filter((line) => line !== '');
}

const linesOf = (refs: Refs): string[] => [...refs].map(([name, oid]) => `${name} ${oid}`);

function withRefs(): string {
  const path = history();
  const head = user.userGitText(path, ['rev-parse', 'HEAD']);
  user.userGit(path, ['branch', 'a/b/c']);
  user.userGit(path, ['tag', '-a', '-m', 'a tag', 'v1']);
  user.userGit(path, ['update-ref', 'refs/remotes/origin/main', head]);
  user.userGit(path, ['symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main']);
  user.userGit(path, ['update-ref', 'refs/elsewhere/x', head]);
  return path;
}

describe('the refs of a repository', () => {
  test('are those that git lists, loose, packed and both', () => {
    const path = withRefs();
    const steps = [
      () => undefined,
      () => user.userGit(path, ['pack-refs', '--all']),
      () => {
        user.commitFiles(path, { more: 'm' });
        user.userGit(path, ['branch', 'z']);
        writeFileSync(join(path, '.git/refs/heads/half.lock'), 'half');
      },
    ];
    for (const step of steps) {
      step();
      const listing = inRepository(path, listRefs);
      if (listing.kind !== 'read') throw new Error(listing.kind);
      expect(linesOf(listing.value)).toEqual(byGit(path));
      expect(linesOf(inRepository(path, readableRefs)).sort()).toEqual(byGit(path).sort());
    }
  });

  test.each<{ what: string; at: string; plant: (file: string) => void }>([
    { what: 'a ref that is malformed', at: 'refs/heads/bad', plant: (file) => writeFileSync(file, 'nothing\n') },
    { what: 'a ref that is a pipe', at: 'refs/heads/bad', plant: mkfifo },
    {
      what: 'a ref that leads in a circle',
      at: 'refs/heads/bad',
      plant: (file) => writeFileSync(file, 'ref: refs/heads/bad'),
    },
    { what: 'packed refs that are a pipe', at: 'packed-refs', plant: mkfifo },
    {
      what: 'a folder that lies too deep',
      at: `refs/heads/${'d/'.repeat(70)}x`,
      plant: (file) => writeFileSync(file, ''),
    },
  ])('where there is $what: none is known for certain, the others can be read', ({ at, plant }) => {
    const path = withRefs();
    const expected = byGit(path);
    const file = join(path, '.git', at);
    mkdirSync(dirname(file), { recursive: true });
    rmSync(file, { force: true });
    plant(file);
    expect(inRepository(path, listRefs).kind).toBe('unreadable');
    expect(linesOf(inRepository(path, readableRefs)).sort()).toEqual(expected.sort());
  });

  test('of none there are none', () => {
    const path = join(dirname(history()), 'empty');
    user.createRepository(path);
    expect(inRepository(path, listRefs)).toEqual({ kind: 'read', value: new Map() });
    expect(inRepository(path, readableRefs).size).toBe(0);
  });
});
