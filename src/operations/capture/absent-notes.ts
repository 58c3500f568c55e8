import { displayPath } from '../../core/entry-path.js';
import type { CapturedMount } from './capture-mounts.js';

/** A path that was named may be mistyped, or about to be made: what its absence means is said. */
export function absentNotes({ absent }: Pick<CapturedMount['captured'], 'absent'>): string[] {
  return absent.map(
    (path) =>
      `${displayPath(path)} is not there: that is recorded, and a restore of this snapshot removes what is there by then.`,
  );
}
