import type { InstanceName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { SaveRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { importedRecord, leftOutText, noHints } from './imported-record.js';

/**
 * The record of a new instance that is named as a session of jackin's is; undefined where the name is none of jackin's, or
 * folders are named. Nothing is written.
 * @throws SnapError JACKIN_NOT_FOUND for a name that only a container has and nobody knows: it is mistyped, and the current
 * folder is not what was meant
 */
export async function sessionForSave(context: Context, request: SaveRequest): Promise<InstanceRecord | undefined> {
  const { instance } = context;
  if (instance === null || (request.folders ?? []).length > 0) return undefined;
  const home = await context.jackin();
  if (home.manifest(instance) !== undefined) return importedRecord(context, instance, noHints);
  if (containerShape.test(instance) && !hasSnapshots(context, instance)) throw unknownSession(instance, home.path);
  return undefined;
}

/** `jk-<id>-…`, as jackin names its containers. */
const containerShape = /^jk-[0-9a-z]{8}-[a-z0-9]/;

/** Of snapshots that were fetched, or whose record is lost, the instance is made anew by a save. */
function hasSnapshots({ store }: Context, instance: InstanceName): boolean {
  return store.exists() && store.snapshotNumbers(instance).length > 0;
}

function unknownSession(instance: InstanceName, home: string): SnapError<'JACKIN_NOT_FOUND'> {
  const message =
    `There is no instance ${instance}, and jackin has no session of that name in ${home}. Nothing was saved. ` +
    'Where the name is meant for folders of your own, name them.';
  return new SnapError('JACKIN_NOT_FOUND', message, { selector: instance });
}

/** What a save says that found its folders in jackin's data. */
export function foundMessages({ name, mounts, recovery }: InstanceRecord): string[] {
  const sources = (recovery?.mounts ?? []).map(({ name: mount, source }) => `${mount} (${source})`).join(', ');
  const count = mounts.length === 1 ? '1 mount' : `${String(mounts.length)} mounts`;
  return [
    `Instance ${name} is a session of jackin's, with ${count}: ${sources}.`,
    ...(recovery?.left_out ?? []).map((mount) => `${leftOutText(mount)}.`),
  ];
}
