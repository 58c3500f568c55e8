import type {
  DecidingRule,
  ExplainResult,
  ForeseenRestore,
  PlanResult,
  PlannedSaveMount,
  StackApprovalResult,
  StackListResult,
  StackSummary,
  StackValidation,
  UsageFigures,
  UsageResult,
} from '../../index.js';
import type {
  ExplainData,
  ForeseenRestoreData,
  PlanData,
  PlannedMountData,
  RuleData,
  StackApprovalData,
  StackData,
  StackListData,
  StackValidationData,
  UsageData,
  UsageFiguresData,
} from '../../schemas.js';
import { pathToJson } from '../library.js';
import { pointerData } from './json.js';

/*
 * What would be, as documents.
 */

export function explainData({ instance, explanations }: ExplainResult): ExplainData {
  return {
    instance,
    explanations: explanations.map(({ mount, path, outcome, reason, rule }) => ({
      mount,
      path: pathToJson(path),
      outcome,
      reason,
      rule: ruleData(rule),
    })),
  };
}

function ruleData({ path, pattern, file, ...rest }: DecidingRule): RuleData {
  return { ...rest, path: pathToJson(path), pattern: maybe(pattern), file: maybe(file) };
}

function maybe(bytes: string | null): ReturnType<typeof pathToJson> | null {
  return bytes === null ? null : pathToJson(bytes);
}

export function planData({ instance, isNew, refusal, policy, mounts, store, restores }: PlanResult): PlanData {
  return {
    instance,
    new_instance: isNew,
    snapshot: { would_be_made: refusal === null, refusal },
    policy,
    mounts: mounts.map(plannedMountData),
    store: {
      data_directory: pathToJson(store.dataDirectory),
      exists: store.exists,
      size_bytes: store.sizeBytes,
      free_bytes: store.freeBytes,
    },
    restores: restores.map(foreseenData),
  };
}

function plannedMountData(mount: PlannedSaveMount): PlannedMountData {
  const { name, path, kind, complete, stored, toRead, leftOut, excludes } = mount;
  return {
    name,
    path: pathToJson(path),
    kind,
    complete,
    stored,
    to_read: toRead,
    left_out: leftOut,
    excludes: excludes.map(({ file, patterns, ...rest }) => ({
      ...rest,
      file: maybe(file),
      patterns: patterns.map(pathToJson),
    })),
  };
}

function foreseenData({ snapshot, changes, kept, blocked, ...rest }: ForeseenRestore): ForeseenRestoreData {
  const paths = (list: typeof kept): ForeseenRestoreData['kept'] =>
    list.map(({ mount, path, reason }) => ({ mount, path: pathToJson(path), reason }));
  return {
    ...rest,
    snapshot: pointerData(snapshot),
    plan: changes.map(({ mount, path, hostPath, action, reason }) => ({
      mount,
      path: pathToJson(path),
      host_path: pathToJson(hostPath),
      action,
      reason,
    })),
    kept: paths(kept),
    failed: paths(blocked),
  };
}

export function usageData({ instances, store }: UsageResult): UsageData {
  return {
    instances: instances.map((used) => ({
      instance: used.instance,
      ...figuresData(used),
      snapshots: used.snapshots.map((snapshot) => ({ seq: snapshot.seq, ...figuresData(snapshot) })),
      prunable: { snapshots: used.prunable.snapshots, freed_bytes: used.prunable.freedBytes },
    })),
    store: {
      total_bytes: store.totalBytes,
      reachable_bytes: store.reachableBytes,
      garbage_bytes: store.garbageBytes,
      overhead_bytes: store.overheadBytes,
      objects: store.objects,
    },
  };
}

function figuresData({ bytes, uniqueBytes, sharedBytes }: UsageFigures): UsageFiguresData {
  return { bytes, unique_bytes: uniqueBytes, shared_bytes: sharedBytes };
}

export function stackData({ optIn, ...rest }: StackSummary): StackData {
  return { ...rest, opt_in: optIn };
}

export function stackListData({ presets, invalid }: StackListResult): StackListData {
  return { presets: presets.map(stackData), invalid };
}

export function validationData({ preset, problems }: StackValidation): StackValidationData {
  return { accepted: preset !== null, preset: preset === null ? null : stackData(preset), problems };
}

export function approvalData({ file, approved, presets }: StackApprovalResult): StackApprovalData {
  return { file: pathToJson(file), approved, presets: presets.map(stackData) };
}
