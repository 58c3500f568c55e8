import type { RunChanges, RunResult } from '../../index.js';
import type { RunChangesData, RunData } from '../../schemas.js';
import { pathToJson } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { pointerData } from './json.js';
import { runCommands } from './text-run.js';

export function runData(result: RunResult, next: NextCommand): RunData {
  const { instance, exitCode, before, after, changes, complete } = result;
  return {
    instance,
    exit_code: exitCode,
    before: before === null ? null : pointerData(before),
    after: after === null ? null : pointerData(after),
    changes: changes === null ? null : changesData(changes),
    commands: runCommands(result, next),
    complete,
  };
}

function changesData(changes: RunChanges): RunChangesData {
  const { added, modified, deleted, linesAdded, linesRemoved, files, newExecutables, selfRunning } = changes;
  return {
    added,
    modified,
    deleted,
    lines_added: linesAdded,
    lines_removed: linesRemoved,
    files: files.map(({ path, ...file }) => ({ ...file, path: pathToJson(path) })),
    new_executables: newExecutables.map(({ mount, path }) => ({ mount, path: pathToJson(path) })),
    self_running: selfRunning.map(({ path, ...file }) => ({ ...file, path: pathToJson(path) })),
  };
}
