import type { FileChange } from '../../core/assessment.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { PresentFile } from '../../core/present-file.js';
import { directoryMode } from '../pack/format.js';
import { hasStaged, isChanged } from './dirty.js';
import { locate } from './location.js';
import type { UserRepo } from './read-user-repo.js';
import { RepositoryObjects } from './repository-objects.js';
import type { IndexEntry, TrackedIndex } from './tracked-index.js';
import { parseUserTree } from './tree-content.js';

/** What `git status` would name, and what cannot be known of it, in words. */
export interface Changes {
  readonly files: readonly FileChange[];
  readonly unknown: readonly string[];
}

/**
 * The files that are changed, staged or untracked, in the order of their paths; each untracked file by itself. Submodules
 * do not count, as for isDirty.
 * @param folder the repository's, which need not be open any more where `repo` was read from
 */
export function listChanges(
  folder: string,
  repo: UserRepo,
  present: (path: EntryPath) => PresentFile | undefined,
  untracked: readonly EntryPath[],
): Changes {
  const unknown: string[] = [];
  const status: Line[] = untracked.map((path) => [path, '??']);
  if (repo.index === null) unknown.push('its index');
  else {
    const staged = stagedIn(folder, repo, repo.index, unknown);
    for (const entry of repo.index.entries()) {
      const letters = lettersOf(entry, staged, inFolder(repo, entry, present, unknown));
      if (letters !== '  ' && status.at(-1)?.[0] !== entry.path) status.push([entry.path, letters]);
    }
    // What lies there all the same is untracked, and has a line of its own.
    for (const [path, letter] of staged) if (letter === 'D') status.push([path, 'D ']);
  }
  const files = status.sort(([a, x], [b, y]) => (a === b ? (x < y ? 1 : -1) : a < b ? -1 : 1));
  return { files: files.map(([path, letters]) => ({ path: path as EntryPath, status: letters })), unknown };
}

type Line = readonly [path: string, status: string];

function lettersOf(
  { path, stage, intentToAdd }: IndexEntry,
  staged: ReadonlyMap<string, string>,
  folder: string,
): string {
  if (stage !== 0) return 'UU';
  return intentToAdd ? ' A' : `${staged.get(path) ?? ' '}${folder}`;
}

function inFolder(
  { index, fileMode }: UserRepo,
  entry: IndexEntry,
  present: (path: EntryPath) => PresentFile | undefined,
  unknown: string[],
): string {
  if (index === null) return ' ';
  const changed = isChanged(entry, present, index, fileMode);
  if (changed === null) unknown.push(`whether ${entry.path} is changed`);
  if (changed !== true) return ' ';
  const file = present(entry.path as EntryPath);
  if (file === undefined || file.kind === 'directory') return 'D';
  const wasLink = (entry.mode & 0o170000) === 0o120000;
  return (file.kind === 'symlink') === wasLink && file.kind !== 'special' ? 'M' : 'T';
}

/** What the index has otherwise than the commit: `A`, `M`, `T` or `D` by path. */
function stagedIn(folder: string, repo: UserRepo, index: TrackedIndex, unknown: string[]): Map<string, string> {
  const staged = new Map<string, string>();
  const known = hasStaged(index, repo);
  if (known === false) return staged;
  const committed = known === null ? null : headFilesOf(folder, repo);
  if (committed === null) {
    unknown.push('what is staged');
    return staged;
  }
  for (const { path, mode, oid, stage, intentToAdd } of index.entries()) {
    const before = committed.get(path);
    committed.delete(path);
    const letter = stage !== 0 || intentToAdd ? null : stagedLetter(before, { mode, oid });
    if (letter !== null) staged.set(path, letter);
  }
  for (const path of committed.keys()) staged.set(path, 'D');
  return staged;
}

function stagedLetter(before: TreeFile | undefined, { mode, oid }: TreeFile): string | null {
  if (before === undefined) return 'A';
  if ((before.mode & 0o170000) !== (mode & 0o170000)) return 'T';
  return before.oid === oid && before.mode === mode ? null : 'M';
}

interface TreeFile {
  readonly mode: number;
  readonly oid: ObjectId;
}

/** Of a branch without a commit there are none. */
function headFilesOf(folder: string, repo: UserRepo): Map<string, TreeFile> | null {
  return repo.state.head === null ? new Map<string, TreeFile>() : committedIn(folder, repo);
}

function committedIn(folder: string, { kind, headTree }: UserRepo): Map<string, TreeFile> | null {
  if (headTree === null) return null;
  const location = locate(folder, kind === 'clone' ? 'directory' : 'file');
  if (location.kind !== 'read') return null;
  const objects = new RepositoryObjects(location.value.commonDir);
  const files = new Map<string, TreeFile>();
  try {
    return addFiles(objects, headTree, '', files) ? files : null;
  } finally {
    objects.close();
    location.value.close();
  }
}

function addFiles(objects: RepositoryObjects, tree: ObjectId, prefix: string, files: Map<string, TreeFile>): boolean {
  const content = objects.read(tree, 'tree');
  const entries = content.kind === 'read' ? parseUserTree(content.value) : undefined;
  if (entries === undefined || prefix.length > 4096) return false;
  return entries.every(({ mode, name, oid }) => {
    if (mode === directoryMode) return addFiles(objects, oid, `${prefix}${name}/`, files);
    files.set(prefix + name, { mode, oid });
    return true;
  });
}
