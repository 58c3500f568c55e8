import type { EntryPath } from '../../core/entry-path.js';
import type { Directory, StatCache, UnchangedParts } from '../../core/ports.js';
import type { Context } from '../context.js';
import { type RecordedRepositories, lookAtRecorded } from './recorded-repositories.js';

/** What the last walk recorded of a mount, and what of it is still so. */
export interface Recorded {
  /** The directory that was looked at. */
  readonly identity: Directory['identity'];
  readonly cache: StatCache;
  readonly parts: UnchangedParts;
  readonly repositories: RecordedRepositories;
}

/** Subtrees that a walk is to take over as they are recorded. */
export interface PassedOver {
  readonly recorded: Recorded;
  readonly subtrees: ReadonlySet<EntryPath>;
}

/** Looks at the stat of all that is recorded. Undefined where nothing is. */
export async function lookAtRecord(
  context: Context,
  root: Directory,
  cache: StatCache | undefined,
): Promise<Recorded | undefined> {
  if (cache === undefined) return undefined;
  const repositories = await lookAtRecorded(context.repositories, root, cache.notes.repositories);
  const parts = await cache.recheck(root, () => context.interruption.pause());
  return { identity: root.identity, cache, parts, repositories };
}

/** True when two records have the same fields with the same values. */
export function isAlike<Value extends object>(a: Value, b: Value): boolean {
  const keys = Object.keys(a) as (keyof Value)[];
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
