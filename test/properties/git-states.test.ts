import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runSnapJson } from '../support/cli.js';
import { withTempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

/* Random repositories: what is made of a snapshot alone is the repository that was saved. */

const files = ['a.txt', 'dir/b.txt', 'dir/deep/c', '.gitattributes', 'odd name\t.txt', 'caf\u00e9', 'x.config/gh/d'];
const file = fc.constantFrom(...files);
const text = fc.constantFrom('', 'one\n', 'two\n', 'three\n');
const branch = fc.constantFrom('main', 'topic', 'feature/a', 'feature/b');

type Step = (repository: string) => void;

function git(args: readonly string[]): Step {
  return (repository) => void user.userGit(repository, args, { mayFail: true });
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(file, text).map(([path, content]) => (repository: string) => {
    user.writeFiles(repository, { [path]: content });
    user.userGit(repository, ['add', '--all', '--force', '--', path]);
  }),
  fc.tuple(file, text).map(([path, content]) => (repository: string) => {
    user.writeFiles(repository, { [path]: content });
  }),
  fc.constantFrom('first', 'second').map((message) => git(['commit', '--quiet', '--allow-empty', '-m', message])),
  branch.map((name) => git(['switch', '--quiet', '-c', name])),
  branch.map((name) => git(['switch', '--quiet', name])),
  branch.map((name) => git(['merge', '--quiet', '--no-edit', name])),
  branch.map((name) => git(['branch', '--quiet', '-D', name])),
  branch.map((name) => git(['push', '--quiet', 'origin', name])),
  fc.constant(git(['switch', '--quiet', '--detach'])),
  fc.constant(git(['stash', 'push', '--quiet', '-u'])),
  fc.constant(git(['rm', '--quiet', '--cached', 'a.txt'])),
  fc.constant(git(['tag', '-a', '-m', 'tag', 'v1'])),
  fc.constant(git(['gc', '--quiet'])),
  fc.constant(git(['add', '-N', 'dir/b.txt'])),
);

function stateOf(repository: string): readonly string[] {
  const ask = (args: readonly string[]): string => user.userGit(repository, args, { mayFail: true }).stdout;
  return [
    ask(['symbolic-ref', '-q', 'HEAD']),
    ask(['rev-parse', 'HEAD']),
    ask(['ls-files', '-s', '-z']),
    ask(['stash', 'list', '--format=%H %gs']),
    ask(['status', '--porcelain=v2', '-z', '--untracked-files=no']),
  ];
}

/** Commits with their parents that no remote has. */
function unpushedIn(repository: string): readonly string[] {
  const args = ['log', '--format=%H %P', '--branches', 'HEAD', '--not', '--remotes'];
  return user.userGit(repository, args, { mayFail: true }).stdout.split('\n');
}

/** Where a history is cut off, git no longer sees that a remote has what lies beyond. */
function isHidden(repository: string, origin: string, line: string): boolean {
  if (line === '' || !existsSync(join(repository, '.git/shallow'))) return false;
  return user.userGit(origin, ['cat-file', '-e', line.slice(0, 40)], { mayFail: true }).code === 0;
}

test('a repository that is made of a snapshot is the one that was saved', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 14 }), fc.boolean(), async (made, hasRemote) => {
      await withTempDir(async (area) => {
        const [mount, origin] = [join(area, 'mount'), join(area, 'origin')];
        user.createHistory(mount);
        if (hasRemote) {
          mkdirSync(origin);
          user.userGit(origin, ['init', '--quiet', '--bare']);
          user.userGit(mount, ['remote', 'add', 'origin', origin]);
        }
        for (const step of made) step(mount);
        const before = stateOf(mount);
        const unpushed = unpushedIn(mount);
        const options = { dataDir: join(area, 'data'), cwd: mount };
        const saved = await runSnapJson(['save', '--protect-commits', '--no-gitignore'], options);
        expect([saved.code, saved.document.data?.mounts[0].protected.missing]).toEqual([0, []]);
        rmSync(join(mount, '.git'), { recursive: true });
        const restored = await runSnapJson(['restore', '1', '--git-state', '--yes'], options);
        expect([restored.code, restored.document.data?.failed]).toEqual([0, []]);
        expect(stateOf(mount)).toEqual(before);
        const unpushedNow = unpushedIn(mount).filter(
          (line) => unpushed.includes(line) || !isHidden(mount, origin, line),
        );
        expect(unpushedNow).toEqual(unpushed);
        const fsck = user.userGit(mount, ['fsck', '--strict', '--no-dangling', '--no-progress'], { mayFail: true });
        expect([fsck.code, fsck.stderr]).toEqual([0, '']);
      });
    }),
    { numRuns: 12 },
  );
});
