import { parentOf } from '../support/bytes.js';
import { compareTrees } from '../support/compare.js';
import type { TreeEntry } from '../support/walk.js';

/*
 * What a mount must hold after a restore, worked out from the two walks before it and nothing else: not from the plan,
 * and not from any code of the program.
 */

export interface ExpectedRestore {
  readonly entries: readonly TreeEntry[];
  /** Paths that are as they were saved, be they restored or never changed. */
  readonly asSaved: ReadonlySet<string>;
  /** Saved paths whose place is held by something that no restore may remove. */
  readonly obstructed: ReadonlySet<string>;
  /** Paths that the snapshot does not hold and that stay nevertheless, with what they stand in. */
  readonly staying: ReadonlySet<string>;
}

/** `saved` and `damaged` are walks with `.git` directories. */
export function expectedRestore(
  saved: readonly TreeEntry[],
  damaged: readonly TreeEntry[],
  deleteNewRepositories: boolean,
): ExpectedRestore {
  const stored = byPath(withoutLeftOut(saved));
  const situation = { present: byPath(damaged), seen: byPath(saved), deleteNewRepositories };
  const staying = new Set<string>();
  for (const { path } of damaged) {
    if (mustStay(path, situation)) for (let at = path; !staying.has(at); at = parentOf(at)) staying.add(at);
  }
  const obstructed = new Set(
    [...stored.values()]
      .filter(isNoDirectory)
      .map(pathOf)
      .filter((path) => staying.has(path)),
  );
  const asSaved = new Set([...stored.keys()].filter((path) => !obstructed.has(path)));
  const left = damaged.filter(({ path }) => staying.has(path) && !asSaved.has(path));
  const entries = [...saved.filter(({ path }) => asSaved.has(path)), ...left];
  return { entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)), asSaved, obstructed, staying };
}

/**
 * The differences between what must be there and what is. Hard links count among paths of the same origin: what was
 * restored shares its inode with what was restored, never with what was left alone, unless that was so before.
 */
export function wrongAfterRestore(expected: ExpectedRestore, found: readonly TreeEntry[]): string[] {
  const { asSaved, entries } = expected;
  const restored = (entry: TreeEntry): boolean => asSaved.has(entry.path);
  return [
    ...compareTrees(entries, found, { ignore: ['linkGroup'] }),
    ...compareTrees(regrouped(entries.filter(restored)), regrouped(found.filter(restored))),
  ];
}

/** Paths of which the walk before and the walk after must tell the same inode, content and time. */
export function touchedWithoutNeed(
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
  planned: ReadonlySet<string>,
): string[] {
  const found = byPath(after);
  return before.flatMap(({ path, type, ino, mtimeNs }) => {
    const now = found.get(path);
    if (planned.has(path)) return [];
    if (now === undefined) return [`removed ${path}`];
    const same = now.ino === ino && (type === 'directory' || now.mtimeNs === mtimeNs);
    return same ? [] : [`touched ${path}`];
  });
}

interface Situation {
  readonly present: ReadonlyMap<string, TreeEntry>;
  /** All that the save saw, by path. */
  readonly seen: ReadonlyMap<string, TreeEntry>;
  readonly deleteNewRepositories: boolean;
}

function mustStay(path: string, situation: Situation): boolean {
  if (isSpecial(situation.present.get(path))) return true;
  for (let at = path; at !== ''; at = parentOf(at))
    if (isLastingRepository(at, situation) || isNewRepository(at, situation)) return true;
  return false;
}

// A `.git` directory that the save saw, or that stands where it saw another `.git`; and the root's own, whatever it is.
function isLastingRepository(path: string, { present, seen, deleteNewRepositories }: Situation): boolean {
  const entry = present.get(path);
  if (entry === undefined || nameOf(path) !== '.git') return false;
  const isKnown = seen.get(path)?.type === 'directory';
  if (seen.has(path) && entry.type !== 'directory') return false;
  return isKnown || path === '.git' || !deleteNewRepositories;
}

// A repository made since is its folder with all in it, or its `.git` alone where the folder is the snapshot's.
function isNewRepository(path: string, { present, seen, deleteNewRepositories }: Situation): boolean {
  const git = `${path}/.git`;
  const isNew = seen.get(path)?.type !== 'directory' && !seen.has(git);
  return !deleteNewRepositories && isNew && present.has(git);
}

function withoutLeftOut(entries: readonly TreeEntry[]): TreeEntry[] {
  const known = byPath(entries);
  return entries.filter((entry) => {
    if (isSpecial(entry)) return false;
    for (let at = entry.path; at !== ''; at = parentOf(at)) if (isGitDirectory(known.get(at))) return false;
    return true;
  });
}

function isGitDirectory(entry: TreeEntry | undefined): boolean {
  return entry?.type === 'directory' && nameOf(entry.path) === '.git';
}

function isSpecial(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && !['file', 'directory', 'symlink'].includes(entry.type);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isNoDirectory({ type }: TreeEntry): boolean {
  return type !== 'directory';
}

function byPath(entries: readonly TreeEntry[]): Map<string, TreeEntry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

function pathOf({ path }: TreeEntry): string {
  return path;
}

/** The same entries, their hard-link groups reckoned among themselves. */
export function regrouped(entries: readonly TreeEntry[]): TreeEntry[] {
  const groups = new Map<string, string[]>();
  const inode = ({ dev, ino }: TreeEntry): string => `${dev}:${ino}`;
  for (const entry of entries) {
    if (entry.type !== 'directory') groups.set(inode(entry), [...(groups.get(inode(entry)) ?? []), entry.path]);
  }
  return entries.map((entry) => {
    const paths = groups.get(inode(entry)) ?? [];
    return { ...entry, linkGroup: paths.length > 1 ? paths[0]! : null };
  });
}
