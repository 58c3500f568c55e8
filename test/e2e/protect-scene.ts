import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type SnapDocument, runSnapJson } from '../support/cli.js';
import { runProcess } from '../support/run-process.js';
import { tempDir } from '../support/temp.js';
import * as user from '../support/user-git.js';

/*
 * What the tests of protected commits share.
 */

export interface Scene {
  readonly area: string;
  readonly dataDir: string;
  readonly mount: string;
  readonly options: { readonly dataDir: string; readonly cwd: string };
}

/** A clone with an upstream, clean. */
export function scene(): Scene {
  const area = tempDir();
  const origin = join(area, 'origin');
  user.createHistory(origin);
  const mount = join(area, 'mount');
  user.cloneRepository(origin, mount);
  return sceneAt(area, mount);
}

export function sceneAt(area: string, mount: string): Scene {
  const dataDir = join(area, 'data');
  return { area, dataDir, mount, options: { dataDir, cwd: mount } };
}

export function ownGit(dataDir: string, args: readonly string[]): ReturnType<typeof runProcess> {
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' };
  return runProcess('git', ['--git-dir', join(dataDir, 'store.git'), ...args], { cwd: dataDir, timeout: 60_000, env });
}

/** The store is sound, and a server that checks objects takes it. */
export function expectSound({ area, dataDir }: Scene): void {
  const { code, stderr } = ownGit(dataDir, ['fsck', '--strict', '--full', '--no-dangling']);
  expect([code, stderr.replace(/^notice.*\n/gm, '').replace(/^Checking .*\n/gm, '')]).toEqual([0, '']);
  const server = join(area, 'server.git');
  rmSync(server, { recursive: true, force: true });
  user.userGit(area, ['init', '--quiet', '--bare', server]);
  user.userGit(server, ['config', 'receive.fsckObjects', 'true']);
  const pushed = ownGit(dataDir, ['push', '--quiet', server, 'refs/jackin/*:refs/jackin/*']);
  expect([pushed.code, pushed.stderr]).toEqual([0, '']);
}

function commitsOn(...branches: readonly string[]): readonly string[] {
  return ['log', '--format=%H %P', ...branches, '--not', '--remotes'];
}

/** What a repository says of itself to git. */
export function stateOf(path: string): Record<string, string> {
  const ask = (args: readonly string[]): string => {
    const run = user.userGit(path, args, { mayFail: true });
    return run.stdout + (run.code === 0 ? '' : `exit ${String(run.code)}`);
  };
  return {
    head: ask(['symbolic-ref', '-q', 'HEAD']),
    commit: ask(['rev-parse', 'HEAD']),
    branches: ask(['for-each-ref', '--format=%(refname) %(objectname) %(upstream)', 'refs/heads']),
    unpushed: ask(commitsOn('--branches', 'HEAD')),
    index: ask(['ls-files', '-s', '-z']),
    flags: ask(['ls-files', '-v', '-z']),
    stashes: ask(['stash', 'list', '--format=%H %gs']),
    staged: ask(['diff', '--cached', '--raw', 'HEAD']),
    status: ask(['status', '--porcelain=v2']),
  };
}

export function expectFsck(path: string): void {
  const run = user.userGit(path, ['fsck', '--strict', '--full', '--no-dangling', '--no-progress'], { mayFail: true });
  expect([run.code, run.stderr, run.stdout.replace(/^notice.*\n/gm, '')]).toEqual([0, '', '']);
}

export function work(mount: string): void {
  user.commitFiles(mount, { 'new/a.txt': 'a\n', 'new/deep/b.txt': 'b\n' }, 'unpushed');
  user.userGit(mount, ['branch', 'topic']);
  user.writeFiles(mount, { 'stashed.txt': 's\n', 'shared.txt': 'stashed\n' });
  user.userGit(mount, ['stash', 'push', '--quiet', '-u', '-m', 'my stash']);
  user.writeFiles(mount, { 'shared.txt': 'second\n' });
  user.userGit(mount, ['stash', 'push', '--quiet', '-m', 'another']);
  user.stageChanges(mount);
}

export async function protectedSave({ options }: Scene, ...more: readonly string[]): Promise<SnapDocument['data']> {
  const saved = await runSnapJson(['save', '--protect-commits', ...more], options);
  expect(saved.document.error).toBeUndefined();
  return { code: saved.code, ...saved.document.data.mounts[0].protected, messages: saved.document.messages };
}

export async function restored({ options }: Scene, ...more: readonly string[]): Promise<SnapDocument['data']> {
  const run = await runSnapJson(['restore', '1', '--git-state', '--yes', ...more], options);
  expect([run.code, run.document.error, run.document.data?.failed]).toEqual([0, undefined, run.document.data?.failed]);
  return run.document.data;
}
