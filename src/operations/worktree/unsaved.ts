import { type EntryPath, displayPath, joinPath, rootPath } from '../../core/entry-path.js';
import type { Directory } from '../../core/ports.js';
import type { SaveResult } from '../../core/results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { Fingerprints } from './fingerprints.js';

/**
 * What would be lost with a worktree that was just saved, in words: what neither the snapshot nor a commit has. What is
 * ignored or excluded does not count, as for git, unless it is a repository. What cannot be known counts.
 */
export async function unsavedIn(
  context: Context,
  record: WorktreeRecord,
  look: WorktreeLook,
  saved: SaveResult,
): Promise<string[]> {
  const root = context.host.openMount(record.path);
  try {
    const fingerprint = new Fingerprints(context, root);
    return [
      ...inRepository(look),
      ...staged(look, fingerprint),
      ...leftOut(look, saved, fingerprint),
      ...(await repositoriesBelow(context, root, rootPath, root.identity.dev)),
    ];
  } finally {
    root.close();
  }
}

function inRepository(look: WorktreeLook): string[] {
  if (!look.linked) return [];
  return [
    ...(look.head === null ? ['what is checked out in it cannot be made out'] : []),
    ...(look.head !== null && !look.headIsHeld ? [`no branch has its commit ${look.head.slice(0, 12)}`] : []),
    ...look.left.map((oid) => `no branch has the commits at ${oid.slice(0, 12)}, which its HEAD left`),
    ...(look.operation === null ? [] : [`a ${look.operation} is in progress`]),
    ...(look.holdsOwn ? ['it has refs or submodules of its own'] : []),
  ];
}

function staged({ linked, staged: index, headFiles }: WorktreeLook, fingerprints: Fingerprints): string[] {
  if (!linked) return [];
  if (index === null || headFiles === null) return ['what is staged cannot be read'];
  const lost = [...index].filter(
    ([path, oid]) => headFiles.get(path) !== oid && (oid === null || fingerprints.of(path) !== oid),
  );
  return lost.length === 0 ? [] : [`staged, and not so in the files: ${namesOf(lost.map(([path]) => path))}`];
}

function leftOut({ headFiles }: WorktreeLook, saved: SaveResult, fingerprints: Fingerprints): string[] {
  const lost = saved.observedOnly.filter(
    ({ path, reason }) =>
      reason !== 'ignored' &&
      reason !== 'excluded' &&
      !fingerprints.isAsIn(path.replace(/\/$/, '') as EntryPath, headFiles),
  );
  return lost.length === 0 ? [] : [`not in the snapshot: ${namesOf(lost.map(({ path }) => path))}`];
}

export function namesOf(paths: readonly EntryPath[]): string {
  const shown = paths.slice(0, 5).map((path) => displayPath(path));
  return paths.length > shown.length
    ? `${shown.join(', ')} and ${String(paths.length - shown.length)} more`
    : shown.join(', ');
}

/** Also in what is ignored: a clone there may hold commits that nobody else has. */
async function repositoriesBelow(
  context: Context,
  directory: Directory,
  path: EntryPath,
  dev: bigint,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of directory.list()) {
    await context.interruption.pause();
    const stat = directory.stat(name);
    if (stat?.kind !== 'directory') continue;
    const below = joinPath(path, name);
    if (stat.dev !== dev) found.push(`another file system is mounted at ${displayPath(below)}`);
    else if (name === '.git') found.push(`${displayPath(path)} is a repository of its own`);
    else found.push(...(await within(context, directory, name, below, dev)));
  }
  return found;
}

async function within(
  context: Context,
  parent: Directory,
  name: string,
  path: EntryPath,
  dev: bigint,
): Promise<string[]> {
  let directory: Directory;
  try {
    directory = parent.enter(name);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [`${displayPath(path)} cannot be looked into`];
  }
  try {
    return await repositoriesBelow(context, directory, path, dev);
  } finally {
    directory.close();
  }
}
