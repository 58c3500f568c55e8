import type { SnapshotRef } from '../../core/ports.js';
import type { Context } from '../context.js';
import { newGrafts } from '../history.js';

/**
 * Gives refs to new snapshots of an instance, whose objects are there, each only if absent, and in the same transaction
 * their place in the history: grafts of their own, and those that follow them point to them.
 * @param all those that have refs and the new ones, ascending
 */
export async function addSnapshots(
  context: Context,
  all: readonly SnapshotRef[],
  added: readonly SnapshotRef[],
): Promise<void> {
  const grafts = new Map((await context.store.refs('refs/replace/')).map(({ name, oid }) => [name, oid]));
  const writer = context.store.newWriter();
  const reader = context.store.reader();
  try {
    const changes = [
      ...added.map(({ ref, commit }) => ({ name: ref, old: null, new: commit })),
      ...(await newGrafts({ reader, writer, mends: 'all' }, all, new Set(), grafts)),
    ];
    await writer.publish();
    context.interruption.check();
    await context.store.changeRefs(changes);
  } finally {
    await reader.close();
    await writer.abandon();
  }
}
