import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import type { MountSinceSaved } from '../../core/session-results.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { compareFolder } from './compare-folder.js';

/** How each mount of an instance stands to the last snapshot that holds all of it. Nothing is written. */
export async function mountsSinceSaved(context: Context, record: InstanceRecord): Promise<MountSinceSaved[]> {
  const lock = context.store.exists() ? await lockForReading(context) : undefined;
  try {
    const mounts: MountSinceSaved[] = [];
    for (const mount of record.mounts) {
      const { name, path } = mount;
      mounts.push({ name, path, ...(await sinceSaved(context, record, mount)) });
    }
    return mounts;
  } finally {
    lock?.release();
  }
}

type Since = Omit<MountSinceSaved, 'name' | 'path'>;

async function sinceSaved(context: Context, record: InstanceRecord, mount: MountRecord): Promise<Since> {
  const now = context.host.identity(mount.path);
  if (now?.directory !== true) return { ...notCompared, state: 'gone' };
  if (now.dev !== mount.dev || now.ino !== mount.ino) return { ...notCompared, state: 'another_folder' };
  try {
    const { verdict, files, comparedWith } = await compareFolder(context, record, mount);
    const state = verdict === 'saved' ? 'as_saved' : verdict === 'dirty' ? 'changed' : 'unknown';
    return { state, changed: files.length, comparedWith };
  } catch (error) {
    // A look that fails says that it does not know, and stops nobody from going on.
    if (!isSnapError(error) || isSnapError(error, 'INTERRUPTED')) throw error;
    return notCompared;
  }
}

const notCompared: Since = { state: 'unknown', changed: 0, comparedWith: null };
