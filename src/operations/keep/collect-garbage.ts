import type { HeldLock } from '../../core/ports.js';
import type { RemovalResult } from '../../core/results.js';
import { systemCode } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { sizeOf } from './ceiling.js';
import { noteHighestNumbers } from './note-numbers.js';
import { removeSnapshots } from './remove.js';

/** How long others who are in the store, or who collect at the moment, are waited for, in seconds. */
export const patience = 60;

/** Removes what nothing reaches, mends histories and puts packs together. Nothing that is kept goes. */
export async function gc(context: Context, request: { readonly dryRun?: boolean }): Promise<RemovalResult> {
  const answer = {
    instance: null,
    dryRun: request.dryRun ?? false,
    removed: [],
    kept: [],
    freedBytes: 0,
    messages: [],
  };
  if (request.dryRun === true || !context.store.exists()) return answer;
  const tidied = await freedBy(context, await context.locks.storeExclusive(), async () => {
    await context.store.sweep();
    await mendHistories(context);
  });
  const { freedBytes, messages } = await collectGarbage(context);
  return { ...answer, freedBytes: Math.max(0, tidied + freedBytes), messages };
}

async function mendHistories(context: Context): Promise<void> {
  const all = await context.store.snapshots(null);
  const instances = new Set(all.map(({ instance }) => instance));
  for (const name of instances) {
    const own = all.filter(({ instance }) => instance === name);
    await removeSnapshots(context, name, own, new Set());
  }
}

export interface Collected {
  /** Less than nothing where what was written takes more than what went. */
  readonly freedBytes: number;
  readonly messages: readonly string[];
}

/**
 * Frees the objects that nothing reaches, as far as they are older than the grace period. The long part of it runs
 * beside others who save and read; they wait for its last moments only. One at a time.
 * @throws SnapError BUSY, NO_SPACE, STORE_DAMAGED; in all cases nothing was removed
 */
export async function collectGarbage(context: Context): Promise<Collected> {
  const lock = await context.locks.housekeeping(patience);
  try {
    return await collectWithLock(context);
  } finally {
    lock.release();
  }
}

/** The same for who holds the housekeepers' lock. */
export async function collectWithLock(context: Context): Promise<Collected> {
  const { store, locks, graceSeconds } = context;
  const beside = await lockForReading(context);
  let kept;
  try {
    kept = await store.packKept(graceSeconds);
  } finally {
    beside.release();
  }
  const removed = await freedBy(context, await locks.storeExclusive(patience), () => {
    noteHighestNumbers(context);
    return store.removeRest(kept);
  });
  const young =
    `${sizeOf(kept.bytesYoung)} that nothing needs any more were written within the last ` +
    `${String(Math.ceil(graceSeconds / 60))} minutes: a later gc frees them.`;
  const messages = [
    ...(kept.bytesYoung > 0 ? [young] : []),
    ...(kept.youngAsItLay
      ? ['What nothing needs any more could not be packed anew: all that is young stays as it lies.']
      : []),
  ];
  return { freedBytes: removed - kept.bytesWritten, messages };
}

/** What was done is not undone where its size cannot be had. */
async function sizeIfKnown(store: Context['store'], otherwise: number): Promise<number> {
  try {
    return await store.sizeOnDisk();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return otherwise;
  }
}

/** The bytes that the disk got back by an act under a lock that keeps everybody else out, and that is given back. */
export async function freedBy({ store }: Context, alone: HeldLock, act: () => Promise<void>): Promise<number> {
  try {
    const before = await store.sizeOnDisk();
    await act();
    return before - (await sizeIfKnown(store, before));
  } finally {
    alone.release();
  }
}
