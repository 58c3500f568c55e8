import { pathFromJson } from './entry-path.js';
import type { GitState, HeadState, IndexState, StashState } from './git-state.js';
import type { ObjectId } from './ids.js';

/*
 * From a snapshot's git state and the repository as it is to the changes that lead there. Decides only; names are bytes.
 */

export interface LiveGitState {
  /** `none`: there is no repository, so that one is made; `worktree`: refs and stashes are shared with others. */
  readonly kind: 'none' | 'clone' | 'worktree';
  readonly head: HeadState | null;
  readonly branches: ReadonlyMap<string, ObjectId>;
  readonly tags: ReadonlySet<string>;
  readonly stashes: readonly StashState[];
  readonly index: IndexState | null;
  /** Branches that other worktrees have checked out. */
  readonly elsewhere: ReadonlySet<string>;
  /** An operation in progress, which would go on from what is not there any more. */
  readonly operation: string | null;
}

export type GitChange =
  | { readonly kind: 'repository' }
  | { readonly kind: 'branch'; readonly name: string; readonly from: ObjectId | null; readonly to: ObjectId | null }
  | { readonly kind: 'tag'; readonly name: string; readonly to: ObjectId }
  | { readonly kind: 'remote_branch'; readonly name: string; readonly to: ObjectId }
  | { readonly kind: 'stashes'; readonly from: readonly StashState[]; readonly to: readonly StashState[] }
  | { readonly kind: 'index'; readonly to: IndexState }
  | { readonly kind: 'head'; readonly from: HeadState | null; readonly to: HeadState };

export interface KeptGitPart {
  /** A path below `.git`. */
  readonly path: string;
  readonly reason: string;
  /** It should have been restored. */
  readonly failed: boolean;
}

export interface GitRestorePlan {
  /** In the order in which they are made. */
  readonly changes: readonly GitChange[];
  /** What stays as it is although the snapshot has another. */
  readonly kept: readonly KeptGitPart[];
}

export interface GitRestoreQuestion {
  readonly wanted: GitState;
  readonly live: LiveGitState;
  /** Whether the commit and all that it needs will be there. */
  readonly isObtainable: (oid: ObjectId) => boolean;
  /** Whether a remote had the commit, so that the snapshot need not hold it. */
  readonly isPushed: (oid: ObjectId) => boolean;
  /** Whether all that is staged will be there. */
  readonly isIndexObtainable: boolean;
  /** Branches that the restore which is taken back had made, by the commit that it put there. */
  readonly madeBefore: ReadonlyMap<string, ObjectId>;
}

export function planGitRestore(question: GitRestoreQuestion): GitRestorePlan {
  const kept: KeptGitPart[] = [];
  const changes = [
    ...(question.live.kind === 'none' ? [{ kind: 'repository' as const }] : []),
    ...branchChanges(question, kept),
    ...takenBack(question, kept),
    ...tagChanges(question),
    ...stashChanges(question, kept),
    ...indexChanges(question, kept),
    ...headChanges(question, kept),
  ];
  return { changes, kept };
}

const noRefName = 'git takes no such name';
const lacksContent = 'its commits need content that is neither in the snapshot nor in the repository';
const atRemote = 'a remote had its commits: git fetch gets them';
const stagedLacks = 'what is staged needs content that is neither in the snapshot nor in the repository';
const failures: ReadonlySet<string> = new Set([noRefName, lacksContent]);

function branchChanges(question: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  const { wanted, live } = question;
  return wanted.branches.flatMap(({ name: json, commit }): GitChange[] => {
    const name = pathFromJson(json);
    const from = live.branches.get(name) ?? null;
    if (from === commit) return [];
    const reason = whyBranchStays(question, name, from, commit);
    if (reason === undefined) return [{ kind: 'branch', name, from, to: commit }];
    kept.push({ path: `refs/heads/${name}`, reason, failed: failures.has(reason) });
    return [];
  });
}

function whyBranchStays(
  { live, wanted, isObtainable, isPushed }: GitRestoreQuestion,
  name: string,
  from: ObjectId | null,
  commit: ObjectId,
): string | undefined {
  if (!isRefName(`refs/heads/${name}`)) return noRefName;
  if (live.elsewhere.has(name)) return 'another worktree has this branch checked out';
  const isOwn = wanted.head !== null && 'branch' in wanted.head && pathFromJson(wanted.head.branch) === name;
  if (live.kind === 'worktree' && from !== null && !isOwn) return 'the branch is shared with other worktrees';
  if (isObtainable(commit)) return undefined;
  return isPushed(commit) ? atRemote : lacksContent;
}

/** Branches that were made by what is taken back, as long as nobody has gone on with them. */
function takenBack({ wanted, live, madeBefore }: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  const known = new Set(wanted.branches.map(({ name }) => pathFromJson(name)));
  return [...madeBefore].flatMap(([name, commit]): GitChange[] => {
    const from = live.branches.get(name);
    if (known.has(name) || from === undefined) return [];
    if (from === commit && !live.elsewhere.has(name)) return [{ kind: 'branch', name, from, to: null }];
    kept.push({ path: `refs/heads/${name}`, reason: 'the branch was changed since it was restored', failed: false });
    return [];
  });
}

/** Tags are made where they are missing; none is moved. In a new repository what the remote had is noted, too. */
function tagChanges({ wanted, live, isObtainable }: GitRestoreQuestion): GitChange[] {
  const tags = wanted.tags.flatMap(({ name: json, object }): GitChange[] => {
    const name = pathFromJson(json);
    return live.tags.has(name) || !isRefName(`refs/tags/${name}`) || !isObtainable(object)
      ? []
      : [{ kind: 'tag', name, to: object }];
  });
  const remote = wanted.remote_branches.flatMap(({ name, commit }): GitChange[] =>
    live.kind === 'none' && isRefName(`refs/remotes/${pathFromJson(name)}`) && isObtainable(commit)
      ? [{ kind: 'remote_branch', name: pathFromJson(name), to: commit }]
      : [],
  );
  return [...tags, ...remote];
}

function stashChanges({ wanted, live, isObtainable }: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  const isThere = new Set(live.stashes.map(({ commit }) => commit));
  const lacking = wanted.stashes.filter(({ commit }) => !isThere.has(commit) && !isObtainable(commit));
  for (const { commit } of lacking) kept.push({ path: `refs/stash ${commit}`, reason: lacksContent, failed: true });
  const obtainable = wanted.stashes.filter((stash) => !lacking.includes(stash));
  const known = new Set(obtainable.map(({ commit }) => commit));
  // A list that is shared with other worktrees only grows.
  const others = live.kind === 'worktree' ? live.stashes.filter(({ commit }) => !known.has(commit)) : [];
  const to = [...others, ...obtainable];
  const isSame = to.length === live.stashes.length && to.every(({ commit }, at) => live.stashes[at]?.commit === commit);
  return isSame ? [] : [{ kind: 'stashes', from: live.stashes, to }];
}

function indexChanges({ wanted, live, isIndexObtainable }: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  if (wanted.index === null || isSameIndex(wanted.index, live.index)) return [];
  if (isIndexObtainable) return [{ kind: 'index', to: wanted.index }];
  kept.push({ path: 'index', reason: stagedLacks, failed: true });
  return [];
}

function isSameIndex(a: IndexState, b: IndexState | null): boolean {
  return b !== null && a.tree === b.tree && JSON.stringify(a.entries) === JSON.stringify(b.entries);
}

function headChanges({ wanted, live, isObtainable }: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  const to = wanted.head;
  if (to === null || JSON.stringify(to) === JSON.stringify(live.head)) return [];
  const reason = whyHeadStays(to, live, isObtainable);
  if (reason === undefined) return [{ kind: 'head', from: live.head, to }];
  kept.push({ path: 'HEAD', reason, failed: failures.has(reason) });
  return [];
}

function whyHeadStays(to: HeadState, live: LiveGitState, isObtainable: (oid: ObjectId) => boolean): string | undefined {
  if ('commit' in to) return isObtainable(to.commit) ? undefined : lacksContent;
  if (!isRefName(`refs/heads/${pathFromJson(to.branch)}`)) return noRefName;
  return live.elsewhere.has(pathFromJson(to.branch)) ? 'another worktree has this branch checked out' : undefined;
}

/** What `git check-ref-format` takes. @param name bytes */
export function isRefName(name: string): boolean {
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name)) return false;
  return name
    .split('/')
    .every((part) => part !== '' && part !== '@' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Below `.git`, as plans name it. */
export function pathOfChange(change: GitChange): string {
  switch (change.kind) {
    case 'repository':
      return '';
    case 'branch':
      return `refs/heads/${change.name}`;
    case 'tag':
      return `refs/tags/${change.name}`;
    case 'remote_branch':
      return `refs/remotes/${change.name}`;
    case 'stashes':
      return 'refs/stash';
    case 'index':
      return 'index';
    case 'head':
      return 'HEAD';
  }
}
