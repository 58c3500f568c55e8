import {
  type EntryPath,
  type HostPath,
  baseName,
  displayPath,
  hostPathBelow,
  parentOf,
  textOfBytes,
} from '../../core/entry-path.js';
import { type InstanceName, parseInstanceName, slug } from '../../core/ids.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeSource } from '../../core/worktrees.js';
import { SnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { Interruption } from '../interruption.js';
import { removeFolder } from '../remove-folder.js';
import { liesIn } from '../session/folders.js';

/** The branches of worktrees: `jackin-snap/<name>`. */
const branchPrefix = 'jackin-snap/';

export interface MadeWorktree {
  readonly record: WorktreeRecord;
  /** The folder in it that stands for the current one. */
  readonly start: HostPath;
}

/**
 * Makes a worktree of the repository around the current folder, off its HEAD, on a branch and with an instance of its
 * own. When it fails, nothing of it stays.
 * @throws SnapError NOT_A_REPOSITORY, REPOSITORY_UNSUITABLE, WORKTREE_EXISTS, NO_SPACE …
 */
export async function makeWorktree(context: Context): Promise<MadeWorktree> {
  const worktrees = await context.worktrees();
  const { host, registry } = context;
  const source = worktrees.findSource(host.realPath(host.cwd) ?? host.cwd);
  refuseWithin(context, source);
  const record = newRecord(context, source);
  const { name } = record;
  const lock = await context.locks.instance(name);
  try {
    if (registry.find(name) !== undefined || registry.findWorktree(name) !== undefined)
      throw new SnapError('WORKTREE_EXISTS', `There is an instance ${name} already.`, { name });
    registry.writeWorktree(record);
    host.makePrivateDirectories(parentOf(record.path));
    try {
      await worktrees.create(record, () => context.interruption.pause());
    } catch (error) {
      await forget(context, record);
      throw error;
    }
    const ready: WorktreeRecord = { ...record, stage: 'ready' };
    registry.writeWorktree(ready);
    return { record: ready, start: startIn(context, record.path, source.inside) };
  } finally {
    lock.release();
  }
}

async function forget(context: Context, record: WorktreeRecord): Promise<void> {
  // A signal that ended the making must not leave half of it.
  await removeFolder({ ...context, interruption: new Interruption(undefined) }, parentOf(record.path));
  context.registry.forgetWorktree(record.name);
}

function refuseWithin(context: Context, { root }: WorktreeSource): void {
  const { worktreesDirectory } = context.host;
  if (!liesIn(context, worktreesDirectory, root)) return;
  const shown = displayPath(root);
  const why = 'the data directory lies in it';
  throw new SnapError('REPOSITORY_UNSUITABLE', `No worktree can be made of ${shown}: ${why}.`, { path: shown, why });
}

function newRecord(context: Context, { root, commonDir, commit, branch }: WorktreeSource): WorktreeRecord {
  const folder = slug(textOfBytes(baseName(root as string as EntryPath)) ?? '', 60);
  const name = context.instance ?? newName(context, folder);
  return {
    name,
    createdAt: context.now().toISOString(),
    stage: 'making',
    path: hostPathBelow(hostPathBelow(context.host.worktreesDirectory, name), folder),
    repository: root,
    commonDir,
    branch: branchPrefix + name,
    baseCommit: commit,
    baseBranch: branch,
    exitCode: null,
  };
}

/** Of the random part of an id, so that two at the same moment differ. */
function newName(context: Context, folder: string): InstanceName {
  return parseInstanceName(`${folder}-run-${context.newId().slice(-8).toLowerCase()}`);
}

/** The same folder as the current one, if the commit has it. */
function startIn(context: Context, root: HostPath, inside: EntryPath): HostPath {
  const folder = hostPathBelow(root, inside);
  if (inside === '' || context.host.identity(folder)?.directory !== true) return root;
  // Behind a link it would be another one.
  return context.host.realPath(folder) === folder ? folder : root;
}
