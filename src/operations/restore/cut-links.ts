import { type EntryPath, displayPath } from '../../core/entry-path.js';
import type { PlannedMount } from './plan-mounts.js';

const shownAtMost = 5;

/**
 * Says of which files a restore cuts hard links to names that it does not see: outside of the folder, or not stored. What
 * has these names is not in the plan, so that it is left as it is and never written through.
 */
export function cutLinkMessages(planned: readonly PlannedMount[]): string[] {
  const cut = planned.flatMap(cutIn);
  if (cut.length === 0) return [];
  const more = cut.length > shownAtMost ? ` and ${String(cut.length - shownAtMost)} more` : '';
  const names = `${cut.slice(0, shownAtMost).map(displayPath).join(', ')}${more}`;
  return [`Files that have other names, which no snapshot holds, are replaced or removed under these alone: ${names}.`];
}

function cutIn({ plan, live: { captured } }: PlannedMount): EntryPath[] {
  const changed = plan.changes.filter(({ action, before }) => action !== 'chmod' && before?.kind === 'file');
  const linked = changed.flatMap(({ path }) => {
    const entry = captured.entries.get(path);
    return entry?.kind === 'file' && entry.stat.nlink > 1 ? [entry] : [];
  });
  if (linked.length === 0) return [];
  const members = new Map<EntryPath, number>();
  for (const entry of captured.entries.values())
    if (entry.kind === 'file' && entry.linkedTo !== undefined)
      members.set(entry.linkedTo, (members.get(entry.linkedTo) ?? 0) + 1);
  return linked
    .filter(({ linkedTo, stat }) => stat.nlink > (linkedTo === undefined ? 1 : (members.get(linkedTo) ?? 1)))
    .map(({ path }) => path);
}
