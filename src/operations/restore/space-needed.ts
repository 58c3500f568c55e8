import type { StoredEntry } from '../../core/entry.js';
import type { Change } from '../../core/restore-plan.js';

/**
 * The bytes that a mount needs for the largest moment of the changes, beyond those it holds: what goes is gone before
 * anything comes, and what is replaced stays until its successor is complete.
 */
export function spaceNeeded(changes: readonly Change[]): number {
  let grown = 0;
  let largest = 0;
  for (const { before, after } of changes) if (after === null) grown -= freedBytes(before);
  for (const { action, before, after } of changes) {
    if (action === 'chmod' || after === null) continue;
    largest = Math.max(largest, grown + writtenBytes(after));
    grown += writtenBytes(after) - freedBytes(before);
  }
  return largest;
}

/** Holes and further names of a file take no space. */
function writtenBytes(entry: StoredEntry): number {
  if (entry.kind !== 'file' || (entry.linkedTo !== undefined && entry.linkedTo !== entry.path)) return 0;
  return entry.dataBytes ?? (entry.sparse ? 0 : entry.size);
}

/** What may have holes, or other names that stay, counts for nothing. */
function freedBytes(entry: StoredEntry | null): number {
  return entry?.kind === 'file' && !entry.sparse && entry.linkedTo === undefined ? entry.size : 0;
}
