import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addSubmodule, commitFiles, createHistory, userGit, userGitText } from '../support/user-git.js';
import { Scene, expectSame, rememberUntouched } from './scene.js';
import { inTree, none, sample, worktrees } from './worktree-scene.js';

const commit = 'git -c user.name=a -c user.email=a@b commit -q';

describe('run --worktree', () => {
  test('runs in a worktree that git finds good and clean, and leaves the checkout alone', async () => {
    const scene = sample();
    // Both packed, with deltas, and loose.
    scene.write({ big: `${'x'.repeat(100_000)}y` });
    userGit(scene.mount, ['commit', '--quiet', '--all', '--message=second']);
    userGit(scene.mount, ['gc', '--quiet']);
    scene.write({ 'late.txt': 'late' });
    userGit(scene.mount, ['add', 'late.txt']);
    userGit(scene.mount, ['commit', '--quiet', '--message=third']);
    scene.write({ 'plan.txt': 'dirty\n', untracked: 'u' });
    const status = userGitText(scene.mount, ['status', '--porcelain']);
    const before = readFileSync(scene.at('.git/index'));
    const { data, stderr } = await inTree(
      scene,
      'pwd; git status --porcelain; git fsck --strict; git diff --quiet HEAD && cat plan.txt && cat link && ./run.sh',
    );
    expect(stderr).toContain('plan\nf\n');
    const { path, branch, name } = data.worktree;
    expect(data.worktree).toMatchObject({ kept: true, base_commit: userGitText(scene.mount, ['rev-parse', 'HEAD']) });
    expect(stderr.split('\n')[0]).toBe(path);
    expect(path.startsWith(join(scene.dataDir, 'worktrees', name))).toBe(true);
    expect(userGitText(path, ['status', '--porcelain'])).toBe('');
    expect(userGitText(path, ['rev-parse', '--abbrev-ref', 'HEAD'])).toBe(branch);
    expect(userGitText(path, ['ls-files', '--stage'])).toBe(
      userGitText(path, ['ls-tree', '-r', 'HEAD', '--format=%(objectmode) %(objectname) 0%x09%(path)']),
    );
    expect(userGitText(scene.mount, ['worktree', 'list', '--porcelain'])).toContain(`worktree ${path}\n`);
    expect(userGitText(scene.mount, ['status', '--porcelain'])).toBe(status);
    expect(readFileSync(scene.at('.git/index')).equals(before)).toBe(true);
    userGit(scene.mount, ['worktree', 'remove', path]);
    expect(await worktrees(scene)).toMatchObject([{ name, state: 'gone' }]);
    await scene.run(['run', 'remove', name, '--yes'], none);
    expect(await worktrees(scene)).toEqual([]);
    expect(userGitText(scene.mount, ['branch', '--list', 'jackin-snap/*'])).toBe('');
  });

  test('runs in the folder of the worktree that stands for the current one', async () => {
    const scene = sample();
    const { data, stderr } = await scene.json(['run', '--worktree', '--', 'pwd'], {
      ...none,
      cwd: scene.at('sub/deep'),
    });
    expect(stderr.split('\n')[0]).toBe(`${data.worktree.path}/sub/deep`);
  });

  test('removes it when the command fails, after a snapshot, and keeps a branch with commits', async () => {
    const scene = sample();
    const before = rememberUntouched(scene.at('sub'));
    const { data } = await inTree(scene, 'echo new > new.txt; rm plan.txt; exit 3', [], 3);
    expect(data.worktree).toMatchObject({ kept: false, branch_stays: false, unsaved: [] });
    expect([existsSync(data.worktree.path), userGitText(scene.mount, ['branch', '--list', 'jackin-snap/*'])]).toEqual([
      false,
      '',
    ]);
    expect(existsSync(scene.at('.git/worktrees', data.worktree.name))).toBe(false);
    await scene.run(['restore', '2', '--to', join(scene.outside, 'back'), '--yes'], { instance: data.instance });
    expect(readFileSync(join(scene.outside, 'back/new.txt'), 'utf8')).toBe('new\n');
    const second = await inTree(scene, `echo n > n; git add n; ${commit} -m own; exit 4`, [], 4);
    expect(second.data.worktree).toMatchObject({ kept: false, branch_stays: true });
    expect(userGitText(scene.mount, ['show', `${second.data.worktree.branch}:n`])).toBe('n');
    userGit(scene.mount, ['fsck', '--strict']);
    expect(await worktrees(scene)).toEqual([]);
    expect(await worktrees(scene, ['--all'])).toHaveLength(2);
    expectSame(before);
  });

  test('keeps or discards it as asked, and off a terminal keeps what is to be asked about', async () => {
    const scene = sample();
    expect((await inTree(scene, 'exit 1', ['--keep', 'keep'], 1)).data.worktree.kept).toBe(true);
    expect((await inTree(scene, 'true', ['--keep', 'discard'])).data.worktree.kept).toBe(false);
    expect((await inTree(scene, 'exit 1', ['--keep', 'ask'], 1)).data.worktree.kept).toBe(true);
  });

  test.each([
    { script: 'git checkout -q --detach', branch: null, said: 'on no branch, in' },
    { script: 'git checkout -q -b other', branch: 'other', said: 'on branch other, in' },
  ])('says what is checked out in it afterwards: $branch', async ({ script, branch, said }) => {
    const scene = sample();
    const { data } = await inTree(scene, script);
    expect(data.worktree).toMatchObject({ kept: true, branch });
    expect((await worktrees(scene))[0].branch).toBe(branch);
    const { stderr } = await scene.run(['run', '--worktree', '--', 'sh', '-c', `${script}-2 2>&- || ${script}`], none);
    expect(stderr).toContain(said.replace('other', 'other-2'));
  });

  test('of what cannot be started leaves nothing', async () => {
    const scene = sample();
    for (const program of ['no-such-program-here', ''])
      await scene.run(['run', '--worktree', '--', program], { ...none, code: 127 });
    expect(await worktrees(scene)).toEqual([]);
    expect(userGitText(scene.mount, ['worktree', 'list']).split('\n')).toHaveLength(1);
    expect(userGitText(scene.mount, ['branch', '--list', 'jackin-snap/*'])).toBe('');
  });

  test.each([
    [
      'a commit that no branch has',
      `git checkout -q --detach; ${commit} --allow-empty -m x`,
      'no branch has its commit',
    ],
    ['what is staged and not in the files', 'echo 1 > plan.txt; git add plan.txt; echo 2 > plan.txt', 'staged'],
    ['a secret', 'echo s > .env', 'not in the snapshot: .env'],
    ['a repository that is ignored', 'echo ig > .gitignore; git init -q ig/r', 'ig/r is a repository'],
    ['a merge in progress', 'git rev-parse HEAD > "$(git rev-parse --git-dir)/MERGE_HEAD"', 'a merge is in progress'],
  ])('is not removed while it holds %s', async (_, script, why) => {
    const scene = sample();
    const { data } = await inTree(scene, script, ['--keep', 'discard']);
    expect(data.worktree.kept).toBe(true);
    expect(data.worktree.unsaved.join()).toContain(why);
    const refused = await scene.json(['run', 'remove', data.worktree.name, '--yes'], { ...none, code: 4 });
    expect(refused.document.error).toMatchObject({ code: 'WORKTREE_HOLDS_MORE' });
    expect(existsSync(data.worktree.path)).toBe(true);
    await scene.run(['run', 'remove', data.worktree.name, '--yes', '--force'], none);
    expect(existsSync(data.worktree.path)).toBe(false);
  });

  test('is not removed off a terminal without --yes, and what to type is said', async () => {
    const scene = sample();
    const { data } = await inTree(scene, 'true');
    const { name, path } = data.worktree;
    for (const force of [[], ['--force']]) {
      const refused = await scene.json(['run', 'remove', name, ...force], { ...none, code: 5 });
      expect(refused.document.error).toMatchObject({
        code: 'CONFIRMATION_NEEDED',
        hint: expect.stringMatching(
          new RegExp(`^Go on without being asked: jackin-snap .*run remove ${name} ${['--yes', ...force].join(' ')}$`),
        ),
      });
    }
    expect(existsSync(path)).toBe(true);
    const discarding = await scene.run(['discard', name], { ...none, code: 5 });
    expect(discarding.stderr).toContain(`discard ${name} --yes`);
    await scene.run(['run', 'remove', name, '--yes'], none);
    expect(existsSync(path)).toBe(false);
  });

  test('a secret that the commit has is no reason to keep it', async () => {
    const scene = new Scene();
    scene.repository({ '.env': 'tracked', 'certs/a.pem': 'p', '.aws/config': 'c' });
    expect((await inTree(scene, 'cat .env', ['--keep', 'discard'])).data.worktree.unsaved).toEqual([]);
  });
});

describe('run list and run remove', () => {
  test('tell and remove what is there, after a question and a snapshot', async () => {
    const scene = sample();
    const { data } = await inTree(scene, `echo n > n; git add n; ${commit} -m own; echo d >> plan.txt`);
    const { name, path, branch } = data.worktree;
    expect(await worktrees(scene)).toMatchObject([
      {
        name,
        instance: name,
        branch,
        path,
        state: 'kept',
        ahead: 1,
        dirty: true,
        base_branch: 'main',
        repository: scene.mount,
      },
    ]);
    writeFileSync(join(path, 'since'), 'since');
    await scene.run(['run', 'remove', name], { ...none, code: 5 });
    expect(existsSync(path)).toBe(true);
    const removed = await scene.json(['run', 'remove', name, '--yes'], none);
    expect(removed.data).toMatchObject({ branch_stays: true, snapshot: { seq: 3 } });
    expect(await scene.content(3, 'since', { instance: name })).toBe('since');
    const again = await scene.run(['run', 'remove', name, '--yes'], { ...none, code: 3 });
    expect(again.stderr).toContain(`The worktree ${name} is removed already.`);
    await scene.run(['run', 'remove', 'no-such', '--yes'], { ...none, code: 3 });
  });

  test.each([
    { what: 'a secret that git does not know', script: 'echo s > .env', dirty: true, status: '?? .env' },
    { what: 'a change in a submodule', script: 'echo 2 > sub/module/f', dirty: true, status: ' M sub/module/f' },
    { what: 'what is ignored', script: 'echo 1 > ignored', dirty: false, status: undefined },
  ])('find $what as assess does', async ({ script, dirty, status }) => {
    const scene = sample();
    const library = join(scene.outside, 'library');
    createHistory(library);
    commitFiles(library, { f: '1\n' });
    scene.write({ '.gitignore': 'ignored\n' });
    userGit(scene.mount, ['add', '.gitignore']);
    addSubmodule(scene.mount, library, 'sub/module');
    const update = 'git -c protocol.file.allow=always submodule --quiet update --init';
    const { data } = await inTree(scene, `${update}; ${script}`, ['--keep', 'keep']);
    const assessed = await scene.json(['assess', data.instance, '--files'], none);
    const files = assessed.data.mounts[0].files.map(
      (file: Record<string, string>) => `${file['status']} ${file['path']}`,
    );
    expect(files).toEqual(status === undefined ? [] : [status]);
    expect(await worktrees(scene)).toMatchObject([{ dirty }]);
  });

  test('refuse while a command runs in it, and when it is locked', async () => {
    const scene = sample();
    const inner = `"${process.execPath}" "$0" --data-dir "$1" run remove "$(basename "$(dirname "$PWD")")" --yes; echo "removed $?"`;
    const bin = join(import.meta.dirname, '../../bin/jackin-snap');
    const ran = await scene.run(['run', '--worktree', '--', 'sh', '-c', inner, bin, scene.dataDir], none);
    expect(ran.stdout).toContain('removed 4');
    const [{ name, path }] = await worktrees(scene);
    userGit(scene.mount, ['worktree', 'lock', path]);
    expect((await scene.json(['run', 'remove', name, '--yes'], { ...none, code: 4 })).document.error?.code).toBe(
      'WORKTREE_LOCKED',
    );
  });

  test('a program named list is run after two dashes', async () => {
    const scene = sample();
    scene.write({ list: '#!/bin/sh\necho own\n' });
    chmodSync(scene.at('list'), 0o755);
    const ran = await scene.run(['run', '--', 'list'], {
      env: { PATH: `${scene.mount}:${process.env['PATH'] ?? ''}` },
    });
    expect(ran.stdout).toBe('own\n');
  });

  test('a worktree whose maker was killed is shown, and removed', async () => {
    const scene = sample();
    const started = scene.start(['run', '--worktree', '--', 'sh', '-c', 'echo READY; exec sleep 300'], none);
    await new Promise((ready) => started.child.stdout!.once('data', ready));
    expect(await worktrees(scene)).toMatchObject([{ state: 'active' }]);
    process.kill(-started.child.pid!, 'SIGKILL');
    await started.done;
    const [{ name }] = await worktrees(scene);
    await scene.run(['run', 'remove', name, '--yes'], none);
    expect(userGitText(scene.mount, ['worktree', 'list']).split('\n')).toHaveLength(1);
  });
});
