import { parseEntryPath, pathFromJson } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import type { PathArgument, RestoreRequest } from '../../core/requests.js';
import type { RestoreResult } from '../../core/results.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readManifest } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { knowIfReadable } from '../snapshots.js';
import { restore } from './restore.js';

/** Restores the emergency snapshot of the last restore, as far as that restore reached. */
export async function undo(
  context: Context,
  request: Pick<RestoreRequest, 'confirm' | 'force' | 'dryRun'>,
): Promise<RestoreResult> {
  const instance = chooseInstance(context);
  const snapshots = context.store.exists() ? await context.store.snapshots(instance) : [];
  const last = snapshots.filter((ref) => knowIfReadable(ref)?.record.trigger === 'emergency').at(-1);
  const known = last === undefined ? undefined : knowIfReadable(last);
  if (last === undefined || known === undefined) {
    throw new SnapError('NOTHING_TO_UNDO', `No restore of instance ${instance} is on record.`, { instance });
  }
  const reader = context.store.reader();
  try {
    const { recovery } = await readManifest(reader, known);
    const paths: PathArgument[] | undefined = recovery?.paths?.map(({ mount, path }) => ({
      mount: mount as MountName,
      path: parseEntryPath(pathFromJson(path)),
    }));
    const limited = paths === undefined ? {} : { paths };
    // What the restore made may be gone again: that is no reason not to take back the rest.
    return await restore(context, { ...request, ...limited, snapshot: last.ref, unknownPaths: 'pass' });
  } finally {
    await reader.close();
  }
}
