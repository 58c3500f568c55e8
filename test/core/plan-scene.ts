import { expect, test } from 'vitest';

import type { LeftOutReason, StoredEntry } from '../../src/core/entry.js';
import { type EntryPath, parentPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import type { ObservedLine } from '../../src/core/manifest.js';
import { ObservedSet } from '../../src/core/observed-set.js';
import { type MountPlan, planRestore } from '../../src/core/restore-plan.js';

/*
 * A mount then and now in a few words. A state is written as `file A 0644`, `link A`, `dir 0755`; with `= first` it
 * belongs to the hard-link group of that path, with `of 7` it is owned by that user. Folders above need not be named.
 */

export type States = Readonly<Record<string, string>>;

export interface Scene {
  readonly then?: States;
  readonly thenOut?: Readonly<Record<string, ObservedLine['reason']>>;
  /** What the save was limited to. */
  readonly thenScope?: readonly string[];
  readonly now?: States;
  readonly nowOut?: Readonly<Record<string, LeftOutReason>>;
  /** Live paths whose inode has names that the capture does not know. */
  readonly shared?: readonly string[];
  readonly scope?: readonly string[];
  readonly noDelete?: boolean;
  readonly deleteNewRepositories?: boolean;
  /** What the restore that is taken back had put there. */
  readonly returned?: States;
  /** Why rules forbid to delete what they name. */
  readonly protection?: Readonly<Record<string, string>>;
  /** Default: of everything. */
  readonly maySetOwner?: 'of what is made anew' | 'never';
}

export function planOf(scene: Scene): MountPlan {
  const wanted = tree(scene.then);
  const scope = scene.thenScope as readonly EntryPath[] | undefined;
  const lines = Object.entries(scene.thenOut ?? {}).map(
    ([path, reason]) => ({ path, reason, directory: false }) as ObservedLine,
  );
  return planRestore({
    wanted,
    observedThen: new ObservedSet(lines, (path) => wanted.get(path)?.kind === 'directory', scope ?? null),
    live: tree(scene.now),
    liveLeftOut: new Map(Object.entries(scene.nowOut ?? {})) as Map<EntryPath, LeftOutReason>,
    sharedElsewhere: (path) => scene.shared?.includes(path) ?? false,
    scope: (scene.scope as readonly EntryPath[] | undefined) ?? null,
    noDelete: scene.noDelete ?? false,
    deleteNewRepositories: scene.deleteNewRepositories ?? false,
    returned: tree(scene.returned),
    protection: (path) => scene.protection?.[path] ?? null,
    maySetOwner: (present) => (present === null ? scene.maySetOwner !== 'never' : scene.maySetOwner === undefined),
  });
}

/** The plan as lines: `create a`, `keep b: ignored`, `block c: …`, `owner stays d`. */
export function planLines(scene: Scene): string[] {
  const { changes, kept, blocked, ownersKept } = planOf(scene);
  return [
    ...changes.map(({ action, path }) => `${action} ${path === '' ? '.' : path}`),
    ...kept.map(({ path, reason }) => `keep ${path}: ${reason}`),
    ...blocked.map(({ path, reason }) => `block ${path}: ${reason}`),
    ...ownersKept.map((path) => `owner stays ${path === '' ? '.' : path}`),
  ];
}

export function tree(states: States = {}): Map<EntryPath, StoredEntry> {
  const entries = new Map<EntryPath, StoredEntry>();
  for (const [path, state] of Object.entries({ '': 'dir', ...states })) addEntry(entries, path as EntryPath, state);
  return new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addEntry(entries: Map<EntryPath, StoredEntry>, path: EntryPath, state: string): void {
  const above = parentPath(path);
  if (path !== '' && !entries.has(above)) addEntry(entries, above, 'dir');
  entries.set(path, parseState(path, state));
}

function parseState(path: EntryPath, state: string): StoredEntry {
  const [, kind, letter, octal, linkedTo, owner] =
    /^(dir|file|ranges|link)(?: ([A-Z]))?(?: (0[0-7]+))?(?: = (\S+))?(?: of (\d+))?$/.exec(state) ?? [];
  const base = { path, uid: Number(owner ?? 1), gid: 1 };
  if (kind === 'dir') return { kind: 'directory', mode: modeOf(octal, '755'), ...base };
  const oid = (letter ?? '').repeat(40).toLowerCase() as ObjectId;
  const link = linkedTo === undefined ? {} : { linkedTo: linkedTo as EntryPath };
  if (kind === 'link') return { kind: 'symlink', oid, size: 1, ...link, ...base };
  if (kind === undefined) throw new Error(`no state: ${state}`);
  const form = kind === 'ranges' ? { byRanges: true } : {};
  return { kind: 'file', mode: modeOf(octal, '644'), oid, size: 1, sparse: false, ...form, ...link, ...base };
}

function modeOf(octal: string | undefined, usual: string): number {
  return parseInt(octal ?? usual, 8);
}

export interface Row extends Scene {
  readonly what: string;
  readonly plan: readonly string[];
}

/** One test a row. */
export function follows(rows: readonly Row[]): void {
  test.each(rows)('$what', ({ plan, ...scene }) => {
    expect(planLines(scene)).toEqual(plan);
  });
}
