import type { EntryStat, StoredDirectory, StoredFile } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { Change } from '../../core/restore-plan.js';
import { hasAttributes } from './entry-state.js';

/* What a change asks of a path, and what its path may look like in between. */

/** The paths that are to share the inode of their group's first path, by that path. */
export function membersOfGroups(changes: readonly Change[]): Map<EntryPath, EntryPath[]> {
  const members = new Map<EntryPath, EntryPath[]>();
  for (const { path, after } of changes) {
    if (after === null || after.kind === 'directory' || after.linkedTo === undefined || after.linkedTo === path)
      continue;
    members.set(after.linkedTo, [...(members.get(after.linkedTo) ?? []), path]);
  }
  return members;
}

/** Removed before anything is put in its place: what is deleted, and what a rename cannot replace. */
export function isRemoval(change: Change): boolean {
  return change.after === null || (change.before !== null && !isReplacedInPlace(change));
}

/** A change of nothing but the owner. */
export function isOfOwnerAlone({ action, before, after }: Change): boolean {
  if (action !== 'chmod' || before === null || after === null) return false;
  return before.kind === 'symlink' || after.kind === 'symlink' || before.mode === after.mode;
}

/** A rename replaces files and links; a directory has to go first, or has to find its place free. */
export function isReplacedInPlace(change: Change): boolean {
  if (change.before === null || change.after === null) return false;
  return (
    change.before.kind === change.after.kind ||
    (change.before.kind !== 'directory' && change.after.kind !== 'directory')
  );
}

/** True for a change of mode or owner alone that finds neither those before nor those after, nor ours half made. */
export function isForeign(present: EntryStat, { action, before, after }: Change): boolean {
  if (action !== 'chmod' || before === null || after === null) return false;
  if (hasAttributes(present, before) || hasAttributes(present, after)) return false;
  if (before.kind === 'file' && after.kind === 'file') return !isHalfMade(present, before, after);
  return before.kind === 'directory' && after.kind === 'directory' && !isLent(present, before, after);
}

/** The owner is set first, which may clear set-id bits. */
function isHalfMade(present: EntryStat, before: StoredFile, after: StoredFile): boolean {
  return [before.mode, before.mode & ~0o6000, before.mode & ~0o4000].some((mode) =>
    hasAttributes(present, { ...after, mode }),
  );
}

/** A folder's owner is set before its mode, and it may have a lent one in between. */
function isLent(present: EntryStat, before: StoredDirectory, after: StoredDirectory): boolean {
  const modes = [before.mode, after.mode].flatMap((mode) => [mode, mode | 0o700]);
  return [before, after].some((owner) => modes.some((mode) => hasAttributes(present, { ...owner, mode })));
}
