import type { ImportResult, RecoveryMount, RecoveryResult } from '../../index.js';
import type { ImportData, RecoveryData, RecoveryMountData } from '../../schemas.js';
import { pathToJson } from '../library.js';
import { instanceData, pointerData } from './json.js';

/** The recovery index as a document. */
export function recoveryData(result: RecoveryResult): RecoveryData {
  const { instance, recorded, index, policy, session, owner, mounts, snapshots, latest, start, store } = result;
  return {
    instance,
    recorded,
    snapshot_level: policy.snapshot,
    session,
    active: owner !== null,
    owner,
    mounts: mounts.map(mountData),
    left_out: index.left_out,
    cleanup: index.cleanup,
    launch: index.launch,
    jackin: index.jackin,
    snapshots,
    latest: latest === null ? null : pointerData(latest),
    start: start === null ? null : pointerData(start),
    store: pathToJson(store),
  };
}

function mountData({
  name,
  path,
  present,
  source,
  containerPath,
  isolation,
  kind,
  repository,
}: RecoveryMount): RecoveryMountData {
  return {
    name,
    path: pathToJson(path),
    present,
    source,
    container_path: containerPath === null ? null : pathToJson(containerPath),
    isolation,
    kind,
    base_commit: repository?.head ?? null,
    branch: repository?.branch ?? null,
    upstream: repository?.upstream ?? null,
    ahead: repository?.ahead ?? null,
    dirty: repository?.dirty ?? null,
    operation: repository?.operation ?? null,
  };
}

/** What an import found or made. */
export function importData({ sessions, imported }: ImportResult): ImportData {
  return {
    sessions: sessions.map(({ updatedAt, ...session }) => ({ ...session, updated_at: updatedAt })),
    imported: imported.map(instanceData),
  };
}
