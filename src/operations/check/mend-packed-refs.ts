import type { FoundCommit, PackedRefsDamage } from '../../core/lost-refs.js';
import { type SnapshotRecord, openMessage, snapshotRefName } from '../../core/snapshot-record.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';

/** A commit that says which snapshot it is. */
interface Claim {
  readonly found: FoundCommit;
  readonly record: SnapshotRecord;
  readonly name: string;
}

/**
 * Writes git's file of packed refs anew where it is damaged, and gives snapshots that it has lost their refs back. Where
 * nothing tells which it had, all that are whole come back: some may have been removed before, and go again. The caller
 * holds the store's exclusive lock.
 */
export async function mendPackedRefs({ store }: Context): Promise<string[]> {
  const damage = store.rewritePackedRefs();
  if (damage.problems.length === 0) return [];
  const fixed = [`${damage.problems.join('; ')}. It is written anew.`];
  if (damage.isCut) fixed.push('Pins may be lost: pin again what is to stay.');
  const names = new Set(store.refNames('refs/jackin/'));
  const lost = newestOfEach(await claims(store.findCommits(), damage)).filter(({ name }) => !names.has(name));
  const broken = await store.brokenSnapshots(lost.map(({ found }) => found.commit));
  for (const { found, name } of lost) {
    if (broken.has(found.commit)) {
      fixed.push(`${name} had a snapshot (${found.commit}) of which objects are missing: it gets no ref.`);
      continue;
    }
    store.putRefFile(name, found.commit);
    fixed.push(`${name} names its snapshot again (${found.commit}).`);
  }
  store.noteLastPackedRef();
  return fixed;
}

async function claims(commits: Promise<readonly FoundCommit[]>, { ids, isCut }: PackedRefsDamage): Promise<Claim[]> {
  // Those with a parent are links of the history, and say the same.
  const possible = (await commits).filter(({ commit, hasParent }) => !hasParent && (isCut || ids.includes(commit)));
  return possible.flatMap((found) => {
    const record = recordIn(found.message);
    return record === undefined ? [] : [{ found, record, name: snapshotRefName(record.instance, record.seq) }];
  });
}

function recordIn(message: string): SnapshotRecord | undefined {
  try {
    return openMessage(message).decode();
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return undefined;
    throw error;
  }
}

/** A save that was killed may have left a commit of a number that a later one used. */
function newestOfEach(all: readonly Claim[]): Claim[] {
  const newest = new Map<string, Claim>();
  for (const claim of all) {
    const other = newest.get(claim.name);
    if (other === undefined || other.record.createdAt < claim.record.createdAt) newest.set(claim.name, claim);
  }
  return [...newest.values()];
}
