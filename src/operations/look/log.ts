import type { SnapshotRef } from '../../core/ports.js';
import type { LogRequest } from '../../core/requests.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { refuseLostStore } from '../lost-store.js';
import type { MountPath } from '../path-arguments.js';
import { chooseInstance, chosenRecord } from '../session/choose-instance.js';
import { refuseOversized } from '../snapshot-content.js';
import { isThere, know, knowIfReadable } from '../snapshots.js';
import { missingFrom, notFound, sideOfSnapshot } from './known-paths.js';
import { limitsIn, mountNames, storedPaths } from './stored-paths.js';

/**
 * git's log over the instance's snapshots, newest first.
 * @throws SnapError SNAPSHOT_NOT_FOUND when there are none, PATH_NOT_FOUND for a path that none of them has
 */
export async function log(context: Context, request: LogRequest): Promise<{ exitCode: number }> {
  const instance = chooseInstance(context);
  refuseLostStore(context);
  const refs = context.store.exists() ? (await context.store.snapshots(instance)).filter(isThere) : [];
  const newest = refs.at(-1);
  if (newest === undefined) {
    const { name } = chosenRecord(context);
    throw new SnapError('SNAPSHOT_NOT_FOUND', `Instance ${name} has no snapshots.`, {
      selector: 'latest',
      instance: name,
    });
  }
  const lock = await lockForReading(context);
  try {
    await refuseOversized(context, refs);
    const limits = limitsIn(namesInAny(refs, newest), request.paths ?? []);
    if (limits.length > 0) await refuseInNone(context, newest, limits);
    // The grafts join all of an instance's snapshots into one history, so that the newest leads to all.
    return {
      exitCode: await context.store.log([newest.ref], {
        options: request.options ?? [],
        paths: storedPaths(limits),
        output: request.output,
      }),
    };
  } finally {
    lock.release();
  }
}

/** The newest snapshot may be one of a single mount. */
function namesInAny(refs: readonly SnapshotRef[], newest: SnapshotRef): ReturnType<typeof mountNames> {
  const older = refs.flatMap((ref) => knowIfReadable(ref) ?? []);
  return [...new Set([know(newest), ...older].flatMap(mountNames))];
}

/** What is not in the newest snapshot may be in an older one: git knows. */
async function refuseInNone(context: Context, newest: SnapshotRef, limits: readonly MountPath[]): Promise<void> {
  const reader = context.store.reader();
  try {
    const side = await sideOfSnapshot(context, reader, know(newest), limits);
    for (const missing of missingFrom([side], limits)) {
      if (!(await wasEver(context, newest, missing)))
        throw notFound(missing, [side], `is in no snapshot of ${newest.instance}`);
    }
  } finally {
    await reader.close();
  }
}

async function wasEver(context: Context, newest: SnapshotRef, path: MountPath): Promise<boolean> {
  const commits: Uint8Array[] = [];
  await context.store.log([newest.ref], {
    options: ['-1', '--format=%H'],
    paths: storedPaths([path]),
    output: { kind: 'collect', onData: (chunk) => commits.push(chunk) },
  });
  return commits.length > 0;
}
