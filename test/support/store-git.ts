import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessRun } from './run-process.js';
import { runProcess } from './run-process.js';
import { withTempDir } from './temp.js';

export interface StoreGitOptions {
  readonly stdin?: string | Uint8Array;
  /** Return a failure in place of throwing. */
  readonly mayFail?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PushOutcome {
  readonly accepted: boolean;
  readonly output: string;
  /** The refs that the server has afterwards, with their ids. */
  readonly refs: ReadonlyMap<string, string>;
}

/** Runs stock git on the store of a data directory, as a stranger with no configuration would. */
export function storeGit(dataDir: string, args: readonly string[], options: StoreGitOptions = {}): ProcessRun {
  return strangersGit(['--git-dir', join(dataDir, 'store.git'), ...args], options);
}

/** What `git fsck --strict` has to say, a line each; empty when the store is clean. */
export function fsckStrict(dataDir: string): string[] {
  return complaints(storeGit(dataDir, ['fsck', '--strict', '--full', '--no-dangling'], { mayFail: true }));
}

/**
 * Pushes all snapshots to a new bare repository that checks every object, as public servers do, and has it checked
 * there once more.
 */
export async function pushToStrictServer(dataDir: string): Promise<PushOutcome> {
  return withTempDir((area) => {
    const server = join(area, 'server.git');
    makeStrictServer(server);
    const pushed = storeGit(dataDir, ['push', '--porcelain', server, 'refs/jackin/*:refs/jackin/*'], { mayFail: true });
    const checked = strangersGit(['--git-dir', server, 'fsck', '--strict', '--full'], { mayFail: true });
    const problems = complaints(checked);
    return {
      accepted: pushed.code === 0 && problems.length === 0,
      output: [pushed.stdout, pushed.stderr, ...problems].join('\n'),
      refs: refsOf(server),
    };
  }, 'server');
}

/** Makes a bare repository that refuses objects that `git fsck --strict` would complain about. */
export function makeStrictServer(gitDir: string): void {
  mkdirSync(gitDir, { recursive: true });
  strangersGit(['init', '--quiet', '--bare', gitDir]);
  for (const key of ['receive.fsckObjects', 'transfer.fsckObjects', 'fetch.fsckObjects']) {
    strangersGit(['--git-dir', gitDir, 'config', key, 'true']);
  }
}

/** Every ref of a repository with its id. */
export function refsOf(gitDir: string): Map<string, string> {
  const { stdout } = strangersGit(['--git-dir', gitDir, 'for-each-ref', '--format=%(refname) %(objectname)']);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

function complaints(run: ProcessRun): string[] {
  const lines = `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => line !== '' && !line.startsWith('notice:'));
  return run.code === 0 ? lines : [`git exited with ${run.code ?? run.signal}.`, ...lines];
}

function strangersGit(args: readonly string[], options: StoreGitOptions = {}): ProcessRun {
  const run = runProcess('git', args, {
    cwd: '/',
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: '/nonexistent',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      ...options.env,
    },
    timeout: 300_000,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
  });
  if (run.code === 0 || options.mayFail === true) return run;
  throw new Error(`git ${args.join(' ')} exited with ${run.code ?? run.signal}: ${run.stderr}`);
}
