import { type Caller, maySetOwner } from '../../core/caller.js';
import { protectedFromDeletion } from '../../core/classify.js';
import type { LeftOutReason, StoredEntry } from '../../core/entry.js';
import { type EntryPath, type HostPath, displayPath, hostPathBelow, isWithin } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { ObservedSet } from '../../core/observed-set.js';
import { type Change, type Kept, type MountPlan, planRestore } from '../../core/restore-plan.js';
import type { KeptPath, PlannedChange } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { CapturedMount } from '../capture/capture-mounts.js';
import type { MountContent } from '../snapshot-content.js';
import type { Reach } from './guards.js';
import type { RulesThen } from './rules-then.js';

/** One mount's part of a restore. */
export interface PlannedMount {
  readonly name: MountName;
  readonly path: HostPath;
  readonly content: MountContent;
  readonly live: CapturedMount;
  /** How far the restore reaches; null for the whole mount. */
  readonly scope: readonly EntryPath[] | null;
  /** Blocked in it is also what was asked for by name, and is not stored. */
  readonly plan: MountPlan;
  /** Those of what is blocked that were seen and not stored, and were asked for by name. */
  readonly notStored: readonly NotStored[];
  /** Files and links that are deleted, apart from what an earlier restore had put there. */
  readonly newFilesDeleted: number;
}

export interface NotStored {
  readonly path: EntryPath;
  readonly reason: LeftOutReason;
}

export interface PlanOptions {
  readonly scope: readonly EntryPath[] | null;
  readonly noDelete: boolean;
  readonly deleteNewRepositories: boolean;
  /** Repositories are put back too, each by itself. */
  readonly gitState: boolean;
  /** Paths that nobody knows any more are in order; default: refused. */
  readonly unknownPaths?: 'pass' | undefined;
  /** What rules left out when others restored, after the snapshot was made. */
  readonly leftOutSince?: ObservedSet | undefined;
  /** What an earlier restore, which this one takes back, had put there. */
  readonly returned: ReadonlyMap<EntryPath, StoredEntry>;
  /** Who restores; null when that is not known. */
  readonly caller: Caller | null;
}

export function planMount(
  content: MountContent,
  live: CapturedMount,
  then: RulesThen,
  options: PlanOptions,
): PlannedMount {
  const leftOut = new Map<EntryPath, LeftOutReason>(live.captured.leftOut.map(({ path, reason }) => [path, reason]));
  const scope = intersect(options.scope, content.scope);
  const { caller } = options;
  if (options.unknownPaths !== 'pass') refuseUnknownPaths(content, live, leftOut, options.scope);
  const planned = planRestore({
    wanted: content.entries,
    observedThen: content.observed,
    live: live.captured.entries,
    liveLeftOut: leftOut,
    sharedElsewhere: sharedElsewhere(content.entries, live, scope),
    scope,
    noDelete: options.noDelete,
    deleteNewRepositories: options.deleteNewRepositories,
    returned: options.returned,
    protection: (path, directory) =>
      protectedFromDeletion(path, directory, then.rulesFor(path), live.rules.rulesFor(path)) ??
      options.leftOutSince?.leftOutAt(path) ??
      null,
    maySetOwner: (present, wanted) => caller === null || maySetOwner(caller, present ?? caller, wanted),
  });
  const notStored = namedAndNotStored(content, options);
  const plan = { ...planned, blocked: [...planned.blocked, ...notStored] };
  const newFilesDeleted = plan.changes.filter((change) => isFileDeleted(change, options.returned)).length;
  return { name: content.name, path: live.mount.path, content, live, scope, plan, notStored, newFilesDeleted };
}

/** Paths that were asked for by name, and of which the snapshot has nothing to put back. */
function namedAndNotStored({ entries, observed }: MountContent, options: PlanOptions): NotStored[] {
  if (options.unknownPaths === 'pass') return [];
  return [...new Set(options.scope)].flatMap((path) => {
    const reason = entries.has(path) ? undefined : observed.leftOutAt(path);
    if (reason === undefined || (reason === 'git_dir' && options.gitState)) return [];
    return [{ path, reason }];
  });
}

function isFileDeleted({ path, before, after }: Change, returned: PlanOptions['returned']): boolean {
  if (before === null || before.kind === 'directory' || after !== null) return false;
  const put = returned.get(path);
  return put?.kind !== before.kind || put.oid !== before.oid;
}

/** A restore goes no further than the save that made the snapshot did. */
function intersect(
  asked: readonly EntryPath[] | null,
  saved: readonly EntryPath[] | null,
): readonly EntryPath[] | null {
  if (saved === null) return asked;
  if (asked === null) return saved;
  const inner = (from: readonly EntryPath[], within: readonly EntryPath[]): EntryPath[] =>
    from.filter((path) => within.some((limit) => isWithin(path, limit)));
  return [...new Set([...inner(asked, saved), ...inner(saved, asked)])];
}

/** @throws SnapError PATH_NOT_FOUND for a path that neither the snapshot nor the mount knows, or that was not saved */
function refuseUnknownPaths(
  content: MountContent,
  live: CapturedMount,
  leftOut: ReadonlyMap<EntryPath, LeftOutReason>,
  scope: readonly EntryPath[] | null,
): void {
  for (const path of scope ?? []) {
    const saved = intersect([path], content.scope)?.length !== 0;
    if (saved && (isKnown(content, path) || live.captured.entries.has(path) || leftOut.has(path))) continue;
    const why = saved ? `is neither in the snapshot nor in mount ${content.name}` : 'was not saved in the snapshot';
    throw new SnapError('PATH_NOT_FOUND', `${displayPath(path)} ${why}.`, {
      path: displayPath(path),
      where: `mount ${content.name}`,
    });
  }
}

function isKnown({ entries, observed }: MountContent, path: EntryPath): boolean {
  return entries.has(path) || observed.leftOutAt(path) !== undefined || observed.absent.has(path);
}

/** True for a file whose inode has a name that this restore does not see, or that does not belong to its group. */
function sharedElsewhere(
  wanted: ReadonlyMap<EntryPath, StoredEntry>,
  live: CapturedMount,
  scope: readonly EntryPath[] | null,
): (path: EntryPath) => boolean {
  const groups = new Map<EntryPath, EntryPath[]>();
  for (const entry of live.captured.entries.values()) {
    const first = linkOf(entry);
    if (first !== undefined) groups.set(first, [...(groups.get(first) ?? []), entry.path]);
  }
  return (path) => {
    const entry = live.captured.entries.get(path);
    if (entry === undefined || entry.kind === 'directory' || entry.stat.nlink < 2) return false;
    if (scope !== null || entry.linkedTo === undefined) return true;
    const members = groups.get(entry.linkedTo) ?? [];
    const group = linkOf(wanted.get(path));
    return (
      members.length !== entry.stat.nlink ||
      members.some((member) => group === undefined || linkOf(wanted.get(member)) !== group)
    );
  };
}

function linkOf(entry: StoredEntry | undefined): EntryPath | undefined {
  return entry === undefined || entry.kind === 'directory' ? undefined : entry.linkedTo;
}

/** What of the mount is to be changed. */
export function reachOf({ path, plan }: PlannedMount): Reach {
  return { folder: path, paths: plan.changes.map((change) => change.path) };
}

export function toPlannedChanges(mounts: readonly PlannedMount[]): PlannedChange[] {
  return mounts.flatMap(({ name, path, plan }) => plan.changes.map((change) => toPlannedChange(name, path, change)));
}

export function toPlannedChange(mount: MountName, root: HostPath, change: Change): PlannedChange {
  const { path, action, reason, before, after } = change;
  return {
    mount,
    path,
    hostPath: hostPathBelow(root, path),
    action,
    reason,
    from: before?.kind ?? 'nothing',
    to: after?.kind ?? 'nothing',
    bytes: action !== 'chmod' && after !== null && after.kind !== 'directory' ? after.size : 0,
  };
}

export function toKeptPaths(mount: MountName, kept: readonly Kept[]): KeptPath[] {
  return kept.map(({ path, reason }) => ({ mount, path, reason }));
}
