import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitFiles, userGit, userGitText, writeFiles } from '../support/user-git.js';
import { assessed, clonedScene } from './assess-scene.js';
import { Scene, expectSame, remember } from './scene.js';

describe('assess, of a repository', () => {
  test('that has nothing of its own: clean', async () => {
    const scene = await clonedScene();
    const { verdict, why, mount } = await assessed(scene);
    expect([verdict, why]).toEqual(['clean', []]);
    expect(mount.repositories[0].branches).toMatchObject([{ name: 'main', upstream: 'origin/main', ahead: 0 }]);
    await scene.run(['assess', '--exit-code']);
  });

  test('file by file as git status has it', async () => {
    const scene = await clonedScene();
    commitFiles(scene.mount, { '.gitignore': 'ignored\n', 'd.txt': 'd\n', 'e.txt': 'e\n', 'x.sh': 'x\n', l: 'l' });
    userGit(scene.mount, ['push', '--quiet']);
    writeFiles(scene.mount, { 'a.txt': 'changed\n', '.env': 'SECRET=1\n', new: 'n', ignored: 'i', 'staged.txt': 's' });
    rmSync(scene.at('b.txt'));
    userGit(scene.mount, ['rm', '--quiet', 'src/c.txt']);
    userGit(scene.mount, ['rm', '--quiet', '--cached', 'd.txt']);
    userGit(scene.mount, ['add', 'staged.txt']);
    writeFiles(scene.mount, { 'staged.txt': 's2', 'e.txt': 'e2\n' });
    userGit(scene.mount, ['add', 'e.txt']);
    userGit(scene.mount, ['update-index', '--chmod=+x', 'x.sh']);
    rmSync(scene.at('l'));
    symlinkSync('a.txt', scene.at('l'));
    const git = userGit(scene.mount, ['--no-optional-locks', 'status', '--porcelain', '-uall', '--no-renames']).stdout;
    const { verdict, files } = await assessed(scene);
    expect(verdict).toBe('dirty');
    expect(files.toSorted()).toEqual(git.split('\n').filter(Boolean).toSorted());
    await scene.run(['assess', '--exit-code'], { code: 1 });
  });

  const make: readonly (readonly [what: string, make: (mount: string) => void, why: RegExp])[] = [
    ['a commit ahead', (mount) => void commitFiles(mount, { a: '2' }), /^main: 1 ahead of its upstream$/],
    ['a branch of its own', (mount) => void userGit(mount, ['branch', 'topic']), /^topic: no upstream$/],
    [
      'a stash',
      (mount) => {
        writeFiles(mount, { 'a.txt': 'stashed' });
        userGit(mount, ['stash', '--quiet']);
      },
      /^1 stashed$/,
    ],
    [
      'a detached HEAD',
      (mount) => {
        userGit(mount, ['checkout', '--quiet', '--detach']);
        userGit(mount, ['commit', '--quiet', '--allow-empty', '-m', 'loose']);
      },
      /^detached HEAD at [0-9a-f]{12}, which no branch reaches$/,
    ],
    [
      'a merge that goes on',
      (mount) => writeFileSync(join(mount, '.git/MERGE_HEAD'), `${userGitText(mount, ['rev-parse', 'HEAD'])}\n`),
      /^in the middle of a merge$/,
    ],
    [
      'refs in another format',
      (mount) => {
        userGit(mount, ['config', 'core.repositoryformatversion', '1']);
        userGit(mount, ['config', 'extensions.refstorage', 'reftable']);
      },
      /^could not be observed: ref storage "reftable"$/,
    ],
    [
      'a ref that is damaged',
      (mount) => writeFileSync(join(mount, '.git/refs/heads/bad'), 'nonsense\n'),
      /^could not be observed: a ref is malformed$/,
    ],
    [
      'objects that are missing',
      (mount) => {
        commitFiles(mount, { a: '2' });
        const tip = userGitText(mount, ['rev-parse', 'HEAD']);
        rmSync(join(mount, '.git/objects', tip.slice(0, 2), tip.slice(2)));
      },
      /^main: could not be observed: how far/,
    ],
  ];

  test.each(make)('with %s: unpushed', async (_, change, why) => {
    const scene = await clonedScene();
    change(scene.mount);
    const found = await assessed(scene);
    expect(found.verdict).toBe('unpushed');
    expect(found.why.filter((one: string) => why.test(one))).toHaveLength(1);
  });

  test('whose upstream is gone, as after a merge: clean', async () => {
    const scene = await clonedScene();
    userGit(scene.mount, ['switch', '--quiet', '-c', 'topic']);
    commitFiles(scene.mount, { a: '2' });
    userGit(scene.mount, ['push', '--quiet', '-u', 'origin', 'topic']);
    userGit(scene.mount, ['push', '--quiet', 'origin', ':topic']);
    const { verdict, mount } = await assessed(scene);
    expect(verdict).toBe('clean');
    expect(mount.repositories[0].branches[1]).toMatchObject({ name: 'topic', gone: true, ahead: null, current: true });
  });

  const ownUpstreams: readonly (readonly [what: string, make: (mount: string) => void, atRisk: readonly string[]])[] = [
    [
      'that is the branch itself',
      (mount) => {
        userGit(mount, ['config', 'branch.main.remote', '.']);
        commitFiles(mount, { a: '2' });
      },
      ['m:main'],
    ],
    [
      'that follows it in turn',
      (mount) => {
        commitFiles(mount, { a: '2' });
        userGit(mount, ['branch', '--quiet', '--track', 'other', 'main']);
        userGit(mount, ['branch', '--quiet', '--set-upstream-to=other', 'main']);
      },
      ['m:main', 'm:other'],
    ],
    [
      'that is gone',
      (mount) => {
        userGit(mount, ['branch', '--quiet', 'base']);
        userGit(mount, ['switch', '--quiet', '-c', 'feat', '--track', 'base']);
        commitFiles(mount, { a: '2' });
        userGit(mount, ['branch', '--quiet', '-D', 'base']);
      },
      ['m:feat'],
    ],
    [
      'by way of a refspec',
      (mount) => {
        userGit(mount, ['config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*']);
        commitFiles(mount, { a: '2' });
      },
      ['m:main'],
    ],
    [
      'at a place of its own',
      (mount) => {
        userGit(mount, ['config', 'remote.origin.fetch', '+refs/heads/*:refs/elsewhere/*']);
        commitFiles(mount, { a: '2' });
      },
      ['m:main'],
    ],
  ];

  test.each(ownUpstreams)('with an upstream in it %s: no remote has its commits', async (_, change, atRisk) => {
    const scene = await clonedScene();
    change(scene.mount);
    const { verdict, data } = await assessed(scene);
    expect(verdict).toBe('unpushed');
    const why = ['its upstream is in this repository, and no remote has its commits'];
    expect(data.at_risk).toEqual(atRisk.map((name) => ({ name, why })));
    await scene.run(['assess', '--exit-code'], { code: 1 });
    await scene.json(['discard', '--yes'], { code: 5 });
  });

  test('with an upstream in it, and commits that a remote has: not at risk', async () => {
    const scene = await clonedScene();
    userGit(scene.mount, ['branch', '--quiet', 'base', 'main~0']);
    userGit(scene.mount, ['switch', '--quiet', '-c', 'feat', '--track', 'base']);
    commitFiles(scene.mount, { a: '2' });
    userGit(scene.mount, ['push', '--quiet', 'origin', 'feat']);
    const { data } = await assessed(scene);
    expect(data.at_risk).toEqual([{ name: 'm:base', why: ['no upstream'] }]);
    expect(data.mounts[0].repositories[0].branches[1]).toMatchObject({ name: 'feat', upstream: 'base', ahead: 1 });
  });

  test('with another one in it: what is only there counts', async () => {
    const scene = await clonedScene();
    writeFiles(scene.mount, { '.gitignore': 'tools/\n' });
    userGit(scene.mount, ['add', '.gitignore']);
    userGit(scene.mount, ['commit', '--quiet', '-m', 'ignore']);
    userGit(scene.mount, ['push', '--quiet']);
    mkdirSync(scene.at('vendored'));
    userGit(scene.at('vendored'), ['init', '--quiet', '--initial-branch=own']);
    commitFiles(scene.at('vendored'), { f: '1' });
    const { verdict, data } = await assessed(scene);
    expect(verdict).not.toBe('clean');
    expect(data.at_risk).toContainEqual({ name: 'm:vendored:own', why: ['no upstream'] });
  });
});

describe('assess, of a folder', () => {
  test('without a repository: by its last snapshot', async () => {
    const scene = new Scene();
    scene.write({ a: '1', b: '2' });
    await scene.save();
    expect((await assessed(scene)).verdict).toBe('saved');
    scene.write({ a: 'changed', c: '3' });
    rmSync(scene.at('b'));
    const { verdict, files, mount } = await assessed(scene);
    expect([verdict, files]).toEqual(['dirty', [' M a', ' D b', '?? c']]);
    expect(mount.compared_with.seq).toBe(1);
  });

  test.each([
    { what: 'and forgets it not when it is saved again', last: [] },
    { what: 'and only a part of it was saved since', last: ['--path', 'a.txt'] },
  ])('whose repository is gone: unpushed, $what', async ({ last }) => {
    const scene = await clonedScene();
    commitFiles(scene.mount, { a: '2' });
    await scene.save();
    rmSync(scene.at('.git'), { recursive: true });
    const gone = /^the repository that was here is gone, and snapshot 2, .* does not hold all of its commits$/;
    const expectGone = async () => {
      const { verdict, data } = await assessed(scene);
      expect([verdict, data.at_risk]).toEqual(['unpushed', [{ name: 'm', why: [expect.stringMatching(gone)] }]]);
    };
    await expectGone();
    await scene.save(last);
    await expectGone();
    expect((await scene.run(['assess', '--exit-code'], { code: 1 })).stdout).not.toContain('Nothing is at risk');
    const { data } = await scene.json(['keep']);
    expect(data.mounts).toMatchObject([{ state: 'unknown', changed: 0 }]);
    await scene.json(['discard', '--yes'], { code: 5 });
    // A folder in its place that is no repository either is none.
    mkdirSync(scene.at('.git'));
    await expectGone();
  });

  test('whose repository is gone, and whose commits a snapshot holds: saved', async () => {
    const scene = await clonedScene();
    commitFiles(scene.mount, { a: '2' });
    await scene.save(['--protect-commits']);
    rmSync(scene.at('.git'), { recursive: true });
    await scene.save();
    expect((await assessed(scene)).verdict).toBe('saved');
  });

  test('that no whole snapshot holds, or that is gone: unpushed, with the reason', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save(['--path', 'a']);
    expect((await assessed(scene)).why).toEqual(['could not be observed: no snapshot holds it']);
    renameSync(scene.mount, `${scene.mount}-away`);
    const { data } = await scene.json(['assess', 't'], { instance: null, cwd: scene.outside });
    expect(data.verdict).toBe('unpushed');
    expect(data.mounts[0].risks[0].why).toMatch(/^could not be observed: The folder .* cannot be opened \(ENOENT\)/);
  });
});

describe('keep, resume and discard', () => {
  test('keep holds the latest snapshot, resume says how things are', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.save(['-m', 'kept']);
    expect((await scene.json(['keep', '-m', 'later'])).data.instance).toMatchObject({
      status: 'kept',
      state: 'open',
      exit: { decision: 'keep', note: 'later', snapshot: 2 },
    });
    await scene.json(['instance', 'set', 'keep_last=1']);
    for (const a of ['2', '3', '4']) {
      scene.write({ a });
      await scene.save();
    }
    expect((await scene.list()).map(({ seq }) => seq as number)).toEqual([5, 2, 1]);
    expect((await scene.json(['instance', 'list'])).data.instances[0].status).toBe('kept');
    scene.write({ a: '5' });
    const resumed = await scene.json(['resume']);
    expect(resumed.data).toMatchObject({
      kept: { note: 'later' },
      mounts: [{ name: 'm', state: 'changed', changed: 1 }],
    });
    expect((await scene.json(['instance', 'show'])).data.instance.status).toBe('open');
    expect((await scene.run(['resume'])).stdout).toContain('nothing had been decided');
  });

  test('discard names what is at risk, saves it, closes, and touches no file', async () => {
    const scene = await clonedScene();
    userGit(scene.mount, ['branch', 'topic']);
    scene.write({ 'a.txt': 'dirty' });
    const before = remember(scene.mount);
    const refused = await scene.json(['discard', '--yes'], { code: 5 });
    expect(refused.document.error).toMatchObject({ code: 'ACKNOWLEDGEMENT_NEEDED' });
    expect(refused.document.error?.hint).toContain('discard t --yes --acknowledge m --acknowledge m:topic');
    const half = await scene.json(['discard', '--yes', '--acknowledge', 'm'], { code: 5 });
    expect(half.document.error?.hint).toContain('discard t --yes --acknowledge m --acknowledge m:topic');
    const unsure = await scene.json(['discard', '--acknowledge', 'm', '--acknowledge', 'm:topic'], { code: 5 });
    expect(unsure.document.error).toMatchObject({ code: 'CONFIRMATION_NEEDED' });
    expect(unsure.document.error?.hint).toContain('discard t --yes --acknowledge m --acknowledge m:topic');
    expect((await scene.list()).length).toBe(1);
    const done = await scene.json(['discard', '--yes', '--acknowledge', 'm', '--acknowledge', 'm:topic']);
    expect(done.data).toMatchObject({ instance: { state: 'closed', status: 'discarded' }, snapshot: { seq: 2 } });
    expectSame(before);
    expect(await scene.content(2, 'a.txt')).toBe('dirty');
    await scene.json(['resume'], { code: 4 });
    await scene.json(['keep'], { code: 4 });
  });

  test('discard of what is saved needs no name, only a yes', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.json(['discard'], { code: 5 });
    const done = await scene.json(['discard', '--yes']);
    expect(done.data).toMatchObject({ snapshot: { seq: 1 }, worktree: null });
  });
});
