import type { EntryStat, ObservedOnly } from '../../core/entry.js';
import { type EntryPath, isWithin } from '../../core/entry-path.js';
import type { Captured } from './level.js';

/** Whether a walk that is limited to some paths looks at an entry: it does on the way to them, too. */
export function isInScope(scope: readonly EntryPath[] | null, path: EntryPath, stat: EntryStat): boolean {
  if (scope === null) return true;
  return scope.some((limit) => isWithin(path, limit) || (stat.kind === 'directory' && isWithin(limit, path)));
}

/** Limits of the scope where nothing is. */
export function absentIn(
  scope: readonly EntryPath[] | null,
  entries: ReadonlyMap<EntryPath, Captured>,
  leftOut: readonly ObservedOnly[],
): EntryPath[] {
  const above = new Set(leftOut.map(({ path }) => path));
  const covered = (path: EntryPath): boolean => [...above].some((folder) => isWithin(path, folder));
  return (scope ?? []).filter((limit) => !entries.has(limit) && !covered(limit));
}
