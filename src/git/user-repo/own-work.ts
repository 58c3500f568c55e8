import type { Buffer } from 'node:buffer';

import type { RepositoryWork } from '../../core/assessment.js';
import type { ObjectId } from '../../core/ids.js';
import type { RepositoryConfig } from './config-file.js';
import type { GuardedDirectory, Reading } from './guarded-directory.js';
import type { Location } from './location.js';

/*
 * What of a repository is one linked worktree's. All worktrees share branches and stashes, and those stay when one of them
 * goes. The log of its HEAD, which is its own, tells what was checked out and committed in it.
 */

/** Null: all of it is, or may be. */
export type OwnWork = {
  /** Names without `refs/heads/`. */
  readonly branches: ReadonlySet<string>;
  /** What was committed here: a branch that ends there was made of this work, checked out or not. */
  readonly commits: ReadonlySet<string>;
} | null;

export const everything: OwnWork = null;

const logLimit = 64 * 1024 * 1024;

/** Where the log cannot tell, everything. */
export function ownWork(
  { gitDir, gitDirPath, commonDirPath }: Location,
  work: Pick<RepositoryWork, 'head' | 'branch'>,
  config: RepositoryConfig,
  unknown: string[],
): OwnWork {
  if (gitDirPath === commonDirPath || isLogOff(config)) return everything;
  const log = headLog(gitDir);
  switch (log.kind) {
    case 'unreadable':
      unknown.push(`the log of its HEAD: ${log.why}`);
      return everything;
    case 'absent':
      // One that we made has none before something is checked out or committed in it.
      return work.head === originalHead(gitDir) ? toldBy('', work) : everything;
    case 'read':
      // One without a line has lost those that it had: they were expired.
      return log.value.length === 0 ? everything : toldBy(log.value.toString('latin1'), work);
  }
}

function toldBy(log: string, { branch }: Pick<RepositoryWork, 'branch'>): OwnWork {
  const branches = new Set<string>(branch === null ? [] : [branch]);
  const commits = new Set<string>();
  for (const { to, message } of logLines(log)) {
    for (const name of namedIn(message)) branches.add(name);
    if (isCommitting(message)) commits.add(to);
  }
  return { branches, commits };
}

function originalHead(gitDir: GuardedDirectory): string | null {
  const file = gitDir.read('ORIG_HEAD', 1024);
  return file.kind === 'read' ? file.value.toString('latin1').trim() : null;
}

export function headLog(gitDir: GuardedDirectory): Reading<Buffer> {
  return gitDir.read('logs/HEAD', logLimit);
}

export interface LogLine {
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

export function logLines(log: string): LogLine[] {
  return log.split('\n').flatMap((line) => {
    const [, from, to, message] = logLine.exec(line) ?? [];
    return from === undefined || to === undefined || message === undefined ? [] : [{ from, to, message }];
  });
}

const logLine = /^([0-9a-f]{40}) ([0-9a-f]{40}) [^\t]*\t(.*)$/;

/** Whether a step of HEAD's log made a new commit; a checkout, a reset or a merge may lead to somebody else's. */
export function isCommitting(message: string): boolean {
  return /^(?:commit|cherry-pick|revert|am)\b|^rebase (?:-i )?\((?!start|finish|abort)/.test(message);
}

function namedIn(message: string): string[] {
  const moved = /^checkout: moving from (\S+) to (\S+)$/.exec(message);
  const renamed = /^Branch: renamed refs\/heads\/(\S+) to refs\/heads\/(\S+)$/.exec(message);
  const returned = /returning to refs\/heads\/(\S+)$/.exec(message);
  return [moved, renamed, returned].flatMap((found) => (found === null ? [] : found.slice(1)));
}

function isLogOff(config: RepositoryConfig): boolean {
  return /^(?:false|no|off|0)$/i.test(config.get('core', null, 'logallrefupdates') ?? '');
}

export function isOwnBranch(own: OwnWork, name: string, tip: ObjectId): boolean {
  return own === null || own.branches.has(name) || own.commits.has(tip);
}

/** A stash says on which branch it was made; one that does not may be of any worktree. */
export function isOwnStash(own: OwnWork, line: string): boolean {
  const branch = /\t(?:WIP on|On) (\S+): /.exec(line)?.[1];
  return own === null || branch === undefined || own.branches.has(branch);
}
