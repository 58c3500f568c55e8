import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import type { GitSettings } from '../../src/git/git-settings.js';
import { highLevelGit } from '../../src/git/high-level-git.js';
import { type Environment, Programs } from '../../src/git/programs.js';
import { prepareRepository } from '../../src/git/repository.js';
import { GitRunner, askVersion } from '../../src/git/run-git.js';
import { openStore } from '../../src/git/store.js';
import { tempDir } from '../support/temp.js';
import { preparedStore, publishSnapshot } from './fixture.js';

function runnerIn(
  dataDir: string,
  env: Environment = process.env,
  signal?: AbortSignal,
  heldLocks = new Set<number>(),
): GitRunner {
  const programs = new Programs({ dataDir, env, forbiddenDirectories: () => [] });
  const settings: GitSettings = {
    dataDir,
    storeDirectory: join(dataDir, 'store.git'),
    env,
    searchPath: () => programs.searchPath,
    heldLocks,
  };
  prepareRepository(settings.storeDirectory);
  return new GitRunner(settings, () => programs.git((path) => askVersion(path, settings)), signal);
}

/** What a shell, a container or an attacker may have set. */
function pollutedEnvironment(): Record<string, string> {
  const home = tempDir('home');
  writeFileSync(join(home, '.gitconfig'), '[leak]\n\tuser = 1\n');
  mkdirSync(join(home, '.config/git'), { recursive: true });
  writeFileSync(join(home, '.config/git/config'), '[leak]\n\txdg = 1\n');
  return {
    PATH: process.env['PATH']!,
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_DIR: join(home, 'elsewhere.git'),
    GIT_WORK_TREE: home,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'leak.count',
    GIT_CONFIG_VALUE_0: '1',
    GIT_CONFIG_PARAMETERS: "'leak.parameters'='1'",
    GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
    GIT_OBJECT_DIRECTORY: join(home, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(home, 'objects'),
    GIT_INDEX_FILE: join(home, 'index'),
    GIT_NAMESPACE: 'leak',
    GIT_EXTERNAL_DIFF: 'touch leak',
    GIT_TRACE: join(home, 'trace'),
    LC_ALL: 'de_DE.UTF-8',
    LANGUAGE: 'de',
  };
}

describe('every git process', () => {
  test('sees no configuration but our arguments and the store', async () => {
    const git = runnerIn(join(tempDir(), 'data'), pollutedEnvironment());
    const args = ['config', '--list', '--show-origin', '-z'];
    const raw = (await git.output({ args })).toString().split('\0');
    const high = (await highLevelGit(git, args)).output.split('\0');
    for (const fields of [raw, high]) {
      const origins = new Set(fields.filter((_, index) => index % 2 === 0).filter((origin) => origin !== ''));
      expect([...origins].sort()).toEqual(['command line:', `file:${join(git.settings.storeDirectory, 'config')}`]);
      expect(fields.join('\n')).not.toContain('leak');
    }
  });

  test('is told what could start a program, follow attributes or leave writes unsynced, whatever the store says', async () => {
    const git = runnerIn(join(tempDir(), 'data'));
    const { storeDirectory } = git.settings;
    const wanted = {
      'core.hooksPath': '/dev/null',
      'core.fsmonitor': 'false',
      'core.attributesFile': '/dev/null',
      'core.excludesFile': '/dev/null',
      'core.pager': 'cat',
      'core.askPass': '',
      'core.fsync': 'all',
      'core.sharedRepository': '0600',
      'gc.auto': '0',
      'commit.gpgSign': 'false',
      'credential.helper': '',
      'protocol.ext.allow': 'never',
    };
    for (const key of Object.keys(wanted)) {
      const planted = ['config', '-f', join(storeDirectory, 'config'), key, 'planted'];
      expect(spawnSync('git', planted).status).toBe(0);
    }
    const told = await Promise.all(
      Object.keys(wanted).map(async (key) => (await git.output({ args: ['config', '--get', key] })).toString().trim()),
    );
    expect(told).toEqual(Object.values(wanted));
  });

  test('that changes refs holds the locks that we hold, and no other does', async () => {
    const dataDir = join(tempDir(), 'data');
    const bin = tempDir('bin');
    const script = '[ "$1" != version ] || { echo git version 2.40.0; exit; }\nreadlink /proc/$$/fd/3';
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\nexit 0\n`, { mode: 0o755 });
    const lock = join(bin, 'lock');
    const fd = openSync(lock, 'w');
    onTestFinished(() => closeSync(fd));
    const git = runnerIn(dataDir, { PATH: `${bin}:${process.env['PATH']!}` }, undefined, new Set([fd]));
    const heldBy = async (uninterruptible: boolean): Promise<string> =>
      (await git.output({ args: ['update-ref'], uninterruptible })).toString().trim();
    expect(await heldBy(true)).toBe(lock);
    expect(await heldBy(false)).not.toBe(lock);
  });

  test('has an environment of ours, from both libraries', async () => {
    const bin = tempDir('bin');
    writeFileSync(
      join(bin, 'git'),
      '#!/bin/sh\n[ "$1" != version ] || { echo git version 2.40.0; exit; }\nenv; pwd\n',
      { mode: 0o755 },
    );
    const polluted = pollutedEnvironment();
    const env = { ...polluted, PATH: `${bin}:${polluted['PATH']!}`, COLUMNS: '99', TERM: 'xterm', OTHER: 'x' };
    const git = runnerIn(join(tempDir(), 'data'), env);
    const shells = /^(PWD|_|SHLVL|OLDPWD)=/;
    const seen = (output: string): string[] =>
      output
        .split('\n')
        .filter((line) => line !== '' && !shells.test(line))
        .sort();
    const raw = seen((await git.output({ args: ['x'] })).toString());
    expect(raw).toEqual(
      [
        git.settings.storeDirectory,
        'COLUMNS=99',
        'GIT_ATTR_NOSYSTEM=1',
        'GIT_CONFIG_GLOBAL=/dev/null',
        'GIT_CONFIG_NOSYSTEM=1',
        'GIT_LITERAL_PATHSPECS=1',
        'GIT_NO_LAZY_FETCH=1',
        'GIT_NO_REPLACE_OBJECTS=1',
        'GIT_OPTIONAL_LOCKS=0',
        'GIT_TERMINAL_PROMPT=0',
        `HOME=${join(git.settings.dataDir, 'no-home')}`,
        'LC_ALL=C',
        `PATH=${env.PATH}`,
        'TERM=xterm',
      ].sort(),
    );
    const ofSimpleGit = ['GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS=true'];
    expect(seen((await highLevelGit(git, ['x'])).output)).toEqual([...raw, ...ofSimpleGit].sort());
  });

  test('is judged by its exit code, in both libraries', async () => {
    const git = runnerIn(join(tempDir(), 'data'));
    const quiet = ['show-ref', '--verify', '--quiet', 'refs/none'];
    expect(await git.run({ args: quiet })).toMatchObject({ exitCode: 1, stderr: '' });
    await expect(git.output({ args: quiet })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      data: { command: 'show-ref', exitCode: 1 },
    });
    expect(await highLevelGit(git, quiet)).toMatchObject({ exitCode: 1, output: '' });
    expect(await highLevelGit(git, ['rev-parse', 'nonsense'])).toMatchObject({ exitCode: 128 });
    expect(await highLevelGit(git, ['version'])).toMatchObject({ exitCode: 0 });
  });

  test('ends when the caller is interrupted, but for what must not be cut off', async () => {
    const controller = new AbortController();
    const git = runnerIn(join(tempDir(), 'data'), process.env, controller.signal);
    const running = await git.start({ args: ['cat-file', '--batch'] }, true);
    controller.abort('SIGHUP');
    await expect(running.end).rejects.toMatchObject({ code: 'INTERRUPTED', data: { signal: 'SIGHUP' } });
    await expect(git.output({ args: ['for-each-ref'] })).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect(highLevelGit(git, ['fsck'])).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(await git.run({ args: ['update-ref', '--stdin'], input: '', uninterruptible: true })).toMatchObject({
      exitCode: 0,
    });
  });

  test('runs no hook, whatever the store or the environment names', async () => {
    const { store, directory, dataDir } = await preparedStore();
    mkdirSync(join(directory, 'hooks'));
    const ran = join(dataDir, 'ran');
    writeFileSync(join(directory, 'hooks/reference-transaction'), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    await publishSnapshot(store, 1, { a: 'a' });
    expect(existsSync(ran)).toBe(false);
  });
});

describe('programs', () => {
  const gitWith = (directory: string, script: string): string => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return directory;
  };
  const searching = (path: string, forbidden: readonly string[] = []) =>
    new Programs({ dataDir: tempDir(), env: { PATH: path }, forbiddenDirectories: () => forbidden });

  test('are the first on PATH, without relative entries', () => {
    const one = gitWith(tempDir('one'), 'exit');
    const two = gitWith(tempDir('two'), 'exit');
    chmodSync(join(one, 'git'), 0o644);
    const programs = searching(`:.:bin:${one}/absent:${one}:${two}`);
    expect(programs.find('git')).toBe(join(two, 'git'));
    expect(programs.searchPath).toBe(`${one}/absent:${one}:${two}`);
  });

  test('are never those of a mount, whatever links lead there', () => {
    const mount = tempDir('mount');
    const inside = gitWith(join(mount, 'node_modules/.bin'), 'exit');
    const outside = gitWith(tempDir('outside'), 'exit');
    const area = tempDir('links');
    symlinkSync(inside, join(area, 'bin'));
    mkdirSync(join(area, 'own'));
    symlinkSync(join(inside, 'git'), join(area, 'own/git'));
    symlinkSync(mount, join(area, 'mount'));
    for (const forbidden of [mount, join(area, 'mount')]) {
      const programs = searching([inside, join(area, 'bin'), join(area, 'own'), outside].join(':'), [forbidden]);
      expect(programs.find('git')).toBe(join(outside, 'git'));
      expect(programs.searchPath).toBe(`${join(area, 'own')}:${outside}`);
    }
    expect(() => searching(inside, [mount]).find('git')).toThrow(
      expect.objectContaining({ code: 'GIT_MISSING', data: { program: 'git' } }),
    );
    expect(searching(inside, ['/', `${mount}-other`]).find('git')).toBe(join(inside, 'git'));
  });

  test('ask for the version again after it could not be had', async () => {
    const programs = new Programs({
      dataDir: tempDir(),
      env: { PATH: gitWith(tempDir('bin'), 'exit') },
      forbiddenDirectories: () => [],
    });
    const failed = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    await expect(programs.git(() => Promise.reject(failed))).rejects.toBe(failed);
    await expect(programs.git(() => Promise.resolve('git version 2.50.0'))).resolves.toMatchObject({
      version: '2.50.0',
    });
  });

  test('ask for the version once, and again when the program changes', async () => {
    const bin = gitWith(tempDir('bin'), 'echo git version 2.41.0.windows.1');
    const dataDir = tempDir();
    const versions = async (): Promise<string[]> => {
      const asked: string[] = [];
      const programs = new Programs({ dataDir, env: { PATH: bin }, forbiddenDirectories: () => [] });
      const { version } = await programs.git(
        (path) => (asked.push(path), Promise.resolve(`git version ${readFileSync(path, 'utf8').split(' ')[3]!}`)),
      );
      return [version, ...asked];
    };
    expect(await versions()).toEqual(['2.41.0', join(bin, 'git')]);
    expect(await versions()).toEqual(['2.41.0']);
    gitWith(bin, 'echo git version 2.42.0');
    expect(await versions()).toEqual(['2.42.0', join(bin, 'git')]);
    writeFileSync(join(dataDir, 'cache/git-version.json'), '{');
    expect(await versions()).toEqual(['2.42.0', join(bin, 'git')]);
    // What cannot be remembered is no failure.
    rmSync(join(dataDir, 'cache'), { recursive: true });
    writeFileSync(join(dataDir, 'cache'), '');
    expect(await versions()).toEqual(['2.42.0', join(bin, 'git')]);
  });

  test.each([
    { version: '2.35.9', accepted: false },
    { version: '1.99', accepted: false },
    { version: '2.36.0', accepted: true },
    { version: '2.100.1', accepted: true },
    { version: '3.0', accepted: true },
    { version: 'nonsense', accepted: false },
  ])('accept version $version: $accepted', async ({ version, accepted }) => {
    const bin = gitWith(tempDir('bin'), `echo git version ${version}`);
    const dataDir = join(tempDir(), 'data');
    const store = openStore({ dataDir, env: { PATH: bin }, forbiddenProgramDirectories: () => [] });
    if (accepted) expect(await store.gitVersion()).toBe(version);
    else await expect(store.prepare()).rejects.toMatchObject({ code: 'GIT_TOO_OLD', data: { needed: '2.36' } });
    expect(existsSync(join(dataDir, 'store.git'))).toBe(false);
  });

  test('that are missing are named before anything is written', async () => {
    const dataDir = join(tempDir(), 'data');
    const store = openStore({ dataDir, env: { PATH: tempDir('empty') }, forbiddenProgramDirectories: () => [] });
    await expect(store.prepare()).rejects.toMatchObject({ code: 'GIT_MISSING', data: { program: 'git' } });
    expect(existsSync(dataDir)).toBe(false);
  });

  test('may be wrappers whose messages nobody can read', async () => {
    const bin = tempDir('bin');
    const real = process.env['PATH']!.split(':')
      .map((entry) => join(entry, 'git'))
      .find(existsSync)!;
    const script = `#!/bin/bash\nexec 2> >(exec tr a-zA-Z b-zaB-ZA >&2)\nexec '${real}' "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    const { store } = await preparedStore({ env: { PATH: `${bin}:${process.env['PATH']!}` } });
    const commit = await publishSnapshot(store, 1, { a: 'a' });
    await expect(publishSnapshot(store, 1, { a: 'b' })).rejects.toMatchObject({ code: 'REF_EXISTS' });
    await store.checkConnected([commit], []);
    expect(await store.fsck(true)).toEqual([]);
    expect((await store.snapshots(null)).map(({ seq }) => seq)).toEqual([1]);
  });
});
