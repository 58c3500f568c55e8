import { type InstanceName, parseInstanceName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { roleContainer } from '../../core/jackin/manifest.js';
import type { SnapshotRef } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { embeddedRecord, readManifest } from '../snapshot-content.js';
import { knowIfReadable } from '../snapshots.js';

/**
 * The instance that an operator means: by its own name, which for jackin's is that of the container, else by jackin's
 * instance id or role key, as our records have them, or, where a record is lost, its last snapshot.
 * @throws SnapError INSTANCE_NOT_FOUND, INSTANCE_AMBIGUOUS
 */
export async function findInstance(context: Context, selector: string): Promise<InstanceName> {
  const refs = context.store.exists() ? await context.store.snapshots(null) : [];
  const named = isName(context, refs, selector);
  if (named !== undefined) return named;
  const records = [...context.registry.all(), ...(await lostRecords(context, refs))];
  const found = records.filter((record) => isMeant(record, selector)).map(({ name }) => name);
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined)
    throw new SnapError('INSTANCE_AMBIGUOUS', `Several instances are ${selector}: ${found.join(', ')}.`, {
      candidates: found,
    });
  throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${JSON.stringify(selector)} with snapshots.`, {
    instance: '',
  });
}

/** The record, or where it is lost or damaged what the last readable snapshot has of it. */
export async function recordOrLast(context: Context, name: InstanceName): Promise<InstanceRecord | undefined> {
  const record = context.registry.all().find((known) => known.name === name);
  return record ?? recordInSnapshots(context, await context.store.snapshots(name));
}

/** Instances that have snapshots and no record. */
async function lostRecords(context: Context, refs: readonly SnapshotRef[]): Promise<InstanceRecord[]> {
  const known = new Set(context.registry.all().map(({ name }) => name));
  const byName = new Map<InstanceName, SnapshotRef[]>();
  for (const ref of refs)
    if (!known.has(ref.instance)) byName.set(ref.instance, [...(byName.get(ref.instance) ?? []), ref]);
  const lost: InstanceRecord[] = [];
  for (const own of byName.values()) {
    const record = await recordInSnapshots(context, own);
    if (record !== undefined) lost.push(record);
  }
  return lost;
}

/** What the last snapshot that can be read has of its instance's record. */
export async function recordInSnapshots(
  context: Context,
  refs: readonly SnapshotRef[],
): Promise<InstanceRecord | undefined> {
  const last = refs.flatMap((ref) => knowIfReadable(ref) ?? []).at(-1);
  if (last === undefined) return undefined;
  const reader = context.store.reader();
  try {
    return embeddedRecord(await readManifest(reader, last), last);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED') && !isSnapError(error, 'FORMAT_UNKNOWN')) throw error;
    return undefined;
  } finally {
    await reader.close();
  }
}

function isName(context: Context, refs: readonly SnapshotRef[], selector: string): InstanceName | undefined {
  const isKnown =
    refs.some(({ instance }) => instance === selector) || context.registry.all().some(({ name }) => name === selector);
  return isKnown ? parseInstanceName(selector) : undefined;
}

function isMeant({ recovery }: InstanceRecord, selector: string): boolean {
  const manifest = recovery?.jackin?.manifest;
  if (manifest === undefined) return false;
  return [manifest.instance_id, manifest.role_key, manifest.container_base, roleContainer(manifest)].includes(selector);
}
