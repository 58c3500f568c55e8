import { activeOwner } from '../../core/activity.js';
import type { WorktreeState, WorktreeSummary } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import type { WorktreeLook } from '../../core/worktrees.js';
import { isSnapError, systemCode } from '../../errors.js';
import { hasUncommitted } from '../assess/uncommitted-files.js';
import type { Context } from '../context.js';
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

/** As `assess` has it. */
async function isDirty(context: Context, record: WorktreeRecord): Promise<boolean | null> {
  const instance = context.registry.find(record.name);
  const [mount, ...others] = instance?.mounts.filter(({ path }) => path === record.path) ?? [];
  if (instance === undefined || mount === undefined || others.length > 0) return null;
  try {
    return await hasUncommitted(context, instance, mount);
  } catch (error) {
    // Somebody works in it: another look may know.
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    if (isSnapError(error, 'INTERRUPTED')) throw error;
    return null;
  }
}
