import type { EntryPath, HostPath } from './entry-path.js';
import type { ObjectId } from './ids.js';
import type { WorktreeRecord } from './worktree-record.js';

/** A repository that a worktree can be made of. */
export interface WorktreeSource {
  /** The folder that `.git` lies in. */
  readonly root: HostPath;
  /** The repository's own directory, which all its worktrees share: a real path. */
  readonly commonDir: HostPath;
  /** What HEAD names. */
  readonly commit: ObjectId;
  readonly branch: string | null;
  /** The folder that was asked about, relative to `root`. */
  readonly inside: EntryPath;
}

/** How a worktree stands, as its repository has it. */
export interface WorktreeLook {
  /** Its files are there. */
  readonly present: boolean;
  /** The repository knows it, under our name and with our path. */
  readonly linked: boolean;
  /** Somebody said `git worktree lock`. */
  readonly locked: boolean;
  readonly head: ObjectId | null;
  /** What is checked out by now; null where HEAD names a commit, or is not known. */
  readonly branch: string | null;
  /** Commits since the base, of what is checked out; null when it cannot be known. */
  readonly ahead: number | null;
  /** Some branch, tag or remote-tracking ref reaches HEAD, so that its commits stay without the worktree. */
  readonly headIsHeld: boolean;
  /** Commits that were made in it on no branch and left since: only its own log leads to them. */
  readonly left: readonly ObjectId[];
  /** `merge`, `rebase` and the like, or null. */
  readonly operation: string | null;
  /** Refs or submodules of the worktree alone, which go with it. */
  readonly holdsOwn: boolean;
  /** The files of the commit at HEAD; null when they cannot be known. */
  readonly headFiles: ReadonlyMap<EntryPath, ObjectId> | null;
  /** What the index holds; null when it cannot be known. A null id: a conflict. */
  readonly staged: ReadonlyMap<EntryPath, ObjectId | null> | null;
}

/** Worktrees of users' repositories, made and removed without any git. */
export interface Worktrees {
  /** @throws SnapError NOT_A_REPOSITORY, REPOSITORY_UNSUITABLE */
  findSource(folder: HostPath): WorktreeSource;
  /**
   * Checks the base commit out into a new folder and makes it a worktree on a new branch. What a failure leaves is
   * taken away with `removeLink`, and the folder.
   * @throws SnapError REPOSITORY_UNSUITABLE, NO_SPACE, INTERRUPTED
   */
  create(record: WorktreeRecord, pause: () => Promise<void>): Promise<void>;
  look(record: WorktreeRecord): WorktreeLook;
  /**
   * Takes away what the repository has of a worktree, and its branch where that has no commit of its own.
   * @returns whether the branch stays
   * @throws SnapError WORKTREE_LOCKED, BUSY
   */
  removeLink(record: WorktreeRecord): { readonly branchStays: boolean };
}
