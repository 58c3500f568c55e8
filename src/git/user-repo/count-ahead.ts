import type { ObjectId } from '../../core/ids.js';
import { countAhead } from './commit-walk.js';
import { largestCommit } from './inflated.js';
import { locate } from './location.js';
import { RepositoryObjects } from './repository-objects.js';

/** A save waits for the answer: beyond so many commits it is not known. */
const mostCommits = 500;

/** How many commits `head` has that `upstream` lacks; null when that cannot be known, or not within the bounds of a save. */
export function countAheadForSave(
  folder: string,
  gitEntry: 'directory' | 'file',
  { head, upstream }: { readonly head: ObjectId; readonly upstream: ObjectId },
): number | null {
  const location = locate(folder, gitEntry);
  if (location.kind !== 'read') return null;
  const objects = new RepositoryObjects(location.value.commonDir, { largest: largestCommit, searchIndexes: true });
  try {
    return countAhead(objects, head, upstream, mostCommits);
  } finally {
    objects.close();
    location.value.close();
  }
}
