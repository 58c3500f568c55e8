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
    ended: result.ended,
    exit: result.exit,
    active: owner !== null,
    owner,
    mounts: mounts.map(mountData),
    left_out: index.left_out,
    cleanup: index.cleanup,
    launch: index.launch,
    jackin: index.jackin,
    snapshots,
    latest: latest === null ? null : pointerData(latest),
    latest_holds_state: result.latestHoldsState,
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
    ...repositoryData(repository),
  };
}

function repositoryData(
  repository: RecoveryMount['repository'],
): Pick<RecoveryMountData, 'base_commit' | 'branch' | 'upstream' | 'ahead' | 'dirty' | 'operation'> {
  if (repository === null)
    return { base_commit: null, branch: null, upstream: null, ahead: null, dirty: null, operation: null };
  const { head, branch, upstream, ahead = null, dirty, operation } = repository;
  return { base_commit: head, branch, upstream, ahead, dirty, operation };
}

/** What an import found or made. */
export function importData({ sessions, imported }: ImportResult): ImportData {
  return {
    sessions: sessions.map(({ updatedAt, ...session }) => ({ ...session, updated_at: updatedAt })),
    imported: imported.map(instanceData),
  };
}
