import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { commitFiles, createRepository, userGit, writeFiles } from '../support/user-git.js';
import { bareRepository, onPath, refsIn, savedTwice } from './remote-scene.js';
import { Scene, leftovers, said } from './scene.js';

// What may be a remote, and how it is reached.

describe('a remote that is refused', () => {
  test.each([
    'ext::sh -c "touch RAN"',
    'fd::3',
    'ftp://127.0.0.1/x',
    '-u',
    '--upload-pack=touch RAN',
    'ssh://-oProxyCommand=touch%20RAN/x',
  ])('%s', async (remote) => {
    const { scene } = await savedTwice();
    for (const command of ['push', 'fetch']) {
      const run = await scene.json([command, '--', remote], { code: [2, 4] });
      expect(run.document.ok).toBe(false);
    }
    expect([scene.has('RAN'), existsSync(join(scene.store, 'RAN'))]).toEqual([false, false]);
  });

  test('a repository in a mount or in the data directory, whatever leads there', async () => {
    const { scene } = await savedTwice();
    createRepository(scene.at('repo'));
    commitFiles(scene.at('repo'), { f: 'f' });
    bareRepository(scene.at('bare.git'));
    const linked = join(scene.area, 'linked');
    userGit(scene.at('repo'), ['worktree', 'add', '--quiet', linked]);
    symlinkSync(scene.at('bare.git'), join(scene.area, 'link.git'));
    for (const path of [
      scene.at('repo'),
      scene.at('repo/.git'),
      scene.at('bare.git'),
      'bare.git',
      join(scene.area, 'link.git'),
      scene.store,
    ]) {
      for (const command of ['push', 'fetch']) {
        const { document } = await scene.json([command, path], { code: 4 });
        expect([path, document.error]).toMatchObject([path, { code: 'REMOTE_REFUSED' }]);
      }
    }
    for (const path of [linked, scene.dataDir, scene.at('d'), join(scene.area, 'none'), scene.at('a')]) {
      const { document } = await scene.json(['push', path], { code: [4, 9] });
      expect([path, document.error]).toMatchObject([path, { code: expect.stringMatching(/^REMOTE_/) as string }]);
    }
  });

  test('one outside of all mounts that leads into one, by whatever git would follow', async () => {
    const { scene, remote } = await savedTwice();
    createRepository(scene.at('repo'));
    const inMount = scene.at('repo/.git');
    const ways: Record<string, (path: string) => void> = {
      'a .git file': (path) => writeFiles(path, { '.git': `gitdir: ${inMount}\n` }),
      commondir: (path) => writeFiles(path, { commondir: `${inMount}\n` }),
      alternates: (path) => writeFiles(path, { 'objects/info/alternates': `${inMount}/objects\n` }),
      'a link to objects': (path) => {
        rmSync(join(path, 'objects'), { recursive: true });
        symlinkSync(join(inMount, 'objects'), join(path, 'objects'));
      },
      'a link to settings': (path) => {
        rmSync(join(path, 'config'));
        symlinkSync(join(inMount, 'config'), join(path, 'config'));
      },
      'an include': (path) => appendFileSync(join(path, 'config'), `[include]\n\tpath = ${scene.at('settings')}\n`),
    };
    for (const [way, lead] of Object.entries(ways)) {
      const path = bareRepository(join(scene.area, `${way}.git`));
      lead(path);
      for (const command of ['push', 'fetch']) {
        const { document } = await scene.json([command, path], { code: 4 });
        expect([way, document.error]).toMatchObject([way, { code: 'REMOTE_REFUSED' }]);
      }
    }
    const elsewhere = bareRepository(join(scene.area, 'elsewhere.git'));
    writeFiles(remote, { 'objects/info/alternates': `${join(elsewhere, 'objects')}\n` });
    await scene.run(['push', remote]);
    writeFiles(elsewhere, { 'objects/info/alternates': `${inMount}/objects\n` });
    await scene.run(['push', remote], { code: 4 });
  });

  test('one that does not answer, with its reason and without the password', async () => {
    const { scene } = await savedTwice();
    for (const remote of [
      'git://127.0.0.1:1/x',
      'http://me:hunter2@127.0.0.1:1/x',
      'https://tok3n-of-mine@127.0.0.1:1/x',
    ]) {
      for (const command of ['push', 'fetch']) {
        const run = await scene.json([command, remote], { code: 9 });
        expect(run.document.error).toMatchObject({ code: 'REMOTE_FAILED' });
        expect(said(run)).toContain('git said');
        expect(said(run)).not.toMatch(/hunter2|tok3n/);
      }
    }
    expect(storeGit(scene.dataDir, ['config', '--list', '--local']).stdout).not.toMatch(/hunter2|127/);
    const empty = new Scene();
    await empty.run(['fetch', '--all', join(scene.area, 'none')], { code: 9, instance: null });
    expect(leftovers(empty.dataDir)).toEqual([]);
  });
});

describe('over ssh', () => {
  /** Carries out on this machine what it is to say on another. */
  const fakeSsh = (log: string): string =>
    `#!/bin/sh\necho "$@" >>'${log}'\nenv >>'${log}'\nfor last; do :; done\nexec /bin/sh -c "$last"\n`;

  test('goes through the ssh that PATH has, without asking, and with the agent alone of the environment', async () => {
    const { scene, remote } = await savedTwice();
    const log = join(scene.area, 'ssh-log');
    const env = {
      PATH: onPath(join(scene.area, 'bin'), 'ssh', fakeSsh(log)),
      SSH_AUTH_SOCK: '/agent',
      GIT_SSH_COMMAND: 'touch RAN',
      GIT_SSH: '/bin/false',
      SSH_ASKPASS: '/bin/false',
      GIT_TRACE: log,
    };
    await scene.run(['push', `me@host:${remote}`], { env });
    const to = new Scene();
    await to.run(['fetch', '--all', `ssh://host${remote}`], { env, instance: null });
    expect(refsIn(to)).toEqual(refsIn(scene));
    const logged = readFileSync(log, 'utf8');
    expect(logged).toContain('BatchMode=yes');
    expect(logged).toContain('SSH_AUTH_SOCK=/agent');
    expect(logged).not.toMatch(/SSH_ASKPASS|GIT_TRACE|RAN/);
  });

  test('never through one that lies in a mount', async () => {
    const { scene, remote } = await savedTwice();
    const log = join(scene.area, 'ssh-log');
    const PATH = onPath(scene.at('bin'), 'ssh', fakeSsh(log));
    await scene.run(['push', `host:${remote}`], { env: { PATH }, code: 9 });
    expect(existsSync(log)).toBe(false);
  });

  test('says what went wrong', async () => {
    const { scene } = await savedTwice();
    const denied = '#!/bin/sh\nprintf "me@host: Permission denied (publickey).\\r\\n\\033[31m" >&2\nexit 255\n';
    const PATH = onPath(join(scene.area, 'bin'), 'ssh', denied);
    const { document } = await scene.json(['push', 'me@host:x'], { env: { PATH }, code: 9 });
    expect(document.error?.message).toContain('Permission denied (publickey).');
    expect(document.error?.message).not.toContain('\x1b');
  });
});

describe('a transfer that is interrupted', () => {
  test.each(['push', 'fetch'])('%s ends at once, and leaves nothing', async (command) => {
    const { scene } = await savedTwice();
    const log = join(scene.area, 'log');
    const PATH = onPath(join(scene.area, 'bin'), 'ssh', `#!/bin/sh\necho >'${log}'\nexec sleep 20\n`);
    const running = scene.start([command, 'host:x'], { env: { PATH } });
    while (!existsSync(log)) await new Promise((resolve) => setTimeout(resolve, 20));
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.done;
    expect([code, stderr]).toEqual([143, expect.stringContaining('Nothing half-done is visible')]);
    expect(leftovers(scene.dataDir)).toEqual([]);
    expect((await scene.save(['-m', 'after'])).data.snapshot.seq).toBe(3);
  });
});
