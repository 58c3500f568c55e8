import type { StoredEntry } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { ObjectReader, SnapshotRef } from '../../core/ports.js';
import type { CheckResult, SnapshotPointer } from '../../core/results.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { readManifest, readMountContent } from '../snapshot-content.js';
import { know, knowIfReadable, pointerTo } from '../snapshots.js';
import { streamStored } from '../stored-bytes.js';

/**
 * Whether git finds the store sound, and every snapshot is complete and readable in the way that a restore reads it.
 * `full` hashes all content again.
 */
export async function verify(context: Context, request: { readonly full?: boolean }): Promise<CheckResult> {
  if (!context.store.exists()) return { ok: true, snapshotsChecked: 0, damaged: [], problems: [] };
  const lock = await lockForReading(context);
  try {
    const refs = await context.store.snapshots(null);
    const damaged = await damagedSnapshots(context, refs, request.full ?? false);
    const problems = await context.store.fsck(request.full ?? false);
    return { ok: damaged.length === 0 && problems.length === 0, snapshotsChecked: refs.length, damaged, problems };
  } finally {
    lock.release();
  }
}

async function damagedSnapshots(
  context: Context,
  refs: readonly SnapshotRef[],
  full: boolean,
): Promise<{ snapshot: SnapshotPointer; problem: string }[]> {
  const broken = await context.store.brokenSnapshots(refs.map(({ commit }) => commit));
  const damaged: { snapshot: SnapshotPointer; problem: string }[] = [];
  for (const [at, ref] of refs.entries()) {
    await context.interruption.pause();
    const problem = broken.has(ref.commit) ? 'objects are missing' : await whyUnreadable(context, ref, full);
    if (problem !== null) damaged.push({ snapshot: pointerOf(ref), problem });
    context.onProgress({ phase: 'check', files: at + 1, bytes: 0, totalFiles: refs.length, totalBytes: null });
  }
  return damaged;
}

/** Reads a snapshot as a restore would. A version that is not known is no damage. */
async function whyUnreadable(context: Context, ref: SnapshotRef, full: boolean): Promise<string | null> {
  const reader = context.store.reader();
  try {
    const known = know(ref);
    const manifest = await readManifest(reader, known);
    for (const { name } of manifest.mounts) {
      const { entries } = await readMountContent(context, reader, known, manifest, name as MountName);
      if (full) await readAllByRanges(context, reader, entries.values());
    }
    return null;
  } catch (error) {
    if (isSnapError(error, 'FORMAT_UNKNOWN')) return null;
    if (isSnapError(error, 'STORE_DAMAGED')) return error.message;
    throw error;
  } finally {
    await reader.close();
  }
}

/** That git finds such a blob sound says nothing of what is in it. */
async function readAllByRanges(context: Context, reader: ObjectReader, entries: Iterable<StoredEntry>): Promise<void> {
  for (const entry of entries) {
    if (entry.kind !== 'file' || entry.byRanges !== true) continue;
    await context.interruption.pause();
    await streamStored(reader, entry, { data: () => undefined, hole: () => undefined });
  }
}

function pointerOf(ref: SnapshotRef): SnapshotPointer {
  const known = knowIfReadable(ref);
  if (known !== undefined) return pointerTo(known);
  return { instance: ref.instance, seq: ref.seq, id: '0'.repeat(26) as SnapshotPointer['id'], ref: ref.ref };
}
