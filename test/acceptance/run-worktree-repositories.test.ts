import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { userGit, userGitText, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, rememberUntouched, trap } from './scene.js';
import { inTree, none, sample, worktrees } from './worktree-scene.js';

describe('what is refused before anything runs or is written', () => {
  async function refused(scene: Scene, cwd = scene.mount): Promise<string | undefined> {
    const marker = join(scene.outside, 'ran');
    const { document } = await scene.json(['run', '--worktree', '--', 'touch', marker], { ...none, cwd, code: 4 });
    expect(existsSync(marker)).toBe(false);
    expect(await worktrees(scene)).toEqual([]);
    return document.error?.code;
  }

  test('a folder that is no repository', async () => {
    expect(await refused(new Scene())).toBe('NOT_A_REPOSITORY');
  });

  test.each([
    ['without a commit', (scene: Scene) => void userGit(scene.mount, ['init', '--quiet'])],
    ['of sha256', (scene: Scene) => void userGit(scene.mount, ['init', '--quiet', '--object-format=sha256'])],
    [
      'with an extension that is not known',
      (scene: Scene) => {
        scene.repository({ a: '1' });
        userGit(scene.mount, ['config', '-f', '.git/config', 'core.repositoryformatversion', '1']);
        userGit(scene.mount, ['config', '-f', '.git/config', 'extensions.refStorage', 'reftable']);
      },
    ],
    [
      'whose objects are elsewhere',
      (scene: Scene) => {
        scene.folder('other');
        scene.repository({ a: '1' });
        renameSync(scene.at('.git/objects'), join(scene.area, 'other/objects'));
        writeFiles(scene.mount, { '.git/objects/info/alternates': `${join(scene.area, 'other/objects')}\n` });
      },
    ],
    [
      'whose .git file leads to a repository that does not know it',
      (scene: Scene) => {
        const other = new Scene();
        other.repository({ a: '1' });
        scene.write({ '.git': `gitdir: ${other.at('.git')}\n` });
      },
    ],
    [
      'whose .git is a link',
      (scene: Scene) => {
        const other = new Scene();
        other.repository({ a: '1' });
        symlinkSync(other.at('.git'), scene.at('.git'));
      },
    ],
    [
      'whose .git directory is said to be a part of another',
      (scene: Scene) => {
        const other = new Scene();
        other.repository({ a: '1' });
        scene.repository({ a: '1' });
        scene.write({ '.git/commondir': `${other.at('.git')}\n` });
      },
    ],
    [
      'whose worktrees are a link',
      (scene: Scene) => {
        scene.repository({ a: '1' });
        symlinkSync(scene.outside, scene.at('.git/worktrees'));
      },
    ],
    [
      'whose branches are a link',
      (scene: Scene) => {
        scene.repository({ a: '1' });
        userGit(scene.mount, ['pack-refs', '--all']);
        rmSync(scene.at('.git/refs/heads'), { recursive: true, force: true });
        symlinkSync(scene.outside, scene.at('.git/refs/heads'));
      },
    ],
    [
      'with a branch in the way',
      (scene: Scene) => {
        scene.repository({ a: '1' });
        userGit(scene.mount, ['branch', 'jackin-snap']);
      },
    ],
  ])('a repository %s', async (_, make) => {
    const scene = new Scene();
    make(scene);
    const before = rememberUntouched(scene.outside);
    expect(await refused(scene)).toBe('REPOSITORY_UNSUITABLE');
    expectSame(before);
    const left = existsSync(join(scene.dataDir, 'worktrees')) ? readdirSync(join(scene.dataDir, 'worktrees')) : [];
    expect(left).toEqual([]);
  });

  test('a tree with names that no checkout makes, or two of one name', async () => {
    for (const evil of ['.git', '..', 'twice']) {
      const scene = new Scene();
      scene.repository({ a: '1' });
      const blob = userGitText(scene.mount, ['rev-parse', 'HEAD:a']);
      const entry = (mode: string, name: string): Buffer =>
        Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(blob, 'hex')]);
      const link = userGit(scene.mount, ['hash-object', '-w', '--stdin'], { stdin: scene.outside }).stdout.trim();
      const entries =
        evil === 'twice'
          ? [Buffer.concat([Buffer.from('120000 d\0'), Buffer.from(link, 'hex')]), entry('100644', 'd')]
          : [entry('100644', evil)];
      const tree = userGit(scene.mount, ['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], {
        stdin: Buffer.concat(entries),
      }).stdout.trim();
      userGit(scene.mount, ['update-ref', 'HEAD', userGitText(scene.mount, ['commit-tree', '-m', 'evil', tree])]);
      expect(await refused(scene), evil).toBe('REPOSITORY_UNSUITABLE');
      expect(readdirSync(scene.outside)).toEqual([]);
    }
  });
});

test('nothing runs that a repository names: hooks, filters, a file system monitor, another worktree', async () => {
  const scene = sample();
  const marker = join(scene.outside, 'pwned');
  const program = trap(join(scene.area, 'evil/trap'), marker);
  for (const key of [
    'core.fsmonitor',
    'core.sshCommand',
    'core.pager',
    'filter.evil.smudge',
    'filter.evil.clean',
    'filter.evil.process',
    'core.alternateRefsCommand',
  ])
    userGit(scene.mount, ['config', '-f', '.git/config', key, program]);
  userGit(scene.mount, ['config', '-f', '.git/config', 'core.worktree', scene.outside]);
  userGit(scene.mount, ['config', '-f', '.git/config', 'core.hooksPath', join(scene.area, 'evil')]);
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-commit'])
    for (const folder of [join(scene.area, 'evil'), scene.at('.git/hooks')]) trap(join(folder, hook), marker);
  writeFiles(scene.mount, { '.git/info/attributes': '* filter=evil\n', '.git/info/grafts': 'x\n' });
  const { data } = await inTree(scene, 'cat plan.txt; exit 3', [], 3);
  expect(data.worktree.kept).toBe(false);
  const kept = await inTree(scene, 'true');
  await worktrees(scene);
  await scene.run(['run', 'remove', kept.data.worktree.name, '--yes'], none);
  expect(readdirSync(scene.outside)).toEqual([]);
});

test('a linked worktree and a submodule are repositories like others', async () => {
  const scene = sample();
  const linked = join(scene.area, 'linked');
  userGit(scene.mount, ['worktree', 'add', '--quiet', linked]);
  const { data } = await scene.json(['run', '--worktree', '--', 'git', 'status'], { ...none, cwd: linked });
  expect(data.worktree.kept).toBe(true);
  const whole = new Scene();
  whole.repository({ a: '1' });
  const protocol = ['-c', 'protocol.file.allow=always'];
  userGit(whole.mount, [...protocol, 'submodule', '--quiet', 'add', scene.mount, 'part']);
  userGit(whole.mount, ['commit', '--quiet', '--message=part']);
  const outer = await inTree(whole, 'git status --porcelain; ls part');
  expect(outer.stderr.split('\n')[0]).not.toMatch(/part/);
  const part = await whole.json(['run', '--worktree', '--', 'git', 'status', '--porcelain'], {
    ...none,
    cwd: whole.at('part'),
  });
  expect(part.data.worktree.kept).toBe(true);
});

test('a caller’s GIT_DIR does not lead the command back to the checkout', async () => {
  const scene = sample();
  const env = { GIT_DIR: scene.at('.git'), GIT_WORK_TREE: scene.mount };
  const { stderr } = await scene.json(['run', '--worktree', '--', 'git', 'rev-parse', '--show-toplevel'], {
    ...none,
    env,
  });
  expect(stderr.split('\n')[0]).toContain('/worktrees/');
});

test('many files under a signal leave nothing half-made', async () => {
  const scene = new Scene();
  mkdirSync(scene.at('many'));
  for (let index = 0; index < 3000; index += 1) writeFileSync(scene.at(`many/${String(index)}`), String(index));
  scene.repository({});
  const started = scene.start(['run', '--worktree', '--', 'true'], none);
  const making = join(scene.dataDir, 'worktrees');
  while (!existsSync(making) && started.child.exitCode === null) await new Promise((done) => setTimeout(done, 1));
  process.kill(started.child.pid!, 'SIGTERM');
  const { code } = await started.done;
  expect([0, 143]).toContain(code);
  expect(await worktrees(scene)).toHaveLength(code === 0 ? 1 : 0);
  expect(userGitText(scene.mount, ['worktree', 'list']).split('\n')).toHaveLength(code === 0 ? 2 : 1);
  expect(spawnSync('git', ['-C', scene.mount, 'fsck', '--strict']).status).toBe(0);
});
