import type { RunChanges, RunResult, RunWorktree, WorktreeRemoval, WorktreeSummary } from '../../index.js';
import type { RunChangesData, RunData, RunListData, RunRemoveData, JsonPath } from '../../schemas.js';
import { pathToJson } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { pointerData } from './json.js';
import { runCommands } from './text-run.js';

export function runData(result: RunResult, next: NextCommand): RunData {
  const { instance, exitCode, snapshotLevel, before, after, changes, complete, worktree, exitDecision } = result;
  return {
    instance,
    exit_code: exitCode,
    snapshot_level: snapshotLevel,
    before: before === null ? null : pointerData(before),
    after: after === null ? null : pointerData(after),
    changes: changes === null ? null : changesData(changes),
    commands: runCommands(result, next),
    complete,
    worktree: worktree === null ? null : worktreeData(worktree),
    exit_decision: exitDecision,
  };
}

function worktreeData(worktree: RunWorktree): RunData['worktree'] {
  const { name, path, branch, baseCommit, kept, branchStays, unsaved, unacknowledged } = worktree;
  return {
    name,
    path: pathToJson(path),
    branch: pathOrNull(branch),
    base_commit: baseCommit,
    kept,
    branch_stays: branchStays,
    unsaved,
    unacknowledged,
  };
}

export function runListData(worktrees: readonly WorktreeSummary[]): RunListData {
  return { worktrees: worktrees.map(listedData) };
}

function listedData(worktree: WorktreeSummary): RunListData['worktrees'][number] {
  const { name, state, path, repository, branch, baseCommit, baseBranch, head, ahead, dirty, exitCode, createdAt } =
    worktree;
  return {
    name,
    instance: name,
    state,
    path: pathOrNull(path),
    repository: pathOrNull(repository),
    branch: pathOrNull(branch),
    base_commit: baseCommit,
    base_branch: baseBranch,
    head,
    ahead,
    dirty,
    exit_code: exitCode,
    created_at: createdAt,
  };
}

function pathOrNull(path: string | null): JsonPath | null {
  return path === null ? null : pathToJson(path);
}

export function runRemoveData({ name, path, branch, branchStays, snapshot }: WorktreeRemoval): RunRemoveData {
  return {
    name,
    path: pathToJson(path),
    branch: pathToJson(branch),
    branch_stays: branchStays,
    snapshot: snapshot === null ? null : pointerData(snapshot),
  };
}

function changesData(changes: RunChanges): RunChangesData {
  const { added, modified, deleted, linesAdded, linesRemoved, files, noLongerStored, newExecutables, selfRunning } =
    changes;
  return {
    added,
    modified,
    deleted,
    lines_added: linesAdded,
    lines_removed: linesRemoved,
    files: files.map(({ path, ...file }) => ({ ...file, path: pathToJson(path) })),
    no_longer_stored: noLongerStored.map(({ mount, path, reason, selfRunning: kind }) => ({
      mount,
      path: pathToJson(path),
      reason,
      self_running: kind,
    })),
    new_executables: newExecutables.map(({ mount, path }) => ({ mount, path: pathToJson(path) })),
    self_running: selfRunning.map(({ path, ...file }) => ({ ...file, path: pathToJson(path) })),
  };
}
