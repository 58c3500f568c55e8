import type { EntryStat } from '../../core/entry.js';
import { type EntryPath, baseName, parentPath, rootPath } from '../../core/entry-path.js';
import type { WritableDirectory } from '../../core/ports.js';
import type { Change } from '../../core/restore-plan.js';
import type { RestoreThreads } from '../../core/restore-threads.js';
import { systemCode } from '../../errors.js';
import type { Applied } from './apply.js';
import { DirectoryChain } from './directory-chain.js';
import { hasAttributes, isInState } from './entry-state.js';
import type { ContentHasher } from './hashing.js';
import { MountWriter } from './mount-writer.js';

/**
 * Looks at every path that was changed once more, content by its hash: those that are not as they should be. A
 * directory whose mode forbids the look is lent the permission.
 * @param threads take a part of it, if there are any
 * @param onLend is called, durably, before a directory's mode is changed for a while
 */
export async function verifyChanges(
  root: WritableDirectory,
  applied: Applied,
  { hasher, threads }: { readonly hasher: ContentHasher; readonly threads?: RestoreThreads | undefined },
  onLend: (path: EntryPath, mode: number) => void,
): Promise<EntryPath[]> {
  const files = applied.done.flatMap(({ after }) => (after?.kind === 'file' ? [after] : []));
  const confirmed = await threads?.confirm(root, files);
  const unlike: EntryPath[] = [];
  const chain = new DirectoryChain(root, () => undefined);
  const lender = new MountWriter(root, new Map(), onLend);
  const foreign = new Set(applied.ownersNotSet);
  const isLike = async ({ path, after }: Change): Promise<boolean> => {
    if (path === rootPath) return after === null || foreign.has(path) || hasAttributes(root.statSelf(), after);
    const directory = directoryAt(chain, parentPath(path));
    if (directory === undefined) return after === null;
    const stat = statLending(directory, path, lender);
    const attributes = after === null || stat === undefined || foreign.has(path) || hasAttributes(stat, after);
    return attributes && (await isInState(directory, baseName(path), after, hasher));
  };
  try {
    for (const change of applied.done)
      if (confirmed?.has(change.path) !== true && !(await isLike(change))) unlike.push(change.path);
  } finally {
    chain.close();
    lender.close();
  }
  return unlike;
}

function statLending(directory: WritableDirectory, path: EntryPath, lender: MountWriter): EntryStat | undefined {
  try {
    return directory.stat(baseName(path));
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    return lender.write(path, (same) => same.stat(baseName(path)));
  }
}

function directoryAt(chain: DirectoryChain, path: EntryPath): WritableDirectory | undefined {
  try {
    return chain.at(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}
