import { Buffer } from 'node:buffer';
import { realpathSync } from 'node:fs';

import type { LiveGitState } from '../../core/git-restore-plan.js';
import { pathFromJson } from '../../core/entry-path.js';
import type { EntryStat } from '../../core/entry.js';
import { systemCode } from '../../errors.js';
import { type RepositoryFacts, below, readFacts } from './git-state.js';
import { GuardedDirectory } from './guarded-directory.js';
import { parseIndex } from './index-file.js';
import { type Location, locate } from './location.js';
import { readHead } from './refs.js';
import { RepositoryObjects } from './repository-objects.js';
import { stateOfIndex } from './staged-tree.js';

/** In a repository that is being made: it is none before this is gone. */
export const unfinishedMark = 'jackin-snap-unfinished';

/** A repository that a git state is restored into. */
export interface GitTarget {
  readonly live: LiveGitState;
  /** The repository; null where one has to be made. */
  readonly location: Location | null;
  readonly objects: RepositoryObjects | null;
  close(): void;
}

export interface TargetRequest {
  readonly directory: { readonly descriptorPath: string; stat(name: string): EntryStat | undefined };
  /** The folder's real path, bytes. */
  readonly path: string;
}

const none: LiveGitState = {
  kind: 'none',
  head: null,
  branches: new Map(),
  tags: new Set(),
  stashes: [],
  index: null,
  elsewhere: new Set(),
  operation: null,
};

/** The repository of a folder, or why nothing is written to it. */
export async function openTarget(request: TargetRequest): Promise<GitTarget | { readonly refused: string }> {
  const kind = request.directory.stat('.git')?.kind;
  const nobody: GitTarget = { live: none, location: null, objects: null, close: () => undefined };
  if (kind === undefined) return nobody;
  if (kind !== 'directory' && kind !== 'file') return { refused: 'its .git is neither a folder nor a file' };
  if (kind === 'directory' && isUnfinished(request.directory.descriptorPath)) return nobody;
  const located = locate(request.directory.descriptorPath, kind);
  if (located.kind !== 'read')
    return { refused: located.kind === 'unreadable' ? located.why : 'no repository is where its .git leads' };
  const location = located.value;
  const opened = await openLocated(location, kind, request.path);
  if ('refused' in opened) location.close();
  return opened;
}

function isUnfinished(folder: string): boolean {
  const git = GuardedDirectory.open(`${folder}/.git`);
  if (git.kind !== 'read') return false;
  try {
    return git.value.exists(unfinishedMark);
  } finally {
    git.value.close();
  }
}

async function openLocated(
  location: Location,
  kind: 'directory' | 'file',
  path: string,
): Promise<GitTarget | { readonly refused: string }> {
  const foreign = kind === 'file' ? whyForeign(location, path) : whyOdd(location);
  if (foreign !== undefined) return { refused: foreign };
  const facts = readFacts(location);
  if ('unreadable' in facts) return { refused: facts.unreadable };
  if (facts.head === null) return { refused: facts.problems[0] ?? 'its HEAD cannot be read' };
  const index = facts.index.kind === 'read' ? parseIndex(facts.index.value, 0n) : facts.index;
  if (index.kind === 'unreadable') return { refused: index.why };
  const objects = new RepositoryObjects(location.commonDir);
  const live: LiveGitState = {
    kind: kind === 'file' ? 'worktree' : 'clone',
    head: facts.head,
    branches: new Map(below(facts.refs, 'refs/heads/')),
    tags: new Set(below(facts.refs, 'refs/tags/').map(([name]) => name)),
    stashes: facts.stashes,
    index: index.kind === 'read' ? await stateOfIndex(index.value) : null,
    elsewhere: checkedOutElsewhere(location, kind, facts),
    operation: facts.operation,
  };
  const close = (): void => {
    objects.close();
    location.close();
  };
  return { live, location, objects, close };
}

function whyOdd({ gitDirPath, commonDirPath }: Location): string | undefined {
  return gitDirPath === commonDirPath ? undefined : 'its .git folder leads to another repository';
}

/**
 * A `.git` file may lead to anybody's repository. It is ours to write only if that one says that this folder is one of
 * its worktrees, as git has it on both sides.
 */
function whyForeign({ gitDir, gitDirPath, commonDirPath }: Location, path: string): string | undefined {
  const back = gitDir.read('gitdir', 64 * 1024);
  const leadsBack = back.kind === 'read' && back.value.toString('latin1').replace(/[\r\n]+$/, '');
  const admin = realPath(gitDirPath);
  const common = realPath(commonDirPath);
  const isOneOfIts =
    admin !== undefined && common !== undefined && admin.slice(0, admin.lastIndexOf('/')) === `${common}/worktrees`;
  if (isOneOfIts && leadsBack === `${path}/.git`) return undefined;
  return 'the repository that its .git file leads to does not know it as a worktree';
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(Buffer.from(path, 'latin1'), 'latin1');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

function checkedOutElsewhere(
  { commonDir, gitDirPath }: Location,
  kind: 'directory' | 'file',
  { head }: RepositoryFacts,
): Set<string> {
  const own = kind === 'file' ? gitDirPath.slice(gitDirPath.lastIndexOf('/') + 1) : null;
  const names = commonDir.list('worktrees');
  const others = names.kind === 'read' ? names.value.filter((name) => name !== own) : [];
  const branches = others.map((name) => branchAt(commonDir, `worktrees/${name}`));
  if (own !== null) branches.push(branchOf(commonDir));
  const found = new Set(branches.filter((name) => name !== undefined));
  // What is checked out twice is checked out here, too.
  if (head !== null && 'branch' in head) found.delete(pathFromJson(head.branch));
  return found;
}

function branchAt(commonDir: GuardedDirectory, path: string): string | undefined {
  const entered = commonDir.enter(path);
  if (entered.kind !== 'read') return undefined;
  try {
    return branchOf(entered.value);
  } finally {
    entered.value.close();
  }
}

function branchOf(gitDir: GuardedDirectory): string | undefined {
  const head = readHead(gitDir);
  if (head.kind !== 'read' || !('ref' in head.value)) return undefined;
  return /^refs\/heads\/([^]+)$/.exec(head.value.ref)?.[1];
}
