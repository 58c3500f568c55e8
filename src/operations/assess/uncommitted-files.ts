import type { FileChange } from '../../core/assessment.js';
import { displayPath, joinPath, rootPath } from '../../core/entry-path.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { Policy } from '../../core/policy.js';
import type { Directory } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import { type CapturedMount, captureMounts, openRoot } from '../capture/capture-mounts.js';
import { incompletePaths } from '../capture/incomplete.js';
import { lookOnly } from '../capture/look-only.js';
import { atRepository } from '../capture/recorded-repositories.js';
import type { Context } from '../context.js';

/*
 * The files of a mount's repositories that `git status` would name.
 */

/** Whether there is one, in the mount's own repository or in one below it; null where that cannot be known. */
export async function hasUncommitted(
  context: Context,
  record: InstanceRecord,
  mount: MountRecord,
): Promise<boolean | null> {
  const root = openRoot(context, mount);
  try {
    const seen = await captureForGit(context, record, mount);
    let isAllSeen = unreadIn(seen).length === 0 && seen.repositories.some(({ path }) => path === rootPath);
    for (const one of seen.repositories) {
      const found = await atRepository(root, one.path, (directory) => uncommittedIn(one, directory, seen));
      if (found?.dirty === true) return true;
      if (found?.dirty !== false) isAllSeen = false;
    }
    return isAllSeen ? false : null;
  } finally {
    root.close();
  }
}

export type SeenRepository = CapturedMount['repositories'][number];

export interface Uncommitted {
  /** Paths in the mount. */
  readonly files: readonly FileChange[];
  /** Why there may be others. */
  readonly unknown: readonly string[];
  readonly dirty: boolean | null;
}

/** @param directory the repository's */
export async function uncommittedIn(
  { path, changes }: SeenRepository,
  directory: Directory,
  seen: CapturedMount,
): Promise<Uncommitted> {
  const { files: all, unknown } = await changes(directory);
  const files = all
    .map((change) => ({ path: joinPath(path, change.path), status: change.status }))
    .filter((change) => !isUnread(seen, change));
  return { files, unknown, dirty: files.length > 0 ? true : unknown.length > 0 ? null : false };
}

/** What git would look at: secrets, and what only our settings exclude. No content is kept, only compared. */
export async function captureForGit(
  context: Context,
  record: InstanceRecord,
  mount: MountRecord,
): Promise<CapturedMount> {
  const policy: Policy = {
    ...record.policy,
    exclude: [],
    include: [],
    gitignore: true,
    stacks: false,
    more_stacks: [],
    include_secrets: true,
    max_total_size: null,
  };
  const [captured] = await captureMounts(context, lookOnly(context, record, { mounts: [mount], policy }));
  if (captured === undefined) throw new SnapError('INTERNAL', 'A mount was not looked at.', { what: mount.name });
  return captured;
}

const unreadReasons: ReadonlySet<string> = new Set([
  'too_large',
  'unreadable',
  'unstable',
  'unsupported',
  'foreign_fs',
]);

/** It is not deleted: it was not looked at. */
function isUnread({ captured }: CapturedMount, { path, status }: FileChange): boolean {
  if (!status.endsWith('D')) return false;
  return captured.leftOut.some(
    (left) => unreadReasons.has(left.reason) && (left.path === path || path.startsWith(`${left.path}/`)),
  );
}

/** What was not looked at and might be changed, in words. */
export function unreadIn(seen: CapturedMount): string[] {
  const limited = seen.captured.leftOut.filter(({ reason }) => reason === 'too_large' || reason === 'foreign_fs');
  const paths = [...new Set([...incompletePaths([seen]), ...limited.map(({ path }) => path)])];
  if (paths.length === 0) return [];
  const named = paths.slice(0, 5).map((path) => displayPath(path === '' ? '.' : path));
  return [`${named.join(', ')}${paths.length > 5 ? ` and ${String(paths.length - 5)} more` : ''}`];
}
