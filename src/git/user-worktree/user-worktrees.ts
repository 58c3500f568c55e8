import { mkdirSync } from 'node:fs';

import { type EntryPath, type HostPath, baseName, displayPath, parentOf } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook, Worktrees } from '../../core/worktrees.js';
import { SnapError } from '../../errors.js';
import { directoryMode } from '../pack/format.js';
import { readCommitTree } from '../user-repo/commit-tree.js';
import { countAhead, isReached } from '../user-repo/commit-walk.js';
import { encodeIndexFile } from '../user-repo/encode-index.js';
import { removeFileIfThere, syncDirectory } from '../user-repo/entries-of-directory.js';
import { GuardedDirectory, type Reading } from '../user-repo/guarded-directory.js';
import { leftCommits } from '../user-repo/left-commits.js';
import { operationOf, readIndex } from '../user-repo/read-user-repo.js';
import { readableRefs } from '../user-repo/ref-listing.js';
import { readHead, resolveRef } from '../user-repo/refs.js';
import { RepositoryObjects } from '../user-repo/repository-objects.js';
import { parseUserTree } from '../user-repo/tree-content.js';
import { createBranch, deleteBranch } from './branch.js';
import { checkOut } from './check-out.js';
import { findSource, unsuitable } from './find-source.js';
import { enter, enterOrMake, makeFile, makeNew, removeAll, rename } from './guarded-writing.js';

/*
 * Linked worktrees as git keeps them: `worktrees/<name>` in the repository, a `.git` file in the folder. All of it is
 * written in process, since git would run what the repository's configuration and hooks name.
 */

export const userWorktrees: Worktrees = { findSource, create, look, removeLink };

async function create(record: WorktreeRecord, pause: () => Promise<void>): Promise<void> {
  const { repository, commonDir: path, baseCommit, branch, path: folder } = record;
  const commonDir = opened(repository, GuardedDirectory.open(path));
  const objects = new RepositoryObjects(commonDir);
  try {
    const tree = readCommitTree(commonDir, baseCommit);
    if (tree.kind !== 'read') throw unsuitable(repository, tree.kind === 'absent' ? 'HEAD is gone' : tree.why);
    await takingBack(async (undo) => {
      makeLink(commonDir, record, undo);
      createBranch(commonDir, branch, baseCommit);
      undo(() => deleteBranch(commonDir, branch, baseCommit));
      mkdirSync(Buffer.from(folder, 'latin1'));
      const files = await checkOut({ objects, repository, tree: tree.value, folder, pause });
      finish(commonDir, record, encodeIndexFile(files));
    });
  } finally {
    objects.close();
    commonDir.close();
  }
}

/** On failure undoes what was done, and nothing that was there before. */
async function takingBack(act: (undo: (step: () => void) => void) => Promise<void>): Promise<void> {
  const steps: (() => void)[] = [];
  try {
    await act((step) => steps.push(step));
  } catch (error) {
    for (const step of steps.toReversed()) step();
    throw error;
  }
}

const unfinished = 'jackin-snap is making it\n';

/** Locked until it is whole, so that nobody's `git worktree prune` takes it. */
function makeLink(
  commonDir: GuardedDirectory,
  { name, branch, path, baseCommit }: WorktreeRecord,
  undo: (step: () => void) => void,
): void {
  const worktrees = enterOrMake(commonDir, 'worktrees');
  try {
    const link = makeNew(worktrees, name);
    undo(() => removeAll(commonDir, 'worktrees', name));
    makeFile(link, 'locked', unfinished);
    makeFile(link, 'gitdir', `${path}/.git\n`);
    makeFile(link, 'commondir', '../..\n');
    makeFile(link, 'HEAD', `ref: refs/heads/${branch}\n`);
    makeFile(link, 'ORIG_HEAD', `${baseCommit}\n`);
    syncDirectory(link);
    link.close();
  } finally {
    worktrees.close();
  }
}

function finish(
  commonDir: GuardedDirectory,
  { name, path, commonDir: commonPath }: WorktreeRecord,
  index: Buffer,
): void {
  const folder = opened(path, GuardedDirectory.open(path));
  const link = enterLink(commonDir, name);
  try {
    makeFile(folder, '.git', `gitdir: ${commonPath}/worktrees/${name}\n`);
    syncDirectory(folder);
    makeFile(link, 'index.lock', index);
    rename(link, 'index.lock', 'index');
    removeFileIfThere(link, 'locked');
    syncDirectory(link);
  } finally {
    link.close();
    folder.close();
  }
}

function enterLink(commonDir: GuardedDirectory, name: string): GuardedDirectory {
  const worktrees = enter(commonDir, 'worktrees');
  try {
    return enter(worktrees, name);
  } finally {
    worktrees.close();
  }
}

function opened(path: HostPath, reading: Reading<GuardedDirectory>): GuardedDirectory {
  if (reading.kind === 'read') return reading.value;
  throw unsuitable(path, reading.kind === 'absent' ? 'it is gone' : reading.why);
}

const nothing: Omit<WorktreeLook, 'present'> = {
  linked: false,
  locked: false,
  head: null,
  branch: null,
  ahead: null,
  headIsHeld: false,
  left: [],
  operation: null,
  holdsOwn: false,
  headFiles: null,
  staged: null,
};

function look(record: WorktreeRecord): WorktreeLook {
  const present = isFolder(record.path);
  const commonDir = GuardedDirectory.open(record.commonDir);
  if (commonDir.kind !== 'read') return { present, ...nothing };
  try {
    const link = commonDir.value.enter(`worktrees/${record.name}`);
    if (link.kind !== 'read') return { present, ...nothing };
    try {
      return { present, ...lookAtLink(commonDir.value, link.value, record) };
    } finally {
      link.value.close();
    }
  } finally {
    commonDir.value.close();
  }
}

function lookAtLink(
  commonDir: GuardedDirectory,
  link: GuardedDirectory,
  record: WorktreeRecord,
): Omit<WorktreeLook, 'present'> {
  if (!isOurs(link, record)) return nothing;
  const objects = new RepositoryObjects(commonDir);
  try {
    const { ref, commit } = headOf(link, commonDir);
    const tips = [...readableRefs(commonDir).values()];
    return {
      linked: true,
      locked: isLocked(link),
      head: commit,
      branch: ref?.replace(/^refs\/heads\//, '') ?? null,
      ahead: commit === null ? null : countAhead(objects, commit, record.baseCommit),
      headIsHeld: commit !== null && isReached(objects, commit, tips),
      left: leftCommits(link, objects, commit === null ? tips : [...tips, commit]),
      operation: operationOf(link),
      holdsOwn: holdsOwn(link),
      headFiles: commit === null ? null : filesOf(commonDir, objects, commit),
      staged: stagedIn(link),
    };
  } finally {
    objects.close();
  }
}

function headOf(
  link: GuardedDirectory,
  commonDir: GuardedDirectory,
): { readonly ref: string | null; readonly commit: ObjectId | null } {
  const head = readHead(link);
  const ref = head.kind === 'read' && 'ref' in head.value ? head.value.ref : null;
  const resolved = ref === null ? head : resolveRef(link, commonDir, ref);
  if (resolved.kind !== 'read') return { ref, commit: null };
  return { ref, commit: typeof resolved.value === 'string' ? resolved.value : oidOf(resolved.value) };
}

function oidOf(head: { readonly ref: string } | { readonly oid: ObjectId }): ObjectId | null {
  return 'oid' in head ? head.oid : null;
}

/** Under our name there may be another worktree by now. */
function isOurs(link: GuardedDirectory, { path }: WorktreeRecord): boolean {
  const gitdir = link.read('gitdir', 64 * 1024);
  return gitdir.kind === 'read' && gitdir.value.toString('latin1').replace(/\n+$/, '') === `${path}/.git`;
}

/** Other than by us, while it was made. */
function isLocked(link: GuardedDirectory): boolean {
  const locked = link.read('locked', 64 * 1024);
  return locked.kind === 'unreadable' || (locked.kind === 'read' && locked.value.toString('latin1') !== unfinished);
}

function holdsOwn(link: GuardedDirectory): boolean {
  return ['refs/bisect', 'refs/worktree', 'refs/rewritten', 'modules'].some((path) => {
    const names = link.list(path);
    return names.kind === 'unreadable' || (names.kind === 'read' && names.value.length > 0);
  });
}

function filesOf(
  commonDir: GuardedDirectory,
  objects: RepositoryObjects,
  commit: ObjectId,
): Map<EntryPath, ObjectId> | null {
  const files = new Map<EntryPath, ObjectId>();
  const tree = readCommitTree(commonDir, commit);
  return tree.kind === 'read' && addFiles(objects, tree.value, '', files) ? files : null;
}

function addFiles(
  objects: RepositoryObjects,
  tree: ObjectId,
  prefix: string,
  files: Map<EntryPath, ObjectId>,
): boolean {
  const content = objects.read(tree, 'tree');
  const entries = content.kind === 'read' ? parseUserTree(content.value) : undefined;
  if (entries === undefined || prefix.length > 4096) return false;
  return entries.every(({ mode, name, oid }) => {
    if (mode === directoryMode) return addFiles(objects, oid, `${prefix}${name}/`, files);
    files.set((prefix + name) as EntryPath, oid);
    return true;
  });
}

function stagedIn(link: GuardedDirectory): Map<EntryPath, ObjectId | null> | null {
  const index = readIndex(link, []);
  if (index === null) return null;
  const staged = new Map<EntryPath, ObjectId | null>();
  for (const { path, oid, stage, intentToAdd } of index.entries())
    if (!intentToAdd) staged.set(path as EntryPath, stage === 0 ? oid : null);
  return staged;
}

function removeLink(record: WorktreeRecord): { readonly branchStays: boolean } {
  const commonDir = GuardedDirectory.open(record.commonDir);
  if (commonDir.kind === 'absent') return { branchStays: false };
  if (commonDir.kind === 'unreadable') throw unsuitable(record.repository, commonDir.why);
  try {
    const worktrees = commonDir.value.enter('worktrees');
    if (worktrees.kind === 'read') {
      try {
        removeOurs(worktrees.value, record);
      } finally {
        worktrees.value.close();
      }
    }
    return { branchStays: !removeBranch(commonDir.value, record) };
  } finally {
    commonDir.value.close();
  }
}

function removeOurs(worktrees: GuardedDirectory, record: WorktreeRecord): void {
  const link = worktrees.enter(record.name);
  if (link.kind !== 'read') return;
  // One that was left half-made may not say yet whose it is.
  const ours = isOurs(link.value, record) || (record.stage === 'making' && !link.value.exists('gitdir'));
  const locked = isLocked(link.value);
  link.value.close();
  if (!ours) return;
  if (locked) {
    const shown = displayPath(record.path);
    throw new SnapError('WORKTREE_LOCKED', `The worktree ${shown} is locked.`, { name: record.name, path: shown });
  }
  removeAll(worktrees, record.name);
}

/** True when there is no such branch any more. One is kept that has, or may have, a commit that nothing else reaches. */
function removeBranch(commonDir: GuardedDirectory, { branch, baseCommit }: WorktreeRecord): boolean {
  const ref = `refs/heads/${branch}`;
  const tip = resolveRef(commonDir, commonDir, ref);
  if (tip.kind === 'absent') return true;
  if (tip.kind === 'unreadable' || tip.value !== baseCommit) return false;
  const others = [...readableRefs(commonDir)].filter(([name]) => name !== ref).map(([, oid]) => oid);
  const objects = new RepositoryObjects(commonDir);
  try {
    if (!isReached(objects, baseCommit, others)) return false;
  } finally {
    objects.close();
  }
  return deleteBranch(commonDir, branch, baseCommit);
}

function isFolder(path: HostPath): boolean {
  const parent = GuardedDirectory.open(parentOf(path));
  if (parent.kind !== 'read') return false;
  const folder = parent.value.enter(baseName(path as string as EntryPath));
  if (folder.kind === 'read') folder.value.close();
  parent.value.close();
  return folder.kind !== 'absent';
}
