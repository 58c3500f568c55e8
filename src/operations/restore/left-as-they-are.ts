import { type EntryPath, displayPath } from '../../core/entry-path.js';
import { seenAndNotStored } from '../not-stored.js';
import type { PlannedMount } from './plan-mounts.js';

/* What is said of paths that a restore leaves as they are. */

/** Of paths that were asked for, and of which the snapshot knows no more than that they were there. */
export function notStoredMessages(planned: readonly PlannedMount[]): string[] {
  return planned.flatMap(({ name, notStored }) =>
    notStored.map(({ path, reason }) => {
      const shown = planned.length === 1 ? displayPath(path) : `${name}:${displayPath(path)}`;
      return `${shown} ${seenAndNotStored(reason)}: it stays as it is.`;
    }),
  );
}

/** Of paths that would differ in nothing but an owner that cannot be set: no restore changes them, so each says it. */
export function ownersKeptMessages(planned: readonly PlannedMount[]): string[] {
  const paths = planned.flatMap(({ plan }) => plan.ownersKept);
  if (paths.length === 0) return [];
  return paths.length === 1
    ? [`You may not set the owner of ${listed(paths)}, which is another than in the snapshot: it stays as it is.`]
    : [`You may not set the owners of ${listed(paths)}, which are others than in the snapshot: they stay as they are.`];
}

/** Of paths that were restored, but for that. */
export function ownersNotSetMessages(paths: readonly EntryPath[]): string[] {
  if (paths.length === 0) return [];
  const [what, owner] = paths.length === 1 ? ['path', 'owner'] : ['paths', 'owners'];
  return [`The ${owner} of ${String(paths.length)} restored ${what} could not be set: ${listed(paths)}.`];
}

/** Of a plan without a change. */
export function nothingMessage(planned: readonly PlannedMount[]): string {
  if (planned.some(({ plan }) => plan.blocked.length > 0)) return 'Nothing was restored.';
  const apart = planned.some(({ plan }) => plan.ownersKept.length > 0) ? 'apart from owners, ' : '';
  return `Nothing to restore: ${apart}what the snapshot stores is as it was.`;
}

const namedAtMost = 10;

function listed(paths: readonly EntryPath[]): string {
  const named = paths.slice(0, namedAtMost).map((path) => displayPath(path === '' ? '.' : path));
  const rest = paths.length - named.length;
  return rest === 0 ? named.join(', ') : `${named.join(', ')} and ${String(rest)} more`;
}
