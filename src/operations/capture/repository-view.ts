import { type EntryPath, baseName, isWithin, joinPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { PresentFile } from '../../core/present-file.js';
import type { CapturedTree } from './capture.js';
import { type Grafts, pathsByRanges } from './grafts.js';
import type { Captured } from './level.js';
import type { FoundRepository, MountRules } from './mount-rules.js';

/** A repository's folder as a walk saw it. Paths are relative to that folder. */
export interface RepositoryView {
  readonly present: (path: EntryPath) => PresentFile | undefined;
  readonly hasUntracked: () => boolean;
  /** All of them, which costs more than to know that there is one. */
  readonly untracked: () => EntryPath[];
}

interface Walked {
  readonly captured: CapturedTree;
  readonly rules: MountRules;
  readonly grafts: Grafts | undefined;
}

export function viewOf(
  { path: folder, repository }: FoundRepository,
  { captured, rules, grafts }: Walked,
): RepositoryView {
  const { entries, grafted } = captured;
  const inside = (path: EntryPath): boolean => isWithin(path, folder) && !rules.isInInnerRepository(path, folder);
  const relative = (path: EntryPath): EntryPath =>
    folder === '' ? path : (path.slice(folder.length + 1) as EntryPath);
  // git shows nothing of that name, be it a worktree's own link or one that leads nowhere.
  const isUntracked = (path: EntryPath): boolean =>
    baseName(path) !== '.git' && inside(path) && !(repository.tracked?.has(relative(path)) ?? true);
  const byRanges = pathsByRanges(grafts?.notes);
  return {
    present: (path) => {
      const full = joinUnder(folder, path);
      const entry = entries.get(full);
      if (entry !== undefined) return toPresent(entry.stat, nameOf(entry));
      const recorded = grafted.find(full);
      return recorded === undefined ? undefined : toPresent(recorded, byRanges.has(full) ? undefined : recorded.oid);
    },
    hasUntracked: () => {
      for (const path of filesIn(captured)) if (isUntracked(path)) return true;
      return false;
    },
    untracked: () => [...filesIn(captured)].filter(isUntracked).map(relative),
  };
}

function* filesIn({ entries, grafted }: CapturedTree): Generator<EntryPath> {
  for (const { kind, path } of entries.values()) if (kind !== 'directory') yield path;
  for (const part of grafted.parts()) yield* part.paths();
}

function joinUnder(folder: EntryPath, path: EntryPath): EntryPath {
  return folder === '' ? path : joinPath(folder, path);
}

/** The blob of a file by ranges is not named as git would name its content. */
function nameOf(entry: Captured): ObjectId | undefined {
  return entry.kind === 'directory' || (entry.kind === 'file' && entry.byRanges === true) ? undefined : entry.oid;
}

function toPresent(
  { kind, size, mtimeNs, ctimeNs, ino, mode }: Omit<PresentFile, 'oid'>,
  oid: ObjectId | undefined,
): PresentFile {
  return { kind, size, mtimeNs, ctimeNs, ino, mode, ...(oid === undefined ? {} : { oid }) };
}
