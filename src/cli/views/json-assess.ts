import type {
  AssessedMount,
  AssessedRepository,
  Assessment,
  DiscardResult,
  KeepResult,
  MountSinceSaved,
  RepositoryWork,
  ResumeResult,
  Risk,
} from '../../index.js';
import type {
  AssessedRepositoryData,
  AssessmentData,
  DiscardData,
  JsonPath,
  KeepData,
  MountSinceSavedData,
  ResumeData,
  RiskData,
} from '../../schemas.js';
import { displayPath, namedRisks, pathToJson } from '../library.js';
import { instanceData, pointerData } from './json.js';

/** @param files whether each dirty file is named */
export function assessmentData(assessment: Assessment, files: boolean): AssessmentData {
  const { instance, verdict, mounts, latest, exitPolicy } = assessment;
  return {
    instance,
    verdict,
    mounts: mounts.map((mount) => mountData(mount, files)),
    at_risk: namedRisks(assessment).map(({ name, why }) => ({ name: displayPath(name), why: why.map(displayPath) })),
    latest: latest === null ? null : pointerData(latest),
    exit_policy: exitPolicy,
  };
}

function mountData(mount: AssessedMount, withFiles: boolean): AssessmentData['mounts'][number] {
  const { name, path, kind, isolation, verdict, risks, repositories, files, comparedWith } = mount;
  return {
    name,
    path: pathToJson(path),
    kind,
    isolation,
    verdict,
    risks: risks.map(riskData),
    repositories: repositories.map(repositoryData),
    dirty_files: files.length,
    ...(withFiles ? { files: files.map((file) => ({ path: pathToJson(file.path), status: file.status })) } : {}),
    compared_with: comparedWith === null ? null : pointerData(comparedWith),
  };
}

function riskData({ branch, why }: Risk): RiskData {
  return { branch: maybePath(branch), why: displayPath(why) };
}

function repositoryData({ path, verdict, risks, base, work }: AssessedRepository): AssessedRepositoryData {
  return {
    path: pathToJson(path),
    verdict,
    risks: risks.map(riskData),
    base_commit: base,
    ...(work === null ? nothingKnown : workData(work)),
  };
}

type WorkData = Omit<AssessedRepositoryData, 'path' | 'verdict' | 'risks' | 'base_commit'>;

const nothingKnown: WorkData = {
  head: null,
  branch: null,
  detached: null,
  branches: [],
  stashes: null,
  operation: null,
};

function workData({ head, branch, detached, branches, stashes, operation }: RepositoryWork): WorkData {
  return {
    head,
    branch: maybePath(branch),
    detached,
    branches: branches.map(({ name, upstream, ...rest }) => ({
      name: pathToJson(name),
      upstream: maybePath(upstream),
      ...rest,
    })),
    stashes,
    operation,
  };
}

function maybePath(bytes: string | null): JsonPath | null {
  return bytes === null ? null : pathToJson(bytes);
}

export function discardData({ instance, assessment, snapshot, worktree }: DiscardResult): DiscardData {
  return {
    instance: instanceData(instance),
    assessment: assessmentData(assessment, false),
    snapshot: snapshot === null ? null : pointerData(snapshot),
    worktree:
      worktree === null
        ? null
        : { name: worktree.name, branch: pathToJson(worktree.branch), branch_stays: worktree.branchStays },
  };
}

export function resumeData({ instance, kept, latest, mounts, container }: ResumeResult): ResumeData {
  return {
    instance: instanceData(instance),
    kept: kept === null ? null : { decided_at: kept.decided_at, note: kept.note },
    latest: latest === null ? null : pointerData(latest),
    mounts: mounts.map(sinceSavedData),
    container,
  };
}

export function keepData({ instance, mounts }: KeepResult): KeepData {
  return { instance: instanceData(instance), mounts: mounts.map(sinceSavedData) };
}

function sinceSavedData({ name, path, state, changed, comparedWith }: MountSinceSaved): MountSinceSavedData {
  return {
    name,
    path: pathToJson(path),
    state,
    changed,
    compared_with: comparedWith === null ? null : pointerData(comparedWith),
  };
}
