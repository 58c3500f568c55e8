import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { ObjectReader } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readGitState } from '../snapshot-content.js';
import { type KnownSnapshot, knowIfReadable } from '../snapshots.js';

/**
 * Of a folder without a repository: that it had one when it was saved, in words; null where it had none, or where that
 * snapshot holds all of what only the repository had. A later snapshot of the folder without it does not make it forgotten.
 */
export async function lostRepository(
  context: Context,
  reader: ObjectReader,
  record: InstanceRecord,
  mount: MountRecord,
): Promise<string | null> {
  const known = await lastWithRepository(context, record, mount);
  if (known === undefined || (await isProtected(reader, known, mount))) return null;
  const seq = String(known.ref.seq);
  return `the repository that was here is gone, and snapshot ${seq}, the last that saw it, does not hold all of its commits`;
}

async function lastWithRepository(
  context: Context,
  record: InstanceRecord,
  { name }: MountRecord,
): Promise<KnownSnapshot | undefined> {
  for (const ref of (await context.store.snapshots(record.name)).toReversed()) {
    const known = knowIfReadable(ref);
    if (known?.record.mounts.some((mount) => mount.name === name && mount.kind !== 'plain') === true) return known;
  }
  return undefined;
}

/** Without anything that is missing: what lacks a secret comes back from a repository alone. */
async function isProtected(reader: ObjectReader, known: KnownSnapshot, { name }: MountRecord): Promise<boolean> {
  try {
    const state = await readGitState(reader, known, name);
    return state?.missing_total === 0 && state.missing.length === 0 && state.problems.length === 0;
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED') && !isSnapError(error, 'FORMAT_UNKNOWN')) throw error;
    return false;
  }
}
