import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';
import type { TrackedIndex } from './tracked-index.js';

/** The id of the tree that a commit of the index would have; null while a conflict is unresolved. Writes nothing. */
export function treeOfIndex(index: TrackedIndex): ObjectId | null {
  const open: OpenTree[] = [{ prefix: '', entries: [] }];
  for (const { path, mode, oid, stage, intentToAdd } of index.entries()) {
    if (stage !== 0) return null;
    if (intentToAdd) continue;
    closeUntil(open, (tree) => path.startsWith(tree.prefix));
    let innermost = open.at(-1);
    while (innermost !== undefined) {
      const slash = path.indexOf('/', innermost.prefix.length);
      if (slash < 0) break;
      innermost = { prefix: path.slice(0, slash + 1), entries: [] };
      open.push(innermost);
    }
    if (innermost !== undefined) add(innermost, mode, path.slice(innermost.prefix.length), oid);
  }
  closeUntil(open, (tree) => tree.prefix === '');
  return hashOf(open[0]?.entries ?? []);
}

interface OpenTree {
  /** The directory's path with its slash. */
  readonly prefix: string;
  readonly entries: Buffer[];
}

/** The index is in the order of whole paths, which is the order of trees. */
function closeUntil(open: OpenTree[], isDone: (tree: OpenTree) => boolean): void {
  for (let tree = open.at(-1); tree !== undefined && !isDone(tree); tree = open.at(-1)) {
    open.pop();
    const parent = open.at(-1);
    if (parent !== undefined) add(parent, 0o40000, tree.prefix.slice(parent.prefix.length, -1), hashOf(tree.entries));
  }
}

function add(tree: OpenTree, mode: number, name: string, oid: ObjectId): void {
  tree.entries.push(Buffer.from(`${mode.toString(8)} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex'));
}

function hashOf(entries: readonly Buffer[]): ObjectId {
  const hash = createHash('sha1');
  hash.update(`tree ${entries.reduce((length, part) => length + part.length, 0)}\0`);
  for (const part of entries) hash.update(part);
  return hash.digest('hex') as ObjectId;
}
