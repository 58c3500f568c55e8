import type { ObjectId } from '../core/ids.js';
import type { ObjectReader, ObjectWriter, RefChange, SnapshotRef } from '../core/ports.js';
import { formatVersion, openMessage, replaceRefName, withParent } from '../core/snapshot-record.js';
import { isSnapError } from '../errors.js';
import { isThere } from './snapshots.js';

/*
 * The order in which an instance's snapshots follow each other for git: grafts, since their commits have no parents.
 */

export interface Grafting {
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly mends: 'all' | 'only what follows';
}

/**
 * The changes after which every kept snapshot follows the last kept one before it that is not damaged.
 * @param all ascending
 * @param grafts those that are there, by the names of their refs
 */
export async function newGrafts(
  { reader, writer, mends }: Grafting,
  all: readonly SnapshotRef[],
  gone: ReadonlySet<SnapshotRef>,
  grafts: ReadonlyMap<string, ObjectId>,
): Promise<RefChange[]> {
  const changes: RefChange[] = [];
  let kept: SnapshotRef | undefined;
  let follows = false;
  for (const ref of all) {
    if (gone.has(ref)) follows = true;
    if (gone.has(ref) || !isThere(ref) || isAnother(ref)) continue;
    if (mends === 'all' || follows)
      changes.push(...(await graftAnew(reader, writer, ref, kept, grafts.get(replaceRefName(ref.commit)))));
    kept = ref;
    follows = false;
  }
  return changes;
}

/** True for a ref that by now holds another snapshot: that has its place in the history already. */
function isAnother(ref: SnapshotRef): boolean {
  const { format, decode } = openMessage(ref.message);
  if (format !== formatVersion) return false;
  try {
    const { instance, seq } = decode();
    return instance !== ref.instance || seq !== ref.seq;
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return false;
    throw error;
  }
}

/** Made of the commit's own bytes: it may be in a format that this version does not know. */
async function graftAnew(
  reader: ObjectReader,
  writer: ObjectWriter,
  ref: SnapshotRef,
  parent: SnapshotRef | undefined,
  old: ObjectId | undefined,
): Promise<RefChange[]> {
  const name = replaceRefName(ref.commit);
  const commit = parent === undefined ? undefined : await reader.find(ref.commit, 'commit');
  if (parent === undefined || commit === undefined) return old === undefined ? [] : [{ name, old, new: null }];
  const graft = writer.writeCommit(withParent(commit.content, parent.commit));
  return graft === old ? [] : [{ name, old: old ?? null, new: graft }];
}
