import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { chmodSync, closeSync, constants, lstatSync, openSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import { fromBytes, joinPath } from './bytes.js';
import { reach } from './reach.js';

export type EntryType =
  'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'block device' | 'character device' | 'unknown';

/** One path of a tree, as found on disk. `path` and `target` are bytes carried as latin1. */
export interface TreeEntry {
  readonly path: string;
  readonly type: EntryType;
  /** All twelve bits: 0o7777. */
  readonly mode: number;
  /** Of files and symlinks; 0 for all else, where the file system decides. */
  readonly size: number;
  /** Of files, else null; null too for a file that may not be read. */
  readonly sha256: string | null;
  /** Of symlinks, else null. */
  readonly target: string | null;
  /** The lowest path in this tree with the same inode, where the tree holds at least two of them. */
  readonly linkGroup: string | null;
  readonly uid: number;
  readonly gid: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly nlink: number;
  readonly blocks: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  /** The content of a file or the listing of a directory was refused (EACCES): what is below is unknown. */
  readonly unreadable: boolean;
}

export interface WalkOptions {
  /** Leave out directories named exactly `.git`, at any depth. A `.git` file is an entry like others. */
  readonly skipGitDirs?: boolean;
  /** Begin with the root itself, as path ''. */
  readonly withRoot?: boolean;
  /** Where an ordinary user may not read what is theirs, change the mode for that moment (this moves ctime). */
  readonly lendModes?: boolean;
  /** Begin with this path of the tree in place of the root; paths stay relative to the root. */
  readonly from?: string;
  /** False: read no content of files, for a quick listing. */
  readonly hash?: boolean;
}

/**
 * Every path below `root`, sorted by bytes. Reads the disk in its own way, follows no link, opens nothing but
 * directories and regular files, and copes with names of any bytes and paths of any length.
 */
export function walkTree(root: string, options: WalkOptions = {}): TreeEntry[] {
  const found: TreeEntry[] = [];
  const from = options.from ?? '';
  visit({ root, options, found }, from);
  if (from === '' && options.withRoot !== true) found.shift();
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  return withLinkGroups(found);
}

interface Walk {
  readonly root: string;
  readonly options: WalkOptions;
  readonly found: TreeEntry[];
}

function visit(walk: Walk, path: string): void {
  const stats = reach(walk.root, path, (hostPath) => lstatSync(hostPath, { bigint: true }));
  const place = walk.found.length;
  walk.found.push(describe(path, stats));
  const refused = lending(walk, path, stats, () => {
    if (stats.isFile() && walk.options.hash !== false)
      walk.found[place] = { ...walk.found[place]!, sha256: hashFile(walk.root, path) };
    if (stats.isSymbolicLink()) walk.found[place] = { ...walk.found[place]!, target: readTarget(walk.root, path) };
    if (stats.isDirectory()) for (const name of childNames(walk, path)) visit(walk, joinPath(path, name));
  });
  if (refused) walk.found[place] = { ...walk.found[place]!, unreadable: true };
}

// True when the entry could not be read. A directory that may be listed but not entered is refused as a whole.
function lending(walk: Walk, path: string, stats: BigIntStats, act: () => void): boolean {
  const place = walk.found.length;
  try {
    act();
    return false;
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  walk.found.length = place;
  if (walk.options.lendModes !== true) return true;
  const mode = Number(stats.mode & 0o7777n);
  reach(walk.root, path, (hostPath) => chmodSync(hostPath, mode | 0o700));
  try {
    act();
  } finally {
    reach(walk.root, path, (hostPath) => chmodSync(hostPath, mode));
  }
  return false;
}

function isRefused(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EACCES';
}

function describe(path: string, stats: BigIntStats): TreeEntry {
  const sized = stats.isFile() || stats.isSymbolicLink();
  return {
    path,
    type: typeOf(stats),
    mode: Number(stats.mode & 0o7777n),
    size: sized ? Number(stats.size) : 0,
    sha256: null,
    target: null,
    linkGroup: null,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    dev: stats.dev,
    ino: stats.ino,
    nlink: Number(stats.nlink),
    blocks: Number(stats.blocks),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    unreadable: false,
  };
}

function typeOf(stats: BigIntStats): EntryType {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  if (stats.isBlockDevice()) return 'block device';
  return stats.isCharacterDevice() ? 'character device' : 'unknown';
}

function hashFile(root: string, path: string): string {
  const descriptor = reach(root, path, (hostPath) => openSync(hostPath, constants.O_RDONLY | constants.O_NOFOLLOW));
  try {
    const hash = createHash('sha256');
    for (;;) {
      const length = readSync(descriptor, buffer, 0, buffer.length, null);
      if (length === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
}

const buffer = Buffer.allocUnsafe(1 << 20);

function readTarget(root: string, path: string): string {
  return reach(root, path, (hostPath) => fromBytes(readlinkSync(hostPath, { encoding: 'buffer' })));
}

function childNames(walk: Walk, path: string): string[] {
  const listed = reach(walk.root, path, (hostPath) => readdirSync(hostPath, { encoding: 'buffer' }));
  const names = listed.map(fromBytes).sort();
  if (walk.options.skipGitDirs !== true) return names;
  return names.filter((name) => name !== '.git' || !isDirectory(walk.root, joinPath(path, name)));
}

function isDirectory(root: string, path: string): boolean {
  return reach(root, path, (hostPath) => lstatSync(hostPath).isDirectory());
}

function withLinkGroups(entries: readonly TreeEntry[]): TreeEntry[] {
  const groups = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry.type === 'directory' || entry.nlink < 2) continue;
    const key = inodeKey(entry);
    groups.set(key, [...(groups.get(key) ?? []), entry.path]);
  }
  return entries.map((entry) => {
    const paths = groups.get(inodeKey(entry)) ?? [];
    return paths.length > 1 ? { ...entry, linkGroup: paths[0]! } : entry;
  });
}

function inodeKey(entry: TreeEntry): string {
  return `${entry.dev}:${entry.ino}`;
}
