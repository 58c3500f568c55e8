// A tree as plain data. All names and contents are bytes carried as latin1, one char a byte.

export type TreeSpec = readonly EntrySpec[];

export type EntrySpec = DirectorySpec | FileSpec | SymlinkSpec | HardLinkSpec | SpecialSpec;

interface Common {
  /** Relative to the root, with '/' between names. Parents that the plan does not name are made with mode 0755. */
  readonly path: string;
  /** Set only where the caller may: an ordinary user cannot give files away. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

export interface DirectorySpec extends Common {
  readonly type: 'directory';
  /** Default 0o755. */
  readonly mode?: number;
}

export interface FileSpec extends Common {
  readonly type: 'file';
  readonly content: ContentSpec;
  /** Default 0o644. */
  readonly mode?: number;
}

export interface SymlinkSpec extends Common {
  readonly type: 'symlink';
  readonly target: string;
}

/** One more name for a file, symlink, FIFO or socket that stands earlier in the plan. */
export interface HardLinkSpec extends Common {
  readonly type: 'hardlink';
  readonly to: string;
}

export interface SpecialSpec extends Common {
  readonly type: 'fifo' | 'socket';
  /** Default 0o644. */
  readonly mode?: number;
}

export type ContentSpec = string | RepeatedContent | SparseContent;

/** `unit`, over and over, up to `size` bytes: large files without large plans. */
export interface RepeatedContent {
  readonly unit: string;
  readonly size: number;
}

/** Holes, but for the given pieces. */
export interface SparseContent {
  readonly size: number;
  readonly pieces: readonly { readonly at: number; readonly bytes: string }[];
}

export function directory(path: string, mode = 0o755): DirectorySpec {
  return { path, type: 'directory', mode };
}

export function file(path: string, content: ContentSpec = '', mode = 0o644): FileSpec {
  return { path, type: 'file', content, mode };
}

export function symlink(path: string, target: string): SymlinkSpec {
  return { path, type: 'symlink', target };
}

export function hardLink(path: string, to: string): HardLinkSpec {
  return { path, type: 'hardlink', to };
}

export function special(path: string, type: SpecialSpec['type'], mode = 0o644): SpecialSpec {
  return { path, type, mode };
}
