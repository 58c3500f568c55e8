import { Buffer } from 'node:buffer';

import { pathToJson } from '../../core/entry-path.js';
import type { IndexFlag, IndexState, StagedEntry } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import { directoryMode, hashObject } from '../pack/format.js';
import type { ObjectKeeper } from './kept-objects.js';
import type { IndexEntry, TrackedIndex } from './tracked-index.js';
import { gitlink } from './tree-content.js';

/*
 * The index as a tree, which shares what it has with the trees of commits and with the files, and a list of what a tree
 * cannot say.
 */

type IndexKeeper = Pick<ObjectKeeper, 'keepMadeTree' | 'keepLooseFile'>;

/** The same without taking anything in. */
export function stateOfIndex(index: TrackedIndex): Promise<IndexState> {
  return keepIndex(index, {
    keepMadeTree: (content) => Promise.resolve(hashObject('tree', content)),
    keepLooseFile: () => undefined,
  });
}

/** Takes the staged files in. */
export async function keepIndex(index: TrackedIndex, keeper: IndexKeeper): Promise<IndexState> {
  const entries: StagedEntry[] = [];
  const open: OpenTree[] = [{ prefix: '', parts: [] }];
  for (const entry of index.entries()) {
    const flags = flagsOf(entry);
    const isStaged = entry.stage === 0 && !entry.intentToAdd;
    if (!isStaged || flags.length > 0) entries.push(toStagedEntry(entry, flags));
    if (isStaged) await addStaged(open, entry, keeper);
    else if (entry.mode !== gitlink && !entry.intentToAdd) keeper.keepLooseFile(entry.oid, entry.path);
  }
  await closeUntil(open, keeper, (tree) => tree.prefix === '');
  return { tree: await keeper.keepMadeTree(Buffer.concat(open[0]?.parts ?? []), ''), entries };
}

function flagsOf({ assumeValid, skipWorktree, intentToAdd }: IndexEntry): IndexFlag[] {
  return [
    ...(assumeValid ? ['assume-valid' as const] : []),
    ...(skipWorktree ? ['skip-worktree' as const] : []),
    ...(intentToAdd ? ['intent-to-add' as const] : []),
  ];
}

function toStagedEntry({ path, mode, oid, stage }: IndexEntry, flags: readonly IndexFlag[]): StagedEntry {
  return { path: pathToJson(path), mode: mode.toString(8), object: oid, stage, flags };
}

interface OpenTree {
  /** The directory's path with its slash. */
  readonly prefix: string;
  readonly parts: Buffer[];
}

/** The index is in the order of whole paths, which is the order of trees. */
async function addStaged(open: OpenTree[], { path, mode, oid }: IndexEntry, keeper: IndexKeeper): Promise<void> {
  await closeUntil(open, keeper, (tree) => path.startsWith(tree.prefix));
  for (;;) {
    const innermost = open.at(-1);
    if (innermost === undefined) return;
    const slash = path.indexOf('/', innermost.prefix.length);
    if (slash < 0) {
      add(innermost, mode, path.slice(innermost.prefix.length), oid);
      return;
    }
    open.push({ prefix: path.slice(0, slash + 1), parts: [] });
  }
}

async function closeUntil(open: OpenTree[], keeper: IndexKeeper, isDone: (tree: OpenTree) => boolean): Promise<void> {
  for (let tree = open.at(-1); tree !== undefined && !isDone(tree); tree = open.at(-1)) {
    open.pop();
    const parent = open.at(-1);
    if (parent === undefined) return;
    const oid = await keeper.keepMadeTree(Buffer.concat(tree.parts), tree.prefix.slice(0, -1));
    add(parent, directoryMode, tree.prefix.slice(parent.prefix.length, -1), oid);
  }
}

function add(tree: OpenTree, mode: number, name: string, oid: ObjectId): void {
  tree.parts.push(Buffer.from(`${mode.toString(8)} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex'));
}
