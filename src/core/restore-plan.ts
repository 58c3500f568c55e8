import type { LeftOutReason, StoredEntry, StoredFile, StoredSymlink } from './entry.js';
import { type EntryPath, Inherited, ancestorsOf, baseName, isWithin, parentPath } from './entry-path.js';
import { describeLeftOut, isReadFailure } from './left-out-words.js';
import type { ObservedSet } from './observed-set.js';
import type { PlanAction } from './results.js';

/*
 * What a restore of one mount would do. Pure: the snapshot, the live tree and the rules come in, a plan comes out.
 * Dry run, display, journal and apply use the same plan.
 */

/** One path's change. `before` and `after` are null where there is nothing. */
export interface Change {
  readonly path: EntryPath;
  readonly action: PlanAction;
  readonly reason: string;
  readonly before: StoredEntry | null;
  readonly after: StoredEntry | null;
}

export interface Kept {
  readonly path: EntryPath;
  readonly reason: string;
}

export interface MountPlan {
  /** In path order. */
  readonly changes: readonly Change[];
  /** New since the snapshot, or unknown to it, and left alone. */
  readonly kept: readonly Kept[];
  /** Stored in the snapshot, different now, and not restorable, or new and not readable: the restore is partial. */
  readonly blocked: readonly Kept[];
  /** Differ in nothing but an owner that the caller may not set: no changes. */
  readonly ownersKept: readonly EntryPath[];
}

export interface PlanQuestion {
  readonly wanted: ReadonlyMap<EntryPath, StoredEntry>;
  readonly observedThen: ObservedSet;
  readonly live: ReadonlyMap<EntryPath, StoredEntry>;
  /** What the live tree holds that was not captured, with its reason. */
  readonly liveLeftOut: ReadonlyMap<EntryPath, LeftOutReason>;
  /** Live links whose inode has names that the capture does not know: a chmod would reach them. */
  readonly sharedElsewhere: (path: EntryPath) => boolean;
  /** Null for the whole mount. */
  readonly scope: readonly EntryPath[] | null;
  readonly noDelete: boolean;
  readonly deleteNewRepositories: boolean;
  /** What an earlier restore, which this one takes back, had put there; empty for any other. */
  readonly returned: ReadonlyMap<EntryPath, StoredEntry>;
  /** Why rules, then or now, forbid to delete a path; null when they do not. */
  readonly protection: (path: EntryPath, directory: boolean) => string | null;
  /** Whether the caller may give what is there, or what they make anew (null), the owner that it is to have. */
  readonly maySetOwner: (present: StoredEntry | null, wanted: StoredEntry) => boolean;
}

export function planRestore(question: PlanQuestion): MountPlan {
  const planner = new Planner(question);
  planner.compareWanted();
  planner.lookAtTheRest();
  return planner.result();
}

class Planner {
  readonly #question: PlanQuestion;
  readonly #changes = new Map<EntryPath, Change>();
  readonly #kept = new Map<EntryPath, string>();
  readonly #blocked = new Map<EntryPath, string>();
  readonly #ownersKept: EntryPath[] = [];
  /** Live directories that make way for a file or link. */
  readonly #makingWay = new Set<EntryPath>();
  /** Directories without a counterpart in the snapshot that hold something that stays. */
  readonly #occupied = new Set<EntryPath>();

  /** Asked for parents after they were judged themselves. */
  readonly #obstaclesAbove = new Inherited<string>((path) => {
    if (this.#blocked.has(path)) return 'above';
    const reason = this.#question.liveLeftOut.get(path);
    return reason === undefined ? undefined : `its folder is ${describeLeftOut(reason)}`;
  });

  constructor(question: PlanQuestion) {
    this.#question = question;
  }

  result(): MountPlan {
    const toKept = (map: Map<EntryPath, string>): Kept[] =>
      [...map].map(([path, reason]) => ({ path, reason })).sort(byPath);
    return {
      changes: [...this.#changes.values()].sort(byPath),
      kept: toKept(this.#kept),
      blocked: toKept(this.#blocked),
      ownersKept: this.#ownersKept,
    };
  }

  compareWanted(): void {
    const blockers = this.#blockers();
    const reachable: StoredEntry[] = [];
    const barred = new Set<EntryPath>();
    for (const [path, wanted] of this.#question.wanted) {
      if (!this.#inScope(path, wanted)) continue;
      const obstacle = this.#obstacle(path, wanted, blockers);
      if (obstacle !== null && obstacle !== 'above') this.#blocked.set(path, obstacle);
      if (obstacle === null) reachable.push(wanted);
      else barred.add(path);
    }
    this.#leaders = leadersOf(reachable, barred);
    for (const wanted of reachable)
      this.#compare(wanted.path, this.#regrouped(wanted), this.#question.live.get(wanted.path) ?? null);
  }

  /** The first path of each link group whose own first path cannot be put back. */
  #leaders: ReadonlyMap<EntryPath, EntryPath> = new Map();

  #regrouped(entry: StoredEntry): StoredEntry {
    if (entry.kind === 'directory' || entry.linkedTo === undefined) return entry;
    return { ...entry, linkedTo: this.#leaders.get(entry.linkedTo) ?? entry.linkedTo };
  }

  #wantedGroup(path: EntryPath): EntryPath | undefined {
    const first = linkOf(this.#question.wanted.get(path));
    return first === undefined ? undefined : (this.#leaders.get(first) ?? first);
  }

  lookAtTheRest(): void {
    const { live, liveLeftOut, wanted } = this.#question;
    const extra: { path: EntryPath; entry: StoredEntry | null }[] = [];
    for (const [path, entry] of live) if (!wanted.has(path) && this.#inScope(path, entry)) extra.push({ path, entry });
    for (const path of liveLeftOut.keys())
      if (!wanted.has(path) && this.#inScope(path, null)) extra.push({ path, entry: null });
    // From the deepest up: a directory goes only when nothing below it stays.
    extra.sort((a, b) => byPath(b, a));
    const newRepositories = this.#newRepositories();
    for (const { path, entry } of extra) this.#judgeExtra(path, entry, newRepositories);
  }

  /** Live paths that no snapshot can hold or that could not be read: what they stand in is not replaced. */
  #blockers(): Set<EntryPath> {
    const blockers = new Set<EntryPath>();
    for (const path of this.#question.liveLeftOut.keys()) {
      for (let at = path; at !== '' && !blockers.has(at); at = parentPath(at)) blockers.add(at);
    }
    return blockers;
  }

  /** Why a wanted path cannot be put back; 'above' when a path further up already says so. */
  #obstacle(path: EntryPath, wanted: StoredEntry, blockers: ReadonlySet<EntryPath>): string | null {
    const { live, liveLeftOut } = this.#question;
    const above = path === '' ? undefined : this.#obstaclesAbove.at(parentPath(path));
    if (above !== undefined) return above;
    const here = liveLeftOut.get(path);
    if (here !== undefined) return `its place is held by something that is ${describeLeftOut(here)}`;
    return live.get(path)?.kind === 'directory' && wanted.kind !== 'directory'
      ? this.#whyNotMakingWay(path, blockers)
      : null;
  }

  #whyNotMakingWay(path: EntryPath, blockers: ReadonlySet<EntryPath>): string | null {
    if (blockers.has(path)) return 'the folder in its place holds something that no snapshot can take';
    const holds =
      this.#question.noDelete &&
      [...this.#question.live.keys()].some((other) => other !== path && isWithin(other, path));
    return holds ? 'the folder in its place holds files, and nothing is to be deleted' : null;
  }

  #compare(path: EntryPath, wanted: StoredEntry, live: StoredEntry | null): void {
    if (live === null) return this.#change(path, 'create', 'missing now', null, wanted);
    if (live.kind !== wanted.kind) {
      if (live.kind === 'directory') this.#makingWay.add(path);
      return this.#change(path, 'retype', `is a ${live.kind} now`, live, wanted);
    }
    const difference = this.#difference(wanted, live);
    if (difference?.reason === ownerDiffers && !this.#maySetOwner(difference.action, wanted, live))
      this.#ownersKept.push(path);
    else if (difference !== null) this.#change(path, difference.action, difference.reason, live, wanted);
  }

  #difference(wanted: StoredEntry, live: StoredEntry): { action: PlanAction; reason: string } | null {
    if (!sameContent(wanted, live)) {
      return { action: 'overwrite', reason: wanted.kind === 'symlink' ? 'points elsewhere' : 'content differs' };
    }
    if (wanted.kind !== 'directory' && live.kind !== 'directory' && !this.#sameLinks(wanted, live)) {
      return { action: 'overwrite', reason: 'hard links differ' };
    }
    const reason = attributeDifference(wanted, live);
    if (reason === null) return null;
    const reachesOthers = live.kind !== 'directory' && this.#question.sharedElsewhere(live.path);
    return { action: reachesOthers ? 'overwrite' : 'chmod', reason };
  }

  /** What is overwritten is made anew, and is the caller's at first. */
  #maySetOwner(action: PlanAction, wanted: StoredEntry, live: StoredEntry): boolean {
    return this.#question.maySetOwner(action === 'overwrite' ? null : live, wanted);
  }

  /** A group's first path may stay as it is, and the others are linked to it; unless strangers share its inode. */
  #sameLinks(wanted: StoredFile | StoredSymlink, live: StoredFile | StoredSymlink): boolean {
    if (wanted.linkedTo === undefined) return live.linkedTo === undefined;
    if (wanted.linkedTo === wanted.path) {
      const members = live.linkedTo === undefined ? [] : (this.#liveGroups().get(live.linkedTo) ?? []);
      return members.every((member) => this.#wantedGroup(member) === wanted.path);
    }
    const first = linkOf(this.#question.live.get(wanted.linkedTo));
    return first !== undefined && first === live.linkedTo && this.#changes.get(wanted.linkedTo)?.action !== 'overwrite';
  }

  #groups: Map<EntryPath, EntryPath[]> | undefined;

  #liveGroups(): Map<EntryPath, EntryPath[]> {
    if (this.#groups !== undefined) return this.#groups;
    const groups = new Map<EntryPath, EntryPath[]>();
    for (const [path, entry] of this.#question.live) {
      const first = linkOf(entry);
      if (first !== undefined) groups.set(first, [...(groups.get(first) ?? []), path]);
    }
    this.#groups = groups;
    return groups;
  }

  #judgeExtra(path: EntryPath, entry: StoredEntry | null, newRepositories: ReadonlySet<EntryPath>): void {
    if (this.#isMakingWay(path)) {
      if (entry !== null) this.#change(path, 'delete', 'makes way', entry, null);
      return;
    }
    if (this.#question.observedThen.leftOutAt(path) !== undefined) return this.#occupy(path);
    const repository = this.#repositoryOf(path, newRepositories);
    if (repository !== null) return this.#keep(path, repository, 'new_repository');
    if (entry === null) return this.#judgeNotCaptured(path);
    const reason = this.#whyNotDeleted(path, entry);
    if (reason !== null) return this.#keep(path, path, reason);
    if (entry.kind === 'directory' && this.#occupied.has(path)) return this.#occupy(path);
    this.#change(path, 'delete', 'new since the snapshot', entry, null);
  }

  /** What would go, could it be read: the mount is not as in the snapshot for it. All else stays as others do. */
  #judgeNotCaptured(path: EntryPath): void {
    const reason = this.#question.liveLeftOut.get(path);
    if (reason === undefined || !isReadFailure(reason) || this.#liesInBlocked(path) || !this.#mayGo(path))
      return this.#keep(path, path, reason ?? 'not captured');
    this.#blocked.set(path, `it may be new, and is ${describeLeftOut(reason)}`);
    this.#occupy(path);
  }

  /** The folder that holds it is named already. */
  #liesInBlocked(path: EntryPath): boolean {
    return [...ancestorsOf(path)].some((at) => this.#blocked.has(at));
  }

  /** Of a path whose kind is not known. */
  #mayGo(path: EntryPath): boolean {
    const { observedThen, protection, noDelete } = this.#question;
    if (noDelete || !observedThen.provesAbsence(path)) return false;
    return [true, false].every((isDirectory) => protection(path, isDirectory) === null);
  }

  #whyNotDeleted(path: EntryPath, entry: StoredEntry): string | null {
    const { observedThen, deleteNewRepositories, protection, noDelete } = this.#question;
    if (!observedThen.provesAbsence(path)) return 'not_proven_new';
    const exempt = this.#isReturned(entry) || (deleteNewRepositories && this.#insideNewRepository(path));
    const rule = exempt ? null : protection(path, entry.kind === 'directory');
    if (rule !== null) return rule;
    return noDelete ? 'no_delete' : null;
  }

  /** True for what an earlier restore put there, if nobody has changed it since. */
  #isReturned(entry: StoredEntry): boolean {
    const returned = this.#question.returned.get(entry.path);
    return returned?.kind === entry.kind && sameContent(returned, entry);
  }

  #insideNewRepository(path: EntryPath): boolean {
    return this.#repositoryOf(path, this.#allNewRepositories()) !== null;
  }

  /** Folders with a `.git` that the snapshot does not know, unless they are to be deleted; the root's own always stays. */
  #newRepositories(): ReadonlySet<EntryPath> {
    return this.#question.deleteNewRepositories ? new Set(['.git' as EntryPath]) : this.#allNewRepositories();
  }

  #newRepositoryFolders: Set<EntryPath> | undefined;

  #allNewRepositories(): Set<EntryPath> {
    if (this.#newRepositoryFolders !== undefined) return this.#newRepositoryFolders;
    const { wanted, live, liveLeftOut } = this.#question;
    const folders = new Set<EntryPath>();
    for (const path of [...live.keys(), ...liveLeftOut.keys()]) {
      if (!this.#isNewGitEntry(path)) continue;
      const folder = parentPath(path);
      // A repository made in a folder of the snapshot's is kept as its `.git` alone.
      folders.add(wanted.get(folder)?.kind === 'directory' || folder === '' ? path : folder);
    }
    this.#newRepositoryFolders = folders;
    return folders;
  }

  #isNewGitEntry(path: EntryPath): boolean {
    const { wanted, live, observedThen } = this.#question;
    if (baseName(path) !== '.git' || wanted.has(path) || observedThen.leftOutAt(path) !== undefined) return false;
    const entry = live.get(path);
    return entry === undefined || !this.#isReturned(entry);
  }

  #repositoryOf(path: EntryPath, repositories: ReadonlySet<EntryPath>): EntryPath | null {
    if (repositories.size === 0) return null;
    let found: EntryPath | null = null;
    for (let at = path; at !== ''; at = parentPath(at)) if (repositories.has(at)) found = at;
    return found;
  }

  #isMakingWay(path: EntryPath): boolean {
    if (this.#makingWay.size === 0) return false;
    for (let at = parentPath(path); at !== ''; at = parentPath(at)) if (this.#makingWay.has(at)) return true;
    return false;
  }

  #keep(path: EntryPath, reported: EntryPath, reason: string): void {
    this.#kept.set(reported, reason);
    this.#occupy(path);
  }

  #occupy(path: EntryPath): void {
    for (let at = path; at !== '' && !this.#occupied.has(at); at = parentPath(at)) this.#occupied.add(at);
  }

  #change(
    path: EntryPath,
    action: PlanAction,
    reason: string,
    before: StoredEntry | null,
    after: StoredEntry | null,
  ): void {
    this.#changes.set(path, { path, action, reason, before, after });
  }

  /** Folders above a limited path are in scope only where they have to be made for it. */
  #inScope(path: EntryPath, entry: StoredEntry | null): boolean {
    const { scope, live } = this.#question;
    if (scope === null || scope.some((limit) => isWithin(path, limit))) return true;
    const leadsThere = entry?.kind === 'directory' && scope.some((limit) => isWithin(limit, path));
    return leadsThere && this.#question.wanted.has(path) && live.get(path)?.kind !== 'directory';
  }
}

function leadersOf(
  reachable: readonly StoredEntry[],
  barred: ReadonlySet<EntryPath>,
): ReadonlyMap<EntryPath, EntryPath> {
  const leaders = new Map<EntryPath, EntryPath>();
  for (const entry of reachable) {
    const first = linkOf(entry);
    if (first !== undefined && barred.has(first) && !leaders.has(first)) leaders.set(first, entry.path);
  }
  return leaders;
}

/** Of two entries of the same kind: the same blob is the same content only where it is to be read in the same way. */
function sameContent(a: StoredEntry, b: StoredEntry): boolean {
  if (a.kind === 'directory' || b.kind === 'directory') return true;
  return a.oid === b.oid && isByRanges(a) === isByRanges(b);
}

function isByRanges(entry: StoredEntry): boolean {
  return entry.kind === 'file' && entry.byRanges === true;
}

function attributeDifference(wanted: StoredEntry, live: StoredEntry): string | null {
  if (wanted.kind !== 'symlink' && live.kind !== 'symlink' && wanted.mode !== live.mode) return 'mode differs';
  return wanted.uid === live.uid && wanted.gid === live.gid ? null : ownerDiffers;
}

const ownerDiffers = 'owner differs';

function linkOf(entry: StoredEntry | undefined): EntryPath | undefined {
  return entry === undefined || entry.kind === 'directory' ? undefined : entry.linkedTo;
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
