import type {
  CheckResult,
  DoctorResult,
  DrillResult,
  KeptPath,
  RemovalResult,
  RestoreResult,
  SnapshotPointer,
} from '../../index.js';
import type {
  DoctorData,
  DrillData,
  KeptData,
  PointerData,
  RemovalData,
  RestoreData,
  VerifyData,
} from '../../schemas.js';
import { pathToJson } from '../library.js';
import { pointerData } from './json.js';

/*
 * Documents of the commands that change something, and of those that check.
 */

export function restoreData(result: RestoreResult): RestoreData {
  const { instance, fromSnapshot, restoredFiles, deletedFiles, emergencySnapshot, activeSnapshot, destination } =
    result;
  return {
    dry_run: result.dryRun,
    rollback_summary: {
      instance,
      from_snapshot: pointerData(fromSnapshot),
      restored_files_count: restoredFiles,
      deleted_files_count: deletedFiles,
      emergency_snapshot: pointerOrNull(emergencySnapshot),
    },
    changes_reverted: result.changed.map(({ path }) => pathToJson(path)),
    plan: result.plan.map(({ mount, path, hostPath, action, reason }) => ({
      mount,
      path: pathToJson(path),
      host_path: pathToJson(hostPath),
      action,
      reason,
    })),
    kept: [...result.kept, ...result.failed].map(keptData),
    failed: result.failed.map(keptData),
    impact: { files_affected: result.filesAffected, bytes_written: result.bytesWritten },
    post_rollback_state: { active_snapshot: pointerOrNull(activeSnapshot), verified: result.verified },
    destination: destination === null ? null : pathToJson(destination),
  };
}

export function removalData({ instance, dryRun, removed, kept, freedBytes }: RemovalResult): RemovalData {
  return {
    instance,
    dry_run: dryRun,
    removed: removed.map(pointerData),
    kept: kept.map(pointerData),
    freed_bytes: freedBytes,
  };
}

export function verifyData({ ok, snapshotsChecked, damaged, problems, content }: CheckResult): VerifyData {
  return {
    sound: ok,
    snapshots_checked: snapshotsChecked,
    damaged: damaged.map(({ snapshot, problem, paths, pathsTotal }) => ({
      snapshot: pointerData(snapshot),
      problem,
      paths: paths.map(({ mount, path, kind }) => ({ mount, path: pathToJson(path), kind })),
      paths_total: pathsTotal,
    })),
    problems,
    content: content === null ? null : { objects_checked: content.objectsChecked, objects_total: content.objectsTotal },
  };
}

export function drillData({ snapshot, ok, files, bytes, differences }: DrillResult): DrillData {
  return { snapshot: pointerData(snapshot), restorable: ok, files, bytes, differences: differences.map(keptData) };
}

export function doctorData({ ok, damaged, findings }: DoctorResult): DoctorData {
  return { healthy: ok, damaged, findings: findings.map(({ level, what, hint }) => ({ level, what, hint })) };
}

function keptData({ mount, path, reason }: KeptPath): KeptData {
  return { mount, path: pathToJson(path), reason };
}

function pointerOrNull(pointer: SnapshotPointer | null): PointerData | null {
  return pointer === null ? null : pointerData(pointer);
}
