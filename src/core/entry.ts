import type { EntryPath } from './entry-path.js';
import type { ObjectId } from './ids.js';

/** What an lstat says, reduced to what we compare. Times are nanoseconds since the epoch. */
export interface EntryStat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'special';
  readonly dev: bigint;
  readonly ino: bigint;
  /** Permission, set-id and sticky bits: 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** True when fewer bytes are allocated than `size` says. */
  readonly sparse: boolean;
  /** True when so much of it is holes that it is stored by its data ranges. */
  readonly vast?: boolean;
}

/** The content and mode of one stored path, wherever it comes from: a snapshot or the live tree. */
export type StoredEntry = StoredFile | StoredSymlink | StoredDirectory;

interface Stored {
  readonly path: EntryPath;
  readonly uid: number;
  readonly gid: number;
}

interface Linkable extends Stored {
  /** The first path (in byte order) of the hard-link group that this path belongs to, if it has one. */
  readonly linkedTo?: EntryPath;
}

export interface StoredFile extends Linkable {
  readonly kind: 'file';
  readonly mode: number;
  readonly oid: ObjectId;
  readonly size: number;
  readonly sparse: boolean;
  /** True when the blob holds its size and its data ranges, in place of its bytes as they are. */
  readonly byRanges?: boolean;
  /** About how much of a file by ranges is data, where that is known. */
  readonly dataBytes?: number;
}

export interface StoredSymlink extends Linkable {
  readonly kind: 'symlink';
  /** The blob that holds the link's text. */
  readonly oid: ObjectId;
  readonly size: number;
}

export interface StoredDirectory extends Stored {
  readonly kind: 'directory';
  readonly mode: number;
}

export const leftOutReasons = [
  'ignored',
  'excluded',
  'secret',
  'too_large',
  'unreadable',
  'special',
  'unstable',
  'git_dir',
  'unsupported',
  'foreign_fs',
] as const;

export type LeftOutReason = (typeof leftOutReasons)[number];

/** Reasons that make a snapshot partial: the path should have been stored and could not be. */
export const partialReasons: ReadonlySet<LeftOutReason> = new Set(['unreadable', 'unstable', 'unsupported']);

/** A path that the capture saw and did not store. A directory stands for all below it. */
export interface ObservedOnly {
  readonly path: EntryPath;
  readonly reason: LeftOutReason;
  readonly directory: boolean;
}

/** The fields that change whenever a file's content or inode changes, as far as the file system tells. */
export function sameStat(a: EntryStat, b: EntryStat): boolean {
  return (
    a.kind === b.kind &&
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.mode === b.mode &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

const second = 1_000_000_000n;

/**
 * True when the stat proves that a later change would show: both times are older than `momentNs` (when it was taken)
 * by more than the clock tick that file systems round to. Times in whole seconds may come from a coarse file system
 * and need two seconds.
 */
export function isSettled(stat: EntryStat, momentNs: bigint): boolean {
  return [stat.mtimeNs, stat.ctimeNs].every(
    (time) => time + (time % second === 0n ? 2n * second : 20_000_000n) < momentNs,
  );
}
