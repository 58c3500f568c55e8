import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProcessRun } from './run-process.js';
import { runProcess } from './run-process.js';

// Repositories as users have them, made with git itself. Identity and dates are fixed, so that ids are the same in
// every run; no configuration of the machine has a say.

export interface UserGitOptions {
  readonly stdin?: string | Uint8Array;
  /** Return a failure in place of throwing. */
  readonly mayFail?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RepositoryOptions {
  /** Default `sha1`. */
  readonly objectFormat?: 'sha1' | 'sha256';
  /** Default `main`. */
  readonly branch?: string;
}

/** Contents by path; text is written as UTF-8. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Runs git in a directory, as its user would. A failure throws. */
export function userGit(cwd: string, args: readonly string[], options: UserGitOptions = {}): ProcessRun {
  const run = runProcess('git', args, {
    cwd,
    env: { ...userEnvironment, ...options.env },
    timeout: 120_000,
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
  });
  if (run.code === 0 || options.mayFail === true) return run;
  throw new Error(`git ${args.join(' ')} exited with ${run.code ?? run.signal}: ${run.stderr}${run.stdout}`);
}

/** What git prints, without the line ending. */
export function userGitText(cwd: string, args: readonly string[]): string {
  return userGit(cwd, args).stdout.replace(/\n$/, '');
}

const userEnvironment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  GIT_AUTHOR_NAME: 'A User',
  GIT_AUTHOR_EMAIL: 'user@example.com',
  GIT_AUTHOR_DATE: '2024-01-02T03:04:05Z',
  GIT_COMMITTER_NAME: 'A User',
  GIT_COMMITTER_EMAIL: 'user@example.com',
  GIT_COMMITTER_DATE: '2024-01-02T03:04:05Z',
};

/** A new repository without a commit: its HEAD is an unborn branch. */
export function createRepository(path: string, options: RepositoryOptions = {}): void {
  mkdirSync(path, { recursive: true });
  const format = `--object-format=${options.objectFormat ?? 'sha1'}`;
  userGit(path, ['init', '--quiet', format, `--initial-branch=${options.branch ?? 'main'}`]);
}

/** Writes files below a directory, with the directories that they need. */
export function writeFiles(path: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
}

/** Writes files, stages everything and commits; answers the commit's id. */
export function commitFiles(repository: string, files: Files, message = 'work'): string {
  writeFiles(repository, files);
  userGit(repository, ['add', '--all', '--force', '--', ...Object.keys(files)]);
  userGit(repository, ['commit', '--quiet', '--allow-empty', '-m', message]);
  return userGitText(repository, ['rev-parse', 'HEAD']);
}

/** A repository with two commits on main and a branch `other` that changes the same line of `shared.txt`. */
export function createHistory(path: string, options: RepositoryOptions = {}): void {
  createRepository(path, options);
  commitFiles(path, { 'README.md': '# Project\n', 'shared.txt': 'base\n', 'src/main.c': 'int main;\n' }, 'first');
  userGit(path, ['branch', 'other']);
  commitFiles(path, { 'shared.txt': 'ours\n', 'src/more.c': 'int more;\n' }, 'second');
  userGit(path, ['switch', '--quiet', 'other']);
  commitFiles(path, { 'shared.txt': 'theirs\n' }, 'other');
  userGit(path, ['switch', '--quiet', options.branch ?? 'main']);
}

/** A clone with a remote `origin` and an upstream. */
export function cloneRepository(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  userGit(dirname(to), [...localProtocol, 'clone', '--quiet', from, to]);
}

/** A tracked file edited, untracked files in old and new directories. */
export function makeDirty(repository: string): void {
  writeFiles(repository, { 'shared.txt': 'edited, not staged\n', 'untracked.txt': 'new\n', 'new/dir/file': 'deep\n' });
}

/** Three kinds of staged change: an edit that was edited again, a new file, a removal. */
export function stageChanges(repository: string): void {
  writeFiles(repository, { 'shared.txt': 'staged\n', 'staged.txt': 'staged and new\n' });
  userGit(repository, ['add', '--', 'shared.txt', 'staged.txt']);
  userGit(repository, ['rm', '--quiet', '--cached', '--', 'README.md']);
  writeFiles(repository, { 'shared.txt': 'edited after staging\n' });
}

/** Adds a submodule, whose `.git` is a file, and commits it. */
export function addSubmodule(repository: string, from: string, path: string): void {
  userGit(repository, [...localProtocol, 'submodule', '--quiet', 'add', '--', from, path]);
  userGit(repository, ['commit', '--quiet', '-m', `add ${path}`]);
}

/** A linked worktree on a new branch; its `.git` is a file. */
export function addWorktree(repository: string, path: string, branch: string): void {
  userGit(repository, ['worktree', 'add', '--quiet', '-b', branch, '--', path]);
}

/** The text that git-lfs leaves in a working tree where the content was not fetched. */
export function lfsPointer(sha256: string, size: number): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`;
}

/**
 * Attributes and configuration whose filters would change content, both ways, and leave a file `marker` if anybody ran
 * them. The files themselves hold what stands on disk, not what git stored.
 */
export function addFilters(repository: string, marker: string): void {
  const lines = [
    '*.bin filter=lfs diff=lfs merge=lfs -text',
    '*.secret filter=crypt',
    '*.txt text eol=crlf',
    '*.id ident',
  ];
  const trap = `touch '${marker}'; tr a-z A-Z`;
  commitFiles(repository, {
    '.gitattributes': `${lines.join('\n')}\n`,
    'large.bin': lfsPointer('ab'.repeat(32), 123_456),
    'plain.secret': 'hushed text\n',
    'version.id': '$Id$\n',
  });
  writeFiles(repository, { 'lines.txt': 'a\r\nb\r\n', 'large.bin': new Uint8Array(3000).fill(7) });
  for (const name of ['lfs', 'crypt']) {
    for (const way of ['clean', 'smudge']) userGit(repository, ['config', `filter.${name}.${way}`, trap]);
    userGit(repository, ['config', `diff.${name}.textconv`, trap]);
  }
}

/** A merge that stopped at a conflict. Needs `createHistory`. */
export function startMerge(repository: string): void {
  expectConflict(userGit(repository, ['merge', '--quiet', 'other'], { mayFail: true }));
}

/** A rebase that stopped at a conflict: HEAD is detached meanwhile. Needs `createHistory`. */
export function startRebase(repository: string): void {
  expectConflict(userGit(repository, ['rebase', '--quiet', 'other'], { mayFail: true }));
}

/** A cherry-pick that stopped at a conflict. Needs `createHistory`. */
export function startCherryPick(repository: string): void {
  expectConflict(userGit(repository, ['cherry-pick', 'other'], { mayFail: true }));
}

/** A revert that stopped at a conflict. Needs `createHistory`. */
export function startRevert(repository: string): void {
  commitFiles(repository, { 'shared.txt': 'third\n' }, 'third');
  expectConflict(userGit(repository, ['revert', '--no-edit', 'HEAD~1'], { mayFail: true }));
}

/** A bisection that waits for an answer. Needs `createHistory`. */
export function startBisect(repository: string): void {
  commitFiles(repository, { 'third.txt': 'x\n' }, 'third');
  commitFiles(repository, { 'fourth.txt': 'x\n' }, 'fourth');
  userGit(repository, ['bisect', 'start', 'HEAD', 'HEAD~3']);
}

export function detachHead(repository: string): void {
  userGit(repository, ['switch', '--quiet', '--detach']);
}

/** HEAD on a branch that has no commit yet, in a repository that has others. */
export function makeUnborn(repository: string): void {
  userGit(repository, ['switch', '--quiet', '--orphan', 'unborn']);
}

/** All refs in `packed-refs`, none as a file. */
export function packRefs(repository: string): void {
  userGit(repository, ['pack-refs', '--all', '--prune']);
}

/** All objects in one pack, none loose. */
export function packObjects(repository: string): void {
  userGit(repository, ['repack', '--quiet', '-a', '-d']);
}

export function useIndexVersion(repository: string, version: 2 | 3 | 4): void {
  // Version 3 is what git writes when an entry needs it, as one that is only intended to be added does.
  if (version === 3) {
    writeFiles(repository, { 'intended.txt': 'x\n' });
    userGit(repository, ['add', '--intent-to-add', '--', 'intended.txt']);
  } else {
    userGit(repository, ['update-index', '--index-version', String(version)]);
  }
}

/** The index refers to a shared one beside it. */
export function useSplitIndex(repository: string): void {
  userGit(repository, ['update-index', '--split-index']);
}

/** The index holds directories in place of the files outside the cone `src`. */
export function useSparseIndex(repository: string): void {
  commitFiles(repository, { 'outside/a/file': 'x\n', 'outside/b/file': 'x\n' }, 'outside');
  userGit(repository, ['sparse-checkout', 'init', '--cone', '--sparse-index']);
  userGit(repository, ['sparse-checkout', 'set', 'src']);
}

const localProtocol = ['-c', 'protocol.file.allow=always'];

function expectConflict(run: ProcessRun): void {
  if (run.code === 0) throw new Error(`Expected a conflict, but git went through: ${run.stdout}`);
}
