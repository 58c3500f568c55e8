import type { HostPath } from '../entry-path.js';
import type { ObjectId } from '../ids.js';
import type { ObjectReader, SnapshotRef, Store } from '../ports.js';
import type { RemoteAddress } from './address.js';
import type { AdvertisedRef, PushProgress, PushedRef } from './report.js';

/*
 * Other repositories, reached by git's own transport.
 */

/** A remote as it is spoken to. */
export interface Remote {
  readonly address: RemoteAddress;
  /** Of a local one, the folder of the repository itself, its real path; null for all others. */
  readonly directory: HostPath | null;
  /** A credential helper of git's that may be started; null: none is. */
  readonly credentialHelper: string | null;
  /** Whether git and ssh may ask on the terminal. */
  readonly mayAsk: boolean;
  /** Whether the user's home is theirs alone, so that what lies in it may be read for them. */
  readonly readsHome: boolean;
}

export type LocalRepository =
  | {
      /** The path itself for a bare one, else its `.git`. */
      readonly directory: HostPath;
      /** Links in it, and all else that git would read for it, wherever that lies. */
      readonly reads: readonly HostPath[];
    }
  /** What leads to another repository, as in a linked worktree or a submodule. */
  | { readonly detour: HostPath };

/** Every failure of git's over a remote is REMOTE_FAILED, with git's words; a full disk is NO_SPACE. */
export interface Remotes {
  /** Where ssh finds what the user has set up for it. */
  readonly sshDirectory: HostPath;
  /** The repository at a local path; undefined where there is none. In process: nothing of it is run. */
  findRepository(path: HostPath): LocalRepository | undefined;
  /** What it has below `refs/jackin/`. @throws SnapError REMOTE_FAILED, REMOTE_TOO_LARGE for more than is bearable */
  list(remote: Remote): Promise<AdvertisedRef[]>;
  /** Creates refs there, each only if absent. What is not in the answer was not reached. */
  push(
    remote: Remote,
    refs: readonly AdvertisedRef[],
    onProgress: (progress: PushProgress) => void,
  ): Promise<PushAnswer>;
  /**
   * Takes refs and all that they reach into a place of their own, where nothing of the store is touched. The caller holds
   * the store's shared lock, and removes it.
   * @throws SnapError REMOTE_FAILED, REMOTE_TOO_LARGE, NO_SPACE; then nothing is left
   */
  fetch(remote: Remote, refs: readonly string[], limits: FetchLimits): Promise<Quarantine>;
}

export interface PushAnswer {
  readonly refs: ReadonlyMap<string, PushedRef>;
  /** What ended it before all were reached, in git's words. */
  readonly failure: Error | null;
}

export interface FetchLimits {
  /** What may come in bytes, as it comes: packed. */
  readonly bytes: number;
  readonly onBytes: (bytes: number) => void;
}

/** What came from a remote, before anything of it is believed. Every object in it has the id of its content. */
export interface Quarantine {
  /** Those that came; one whose ref leads to no commit is among them. */
  snapshots(): Promise<SnapshotRef[]>;
  /** For all that is to be read: one process, until the reader is closed. */
  open(): QuarantinedObjects;
  /** The commits among these that miss an object. */
  incomplete(commits: readonly ObjectId[]): Promise<ReadonlySet<ObjectId>>;
  /**
   * Makes what these commits reach part of the store, durably; no ref leads to it yet. Everything else that came is left
   * behind.
   */
  adopt(commits: readonly ObjectId[]): Promise<void>;
  remove(): void;
}

/** What came together with the store's own objects. */
export interface QuarantinedObjects extends Pick<Store, 'listTree' | 'oversizedSnapshots'> {
  readonly reader: ObjectReader;
}
