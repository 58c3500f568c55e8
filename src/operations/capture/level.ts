import {
  type EntryStat,
  type LeftOutReason,
  type StoredDirectory,
  type StoredFile,
  type StoredSymlink,
  partialReasons,
} from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import { escapeName } from '../../core/name-escape.js';
import type { Directory, RecordedDirectory, RecordedFile, TreeEntry } from '../../core/ports.js';

/** A stored entry together with the stat that it was captured with. */
export type Captured = (StoredFile | StoredSymlink | StoredDirectory) & { readonly stat: EntryStat };

/** Rules of one directory, made when the walk enters it. */
export interface DirectoryRules {
  /** The same for rules that answer the same of the same entries, forced paths apart. */
  readonly key: string;
  /** What the stat cache has for the key: what paths were forced into is not let in by the same rules without them. */
  readonly recordedKey: string;
  /** The reason to leave an entry out, or null to store it (a directory: to go in). */
  leaveOut(path: EntryPath, name: string, stat: EntryStat): LeftOutReason | null;
  enter(path: EntryPath, directory: Directory, names: readonly string[]): Promise<DirectoryRules>;
}

export interface CaptureStats {
  filesObserved: number;
  filesStored: number;
  filesReused: number;
  filesRead: number;
  bytesRead: number;
  bytesStored: number;
}

export function noStats(): CaptureStats {
  return { filesObserved: 0, filesStored: 0, filesReused: 0, filesRead: 0, bytesRead: 0, bytesStored: 0 };
}

/** A directory that the walk is in. */
export interface Level {
  readonly path: EntryPath;
  readonly name: string;
  readonly directory: Directory;
  readonly stat: EntryStat;
  /** What is to be visited. */
  names: readonly string[];
  readonly rules: DirectoryRules;
  readonly cached: (name: string, stat: EntryStat) => ObjectId | undefined;
  readonly tree: TreeEntry[];
  /** Stored files and links that are settled. */
  readonly settled: RecordedFile[];
  /** Whether every change in it would show: no later one can look like what was seen. */
  firm: boolean;
  next: number;
  /** What was taken over of it. */
  readonly adopted: RecordedDirectory | undefined;
}

/** Reasons that may cease to hold without any change of the directory. */
export const dependsOnStat: ReadonlySet<LeftOutReason> = new Set([...partialReasons, 'too_large']);

export function noteSettled(level: Level, file: RecordedFile, settled: boolean): void {
  if (settled) level.settled.push(file);
  else level.firm = false;
}

export function addTree(level: Level, name: string, oid: ObjectId): void {
  level.tree.push({ mode: 0o40000, name: escapeName(name, { kind: 'directory', size: 0 }), oid });
}

/** Files and links of a directory, as they are recorded. */
export function addRecordedFiles(level: Level, recorded: RecordedDirectory): void {
  for (const { name, kind, mode, size, oid } of recorded.files())
    level.tree.push({
      mode: kind === 'symlink' ? 0o120000 : fileMode(mode),
      name: escapeName(name, { kind, size }),
      oid,
    });
}

/** The mode of a file in a tree. */
export function fileMode(mode: number): number {
  return (mode & 0o111) === 0 ? 0o100644 : 0o100755;
}
