import type {
  ExportResult,
  HostPath,
  InstanceSummary,
  ListedSnapshot,
  ListResult,
  MountSummary,
  ProtectedState,
  ObservedOnlyEntry,
  SaveResult,
  ShowResult,
  Snapshot,
  SnapshotPointer,
  StateSize,
  TreeLine,
} from '../../index.js';
import type {
  ExportData,
  InstanceData,
  ListData,
  ListedSnapshotData,
  MountData,
  ProtectedData,
  ObservedOnlyData,
  PointerData,
  SaveData,
  ShowData,
  SnapshotData,
  StateSizeData,
  TreeLineData,
  Content,
} from '../../schemas.js';
import { pathToJson } from '../library.js';

/*
 * Results as documents: snake_case keys, paths as text or base64. `schemas.ts` says what each document holds.
 */

/** Bytes of a file or of git's output: text when they are UTF-8. */
export function contentData(bytes: Buffer): Content {
  return pathToJson(bytes.toString('latin1'));
}

export function pointerData({ instance, seq, id, ref }: SnapshotPointer): PointerData {
  return { instance, seq, id, ref };
}

export function saveData(result: SaveResult): SaveData {
  const { snapshot, created, newInstance, stats, mounts, observedOnly, state, complete } = result;
  return {
    snapshot: snapshotData(snapshot),
    created,
    new_instance: newInstance,
    stats: {
      files_observed: stats.filesObserved,
      files_stored: stats.filesStored,
      files_reused: stats.filesReused,
      files_read: stats.filesRead,
      bytes_read: stats.bytesRead,
      bytes_added: stats.bytesAdded,
      bytes_stored: stats.bytesStored,
    },
    mounts: mounts.map(mountData),
    observed_only: observedOnly.map(observedOnlyData),
    ...(state === undefined ? {} : { state: stateData(state) }),
    complete,
  };
}

function stateData(state: NonNullable<SaveResult['state']>): NonNullable<SaveData['state']> {
  if (!state.stored) return state;
  return { stored: true, ...stateSizeData(state), observed_only: state.observedOnly.map(observedOnlyData) };
}

export function exportData({ files, bytes, state }: ExportResult, destination: HostPath): ExportData {
  return {
    destination: pathToJson(destination),
    files,
    bytes,
    ...(state === undefined ? {} : { state: { included: state.included, ...stateSizeData(state) } }),
  };
}

function stateSizeData({ name, path, files, sizeBytes }: StateSize): StateSizeData {
  return { name, path: pathToJson(path), files, size_bytes: sizeBytes };
}

function shownStateData(state: NonNullable<ShowResult['state']>): NonNullable<ShowData['state']> {
  if (!state.stored) return state;
  return {
    stored: true,
    ...stateSizeData(state),
    contents: state.contents.map(({ agent, kind, files, sizeBytes }) => ({
      agent,
      kind,
      files,
      size_bytes: sizeBytes,
    })),
    left_out: state.leftOut.map(({ path, reason }) => ({ path: pathToJson(path), reason })),
  };
}

export function listData({ instance, snapshots }: ListResult): ListData {
  return { instance, snapshots: snapshots.map(listedSnapshotData) };
}

export function showData(result: ShowResult): ShowData {
  const { snapshot, mounts, policy, stats, observedOnly, complete, sourceTool, phase, decision, resource, meta } =
    result;
  return {
    snapshot: listedSnapshotData(snapshot),
    mounts: mounts.map(mountData),
    policy,
    stats: {
      files_observed: stats.filesObserved,
      files_stored: stats.filesStored,
      bytes_stored: stats.bytesStored,
    },
    observed_only: observedOnly.map(observedOnlyData),
    stacks: result.stacks,
    ...(result.state === undefined ? {} : { state: shownStateData(result.state) }),
    complete,
    source_tool: sourceTool,
    phase,
    decision,
    resource,
    meta,
  };
}

export function treeLineData({ mount, path, kind, mode, sizeBytes, target }: TreeLine): TreeLineData {
  return {
    mount,
    path: pathToJson(path),
    kind,
    mode: mode.toString(8).padStart(4, '0'),
    size_bytes: sizeBytes,
    target: target === null ? null : pathToJson(target),
  };
}

export function instanceData(instance: InstanceSummary): InstanceData {
  return {
    name: instance.name,
    state: instance.state,
    status: instance.status,
    active: instance.active,
    owner: instance.owner,
    mounts: instance.mounts.map(({ name, path, present }) => ({ name, path: pathToJson(path), present })),
    snapshots: instance.snapshots,
    latest_seq: instance.latest,
    size_bytes: instance.sizeBytes,
    pending_restore: instance.pendingRestore,
    policy: instance.policy,
    created_at: instance.createdAt,
    exit_policy: instance.exitPolicy,
    ...(instance.exit === undefined ? {} : { exit: instance.exit }),
    ...(instance.ended === undefined ? {} : { ended: instance.ended }),
    ...(instance.session === undefined ? {} : { session: instance.session }),
  };
}

function snapshotData(snapshot: Snapshot): SnapshotData {
  const { commit, tree, trigger, message, createdAt, parentSeq } = snapshot;
  return { ...pointerData(snapshot), commit, tree, trigger, message, created_at: createdAt, parent_seq: parentSeq };
}

function listedSnapshotData(snapshot: ListedSnapshot): ListedSnapshotData {
  const { files, sizeBytes, pinned, recoveryOf, restorable } = snapshot;
  return {
    ...snapshotData(snapshot),
    files,
    size_bytes: sizeBytes,
    pinned,
    recovery_of: recoveryOf === null ? null : pointerData(recoveryOf),
    restorable,
  };
}

function mountData(mount: MountSummary): MountData {
  const { name, path, kind, baseCommit, branch, upstream, dirty, operation, unknown, nested } = mount;
  const state = mount.protected;
  return {
    name,
    path: pathToJson(path),
    kind,
    base_commit: baseCommit,
    branch,
    upstream,
    dirty,
    operation,
    unknown,
    nested: nested.map((repository) => ({
      path: pathToJson(repository.path),
      head: repository.head,
      branch: repository.branch,
      upstream: repository.upstream,
      dirty: repository.dirty,
      operation: repository.operation,
      unknown: repository.unknown,
    })),
    ...(state === undefined ? {} : { protected: protectedData(state) }),
  };
}

function observedOnlyData({ mount, path, reason }: ObservedOnlyEntry): ObservedOnlyData {
  return { mount, path: pathToJson(path), reason };
}

function protectedData({ missing, missingTotal, ...state }: ProtectedState): ProtectedData {
  return {
    ...state,
    missing: missing.map(({ object, path, reason }) => ({
      object,
      path: path === null ? null : pathToJson(path),
      reason,
    })),
    missing_total: missingTotal,
  };
}
