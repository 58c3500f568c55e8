import type { ObjectId } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { ObjectWriter } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import { captureMounts } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';

/**
 * Stores content once more that is missing or damaged, where the folders still have it: an id proves its content. Each
 * file that a save would take is read for it, so that this takes as long as a first save; done only where it is known
 * that something is damaged.
 */
export async function mendContent(context: Context): Promise<string[]> {
  const { store, registry } = context;
  const lock = await lockForReading(context);
  try {
    const damaged = await damagedNow(context);
    if (damaged.length === 0) return [];
    const writer = store.newMendingWriter(new Set(damaged));
    try {
      for (const record of registry.all()) await readAll(context, record, writer);
      await writer.publish();
    } finally {
      await writer.abandon();
    }
    const left = new Set(await damagedNow(context));
    const mended = damaged.filter((oid) => !left.has(oid)).length;
    return mended === 0
      ? []
      : [
          `Of ${String(damaged.length)} damaged or missing objects the folders had ${String(mended)}: they are stored again.`,
        ];
  } finally {
    lock.release();
  }
}

async function damagedNow({ store }: Context): Promise<ObjectId[]> {
  const commits = (await store.snapshots(null)).map(({ commit }) => commit);
  return store.damagedObjects([...(await store.brokenSnapshots(commits))]);
}

/** What the writer does not want is only read. */
async function readAll(context: Context, record: InstanceRecord, writer: ObjectWriter): Promise<void> {
  const mounts = record.mounts.filter(({ path }) => context.host.identity(path)?.directory === true);
  try {
    await captureMounts(context, {
      record,
      mounts,
      policy: { ...record.policy, max_total_size: null },
      writer,
      full: true,
      graft: false,
      scope: () => null,
      forced: () => null,
      temporaryPrefix: pendingTemporaryPrefix(context, record.name),
    });
  } catch (error) {
    // One instance that cannot be read is no reason not to read the others.
    if (!isSnapError(error) || isSnapError(error, 'INTERRUPTED') || isSnapError(error, 'NO_SPACE')) throw error;
  }
}
