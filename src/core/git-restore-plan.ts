import { displayPath, pathFromJson } from './entry-path.js';
import type { GitState, HeadState, IndexState, StashState } from './git-state.js';
import type { ObjectId } from './ids.js';
import { RefNames } from './ref-names.js';

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
  const taken = new RefNames(question.live.branches.keys());
  const changes = [
    ...(question.live.kind === 'none' ? [{ kind: 'repository' as const }] : []),
    ...branchChanges(question, taken, kept),
    ...takenBack(question, kept),
    ...tagChanges(question, kept),
    ...stashChanges(question, kept),
    ...indexChanges(question, kept),
    ...headChanges(question, taken, kept),
  ];
  return { changes, kept };
}

const noRefName = 'git takes no such name';
const lacksContent = 'its commits need content that is neither in the snapshot nor in the repository';
const atRemote = 'a remote had its commits: git fetch gets them';
const stagedLacks = 'what is staged needs content that is neither in the snapshot nor in the repository';
const isElsewhere = 'another worktree has this branch checked out';
const branchNotMade = 'its branch is not made';

type Why = Pick<KeptGitPart, 'reason' | 'failed'>;

/** @param taken the branches that are there; gets those that are made */
function branchChanges(question: GitRestoreQuestion, taken: RefNames, kept: KeptGitPart[]): GitChange[] {
  const { wanted, live } = question;
  return wanted.branches.flatMap(({ name: json, commit }): GitChange[] => {
    const name = pathFromJson(json);
    const from = live.branches.get(name) ?? null;
    if (from === commit) return [];
    const path = `refs/heads/${name}`;
    const why = whyBranchStays(question, name, from, commit) ?? whyNotBeside(taken, 'refs/heads/', name);
    if (why === undefined) {
      taken.add(name);
      return [{ kind: 'branch', name, from, to: commit }];
    }
    kept.push({ path, ...why });
    return [];
  });
}

function whyBranchStays(
  { live, wanted, isObtainable, isPushed }: GitRestoreQuestion,
  name: string,
  from: ObjectId | null,
  commit: ObjectId,
): Why | undefined {
  if (!isRefName(`refs/heads/${name}`)) return { reason: noRefName, failed: true };
  const isOwn = wanted.head !== null && 'branch' in wanted.head && pathFromJson(wanted.head.branch) === name;
  if (live.elsewhere.has(name)) return { reason: isElsewhere, failed: isOwn };
  if (live.kind === 'worktree' && from !== null && !isOwn)
    return { reason: 'the branch is shared with other worktrees', failed: false };
  if (isObtainable(commit)) return undefined;
  return isPushed(commit) ? { reason: atRemote, failed: false } : { reason: lacksContent, failed: true };
}

/** Git has no ref below another. */
function whyNotBeside(taken: RefNames, prefix: string, name: string): Why | undefined {
  const other = taken.clashWith(name);
  if (other === undefined) return undefined;
  return { reason: `${displayPath(`${prefix}${other}`)} is in its way: git has no ref below another`, failed: true };
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
function tagChanges({ wanted, live, isObtainable }: GitRestoreQuestion, kept: KeptGitPart[]): GitChange[] {
  const isMade = (prefix: string, taken: RefNames, name: string, object: ObjectId): boolean => {
    if (taken.has(name) || !isRefName(`${prefix}${name}`) || !isObtainable(object)) return false;
    const why = whyNotBeside(taken, prefix, name);
    if (why === undefined) taken.add(name);
    else kept.push({ path: `${prefix}${name}`, ...why });
    return why === undefined;
  };
  const takenTags = new RefNames(live.tags);
  const tags = wanted.tags
    .map(({ name, object }) => ({ kind: 'tag' as const, name: pathFromJson(name), to: object }))
    .filter(({ name, to }) => isMade('refs/tags/', takenTags, name, to));
  if (live.kind !== 'none') return tags;
  const takenRemote = new RefNames([]);
  const remote = wanted.remote_branches
    .map(({ name, commit }) => ({ kind: 'remote_branch' as const, name: pathFromJson(name), to: commit }))
    .filter(({ name, to }) => isMade('refs/remotes/', takenRemote, name, to));
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

/** @param taken the branches that are there in the end */
function headChanges(question: GitRestoreQuestion, taken: RefNames, kept: KeptGitPart[]): GitChange[] {
  const { wanted, live } = question;
  const { head } = wanted;
  if (head === null || isSameHead(head, live.head)) return [];
  const { to, why } = whereHeadGoes(question, head, taken);
  if (why !== undefined) kept.push({ path: 'HEAD', ...why });
  return to === null || isSameHead(to, live.head) ? [] : [{ kind: 'head', from: live.head, to }];
}

function isSameHead(a: HeadState, b: HeadState | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

interface HeadAim {
  /** Null: it stays. */
  readonly to: HeadState | null;
  readonly why?: Why;
}

/** A branch that is not to be had leaves HEAD at its commit: without a ref there, the commit would be nobody's. */
function whereHeadGoes({ wanted, live, isObtainable }: GitRestoreQuestion, head: HeadState, taken: RefNames): HeadAim {
  if ('commit' in head)
    return isObtainable(head.commit) ? { to: head } : { to: null, why: { reason: lacksContent, failed: true } };
  const name = pathFromJson(head.branch);
  if (!isRefName(`refs/heads/${name}`)) return { to: null, why: { reason: noRefName, failed: true } };
  const commit = wanted.branches.find((branch) => pathFromJson(branch.name) === name)?.commit;
  const reason = whyNotOnBranch(live, name, commit, taken);
  if (reason === undefined) return { to: head };
  if (commit !== undefined && isObtainable(commit))
    return { to: { commit }, why: { reason: `${reason}: it is detached at the commit`, failed: true } };
  // A repository that is made has to have one.
  return live.kind === 'none' ? { to: head } : { to: null, why: { reason, failed: true } };
}

function whyNotOnBranch(
  { elsewhere }: LiveGitState,
  name: string,
  commit: ObjectId | undefined,
  taken: RefNames,
): string | undefined {
  if (elsewhere.has(name)) return isElsewhere;
  if (taken.has(name)) return undefined;
  return commit === undefined ? whyNotBeside(taken, 'refs/heads/', name)?.reason : branchNotMade;
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
