import { activeOwner } from '../../core/activity.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { WorktreeState, WorktreeSummary } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { isSnapError, systemCode } from '../../errors.js';
import { captureMounts } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { isAside } from './set-aside.js';

/** The worktrees that `run` made, by name. @param all also those that were removed */
export async function listWorktrees(context: Context, all: boolean): Promise<WorktreeSummary[]> {
  const summaries: WorktreeSummary[] = [];
  for (const record of context.registry.worktrees()) {
    if (!('stage' in record)) summaries.push({ ...unknown, name: record.name });
    else if (all || record.stage !== 'removed') summaries.push(await summarize(context, record));
  }
  return summaries;
}

const unknown: Omit<WorktreeSummary, 'name'> = {
  state: 'damaged',
  path: null,
  repository: null,
  branch: null,
  baseCommit: null,
  baseBranch: null,
  head: null,
  ahead: null,
  dirty: null,
  exitCode: null,
  createdAt: null,
};

async function summarize(context: Context, record: WorktreeRecord): Promise<WorktreeSummary> {
  const { name, path, repository, baseCommit, baseBranch, exitCode, createdAt } = record;
  const look = (await context.worktrees()).look(record);
  const state = stateOf(context, record, look);
  const isThere = look.present && look.linked && record.stage === 'ready';
  return {
    name,
    state,
    path,
    repository,
    branch: look.linked ? look.branch : record.branch,
    baseCommit,
    baseBranch,
    head: look.head,
    ahead: look.ahead,
    dirty: isThere ? await isDirty(context, record) : null,
    exitCode,
    createdAt,
  };
}

function stateOf(context: Context, record: WorktreeRecord, look: WorktreeLook): WorktreeState {
  const { name, stage } = record;
  if (stage === 'removed' || stage === 'removing') return stage;
  if (stage === 'ready' && isAside(context, record)) return 'removing';
  if (activeOwner(context.registry.readActivity(name), context.processes) !== null) return 'active';
  if (stage === 'making') return 'unfinished';
  return look.present ? 'kept' : 'gone';
}

/** As a save would find it; what is hashed for it goes to a scratch directory that is gone afterwards. */
async function isDirty(context: Context, record: WorktreeRecord): Promise<boolean | null> {
  const instance = context.registry.find(record.name);
  const mounts = instance?.mounts.filter(({ path }) => path === record.path) ?? [];
  if (instance === undefined || mounts.length !== 1 || !context.store.exists()) return null;
  return isMountDirty(context, instance, mounts);
}

async function isMountDirty(
  context: Context,
  instance: InstanceRecord,
  mounts: InstanceRecord['mounts'],
): Promise<boolean | null> {
  const lock = await lockForReading(context);
  const scratch = await context.store.newScratchWriter();
  try {
    const [captured] = await captureMounts(context, {
      record: instance,
      mounts,
      policy: instance.policy,
      writer: scratch.writer,
      full: false,
      graft: false,
      scope: () => null,
      forced: () => null,
      temporaryPrefix: null,
    });
    return captured?.repository?.dirty ?? null;
  } catch (error) {
    // Somebody works in it: another look may know.
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    if (isSnapError(error, 'INTERRUPTED')) throw error;
    return null;
  } finally {
    await scratch.remove();
    lock.release();
  }
}
