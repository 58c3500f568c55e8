import type { EntryPath, HostPath } from './entry-path.js';
import type { InstanceName, MountName, ObjectId } from './ids.js';
import type { DirtyExitPolicy } from './jackin/configuration.js';
import type { MountKind, SnapshotPointer } from './results.js';

/*
 * What would be lost with a mount, by what was seen of it. Fails closed: what could not be seen counts as work that only
 * this mount has.
 */

/** `saved` and `dirty` of a folder without a repository are by its last snapshot. */
export type Verdict = 'clean' | 'saved' | 'dirty' | 'unpushed';

/** A local branch. Names are bytes. */
export interface BranchWork {
  readonly name: string;
  readonly tip: ObjectId;
  /** What is checked out here. */
  readonly current: boolean;
  /** `remote/branch`, or a local branch; null where it has none that can be made out. */
  readonly upstream: string | null;
  /** The upstream is configured, and no ref has it any more. */
  readonly gone: boolean;
  /** Commits beyond the upstream, as it was last fetched; null without one, or where they cannot be counted. */
  readonly ahead: number | null;
  /**
   * Whether a remote-tracking ref reaches the tip, where the upstream is no such ref but, say, a local branch; false also
   * where that cannot be known. Null where the upstream is one, or there is none.
   */
  readonly held: boolean | null;
  /** The repository's, and not this linked worktree's: it stays, whatever becomes of the worktree. */
  readonly elsewhere: boolean;
}

/** What a repository holds besides its files; `unknown` says in words what could not be read. */
export interface RepositoryWork {
  readonly head: ObjectId | null;
  /** The branch that is checked out; null where HEAD names a commit. Bytes. */
  readonly branch: string | null;
  readonly detached: boolean;
  /** A branch or a remote-tracking ref reaches HEAD. */
  readonly headIsHeld: boolean;
  readonly branches: readonly BranchWork[];
  /** Made in this linked worktree on no branch, left by a checkout, and reached by no ref: its log alone leads there. */
  readonly left: readonly ObjectId[];
  /** In a linked worktree, without those that were certainly made elsewhere. */
  readonly stashes: number;
  readonly operation: string | null;
  readonly unknown: readonly string[];
}

/** A file that `git status` would name. `status` is as there: two letters, of the index and of the folder. */
export interface FileChange {
  readonly path: EntryPath;
  readonly status: string;
}

/** One thing that would be lost. `branch` (bytes) where it is a branch. */
export interface Risk {
  readonly branch: string | null;
  readonly why: string;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly risks: readonly Risk[];
}

/**
 * In the order of jackin's own assessment of worktrees: dirty; then every branch; then a HEAD away from the base.
 * @param base the commit that the mount was made from, where one is known: what is there is no new work
 * @param dirty null where it cannot be known
 */
export function judgeRepository(work: RepositoryWork, dirty: boolean | null, base: ObjectId | null): Judgement {
  const unpushed = [
    ...work.unknown.map(unobserved),
    ...(dirty === null ? [unobserved('whether files are changed')] : []),
    ...branchRisks(work, base),
    ...headRisks(work, base),
    ...work.left.map((oid) => risk(`commits at ${oid.slice(0, 12)}, which HEAD left and no branch reaches`)),
    ...(work.stashes === 0 ? [] : [risk(`${String(work.stashes)} stashed`)]),
    ...(work.operation === null ? [] : [risk(`in the middle of a ${work.operation}`)]),
  ];
  if (dirty === true) return { verdict: 'dirty', risks: [risk('uncommitted changes'), ...unpushed] };
  return { verdict: unpushed.length === 0 ? 'clean' : 'unpushed', risks: unpushed };
}

/** What could not be seen at all. */
export function unobservable(why: string): Judgement {
  return { verdict: 'unpushed', risks: [unobserved(why)] };
}

/** How a folder without a repository compares with its last snapshot; null where it could not be compared. */
export function judgeFolder(changed: boolean | null, why: readonly string[]): Judgement {
  if (changed === true) return { verdict: 'dirty', risks: [risk('changed since the last snapshot')] };
  if (changed === null || why.length > 0) return { verdict: 'unpushed', risks: why.map(unobserved) };
  return { verdict: 'saved', risks: [] };
}

/** @param lost what is gone from the folder and in no snapshot, in words */
export function withLoss(judgement: Judgement, lost: string | null): Judgement {
  if (lost === null) return judgement;
  return { verdict: worstOf(judgement.verdict, ['unpushed']), risks: [...judgement.risks, risk(lost)] };
}

/** A mount is as bad as the worst in it: dirty, then unpushed. */
export function worstOf(own: Verdict, others: readonly Verdict[]): Verdict {
  const all = [own, ...others];
  return all.find((one) => one === 'dirty') ?? all.find((one) => one === 'unpushed') ?? own;
}

function branchRisks({ branches }: RepositoryWork, base: ObjectId | null): Risk[] {
  if (branches.length === 0) return [risk('it has no branch')];
  const own = branches.filter(({ elsewhere }) => !elsewhere);
  return own.flatMap((branch) => {
    const why = branchRisk(branch, base);
    return why === null ? [] : [{ branch: branch.name, why }];
  });
}

function branchRisk({ tip, upstream, gone, ahead, held }: BranchWork, base: ObjectId | null): string | null {
  if (tip === base) return null;
  if (upstream === null) return 'no upstream';
  // A branch of this very repository goes with it, and says nothing of what is anywhere else.
  if (held !== null) return held ? null : 'its upstream is in this repository, and no remote has its commits';
  if (gone) return null;
  if (ahead === null) return `could not be observed: how far it is ahead of its upstream`;
  return ahead === 0 ? null : `${String(ahead)} ahead of its upstream`;
}

function headRisks({ detached, head, headIsHeld }: RepositoryWork, base: ObjectId | null): Risk[] {
  if (!detached || (head !== null && head === base)) return [];
  const where = head === null ? '' : ` at ${head.slice(0, 12)}`;
  if (base !== null) return [risk(`detached HEAD${where}, away from the base`)];
  return headIsHeld ? [] : [risk(`detached HEAD${where}, which no branch reaches`)];
}

function risk(why: string): Risk {
  return { branch: null, why };
}

function unobserved(what: string): Risk {
  return risk(`could not be observed: ${what}`);
}

/** One repository below a mount's root, or at it. */
export interface AssessedRepository extends Judgement {
  /** Where it lies in the mount; '' at its root. */
  readonly path: EntryPath;
  /** Null where nothing of it could be read. */
  readonly work: RepositoryWork | null;
  readonly base: ObjectId | null;
}

export interface AssessedMount extends Judgement {
  readonly name: MountName;
  readonly path: HostPath;
  /** False where there is no such folder any more. */
  readonly present: boolean;
  /** Null where the folder could not be opened. */
  readonly kind: MountKind | null;
  /** How the session has it. */
  readonly isolation: 'shared' | 'worktree' | 'clone';
  readonly repositories: readonly AssessedRepository[];
  /** What is dirty, by file. */
  readonly files: readonly FileChange[];
  /** The snapshot that a folder without a repository was compared with. */
  readonly comparedWith: SnapshotPointer | null;
}

export interface Assessment {
  readonly instance: InstanceName;
  /** What is closed, or has no record here, can neither be saved nor decided on. */
  readonly state: 'open' | 'closed' | 'unrecorded';
  readonly verdict: Verdict;
  readonly mounts: readonly AssessedMount[];
  readonly latest: SnapshotPointer | null;
  readonly exitPolicy: DirtyExitPolicy;
}

/** Something that a discard has to name. */
export interface NamedRisk {
  /** The mount, or `mount:branch`. Bytes. */
  readonly name: string;
  readonly why: readonly string[];
}

/** All that is at risk, each by the name that an acknowledgement takes. */
export function namedRisks({ mounts }: Pick<Assessment, 'mounts'>): NamedRisk[] {
  return mounts.flatMap((mount) => {
    const risks = [
      ...mount.risks.map((one) => ({ ...one, path: '' as EntryPath })),
      ...mount.repositories.flatMap(({ risks: own, path }) => own.map((one) => ({ ...one, path }))),
    ];
    const byName = new Map<string, string[]>();
    for (const { branch, why, path } of risks) {
      const name = branch === null ? mount.name : `${mount.name}:${path === '' ? '' : `${path}:`}${branch}`;
      const said = branch === null && path !== '' ? `${path}: ${why}` : why;
      byName.set(name, [...(byName.get(name) ?? []), said]);
    }
    return [...byName].map(([name, why]) => ({ name, why: [...new Set(why)] }));
  });
}
