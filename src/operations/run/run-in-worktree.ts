import { type NamedRisk, namedRisks } from '../../core/assessment.js';
import { type HostPath, displayPath } from '../../core/entry-path.js';
import type { DirtyExitPolicy } from '../../core/jackin/configuration.js';
import type { DiscardRequest, RunRequest } from '../../core/requests.js';
import type { SaveResult } from '../../core/results.js';
import type { RunResult, RunWorktree } from '../../core/run-results.js';
import type { WorktreeRecord } from '../../core/worktree-record.js';
import { isSnapError, isTold, systemCode, wordsOf } from '../../errors.js';
import type { Context } from '../context.js';
import { goneWith, inWorktree, saveClosing, sayWhatGoes } from '../worktree/closing-snapshot.js';
import { makeWorktree } from '../worktree/make-worktree.js';
import { removeNow, seenNow } from '../worktree/remove-worktree.js';
import { uncommittedNotes } from '../worktree/uncommitted.js';
import { unsavedIn } from '../worktree/unsaved.js';
import { exitPolicyOfFolder, noteKept } from './exit-policy.js';
import { type EndedRun, run, sayBefore } from './run.js';

/** Runs a command in a folder; the exit code that a shell would report. */
export type StartCommandIn = (command: RunRequest['command'], folder: HostPath) => Promise<number>;

/**
 * Like `run`, in a new worktree of the repository around the current folder. Afterwards the worktree is kept or removed,
 * as `keep` says, else the folder's exit policy, else as the command ended; never removed without a whole snapshot of
 * it, nor while something in it would be lost.
 * @throws SnapError NOT_A_REPOSITORY, REPOSITORY_UNSUITABLE, WORKTREE_EXISTS, and all that `run` throws: then no worktree
 * is left
 */
export async function runInWorktree(
  context: Context,
  undisturbed: Context,
  request: RunRequest,
  start: StartCommandIn,
): Promise<RunResult> {
  const policy = exitPolicyOfFolder(context);
  const { record, start: folder } = await makeWorktree(context);
  const ran = { done: false };
  try {
    const said: string[] = [];
    for (const note of await uncommittedNotes(context, record)) said.push(...(await sayBefore(request, note)));
    const ended = await run(inWorktree(context, record), inWorktree(undisturbed, record), request, async (command) => {
      const exitCode = await start(command, folder);
      ran.done = true;
      return exitCode;
    });
    const result = { ...ended.result, messages: [...said, ...ended.result.messages] };
    return await afterRun(undisturbed, record, request, { ...ended, result, policy });
  } catch (error) {
    // Where nothing ran, it holds what its commit holds.
    if (!ran.done) await removeNow(undisturbed, record, null, 'all');
    throw error;
  }
}

interface Ended extends EndedRun {
  readonly policy: DirtyExitPolicy;
}

async function afterRun(context: Context, made: WorktreeRecord, request: RunRequest, ended: Ended): Promise<RunResult> {
  const { result } = ended;
  const record: WorktreeRecord = { ...made, exitCode: result.exitCode };
  const { name, path, branch, baseCommit } = record;
  const stays = { name, path, branch, baseCommit, kept: true, branchStays: true, unsaved: [], unacknowledged: [] };
  try {
    context.registry.writeWorktree(record);
    const fate = await fateOf(context, record, request, ended);
    const { exitDecision = null, messages = [], ...worktree } = fate;
    const isKept = worktree.kept ?? true;
    return {
      ...result,
      exitDecision,
      worktree: { ...stays, ...worktree, branch: isKept ? await checkedOut(context, record) : branch },
      messages: [...result.messages, ...messages],
    };
  } catch (error) {
    // What the command returned comes first.
    if (isRemoved(context, record))
      return { ...result, worktree: { ...stays, kept: false }, messages: [...result.messages, wordsOf(error)] };
    const said = isSnapError(error, 'WORKTREE_HOLDS_MORE') ? error.data.reasons : [wordsOf(error).replace(/\.$/, '')];
    return { ...result, worktree: { ...stays, branch: await checkedOut(context, record), unsaved: said } };
  }
}

/** Where that cannot be read, it stays: nothing says that it is gone. */
function isRemoved({ registry }: Context, { name }: WorktreeRecord): boolean {
  try {
    return registry.findWorktree(name)?.stage === 'removed';
  } catch (error) {
    if (!isTold(error)) throw error;
    return false;
  }
}

/** Null for a commit. Where it cannot be known, it is the branch that was made for the worktree. */
async function checkedOut(context: Context, record: WorktreeRecord): Promise<string | null> {
  try {
    const look = (await context.worktrees()).look(record);
    return look.linked && look.head !== null ? look.branch : record.branch;
  } catch (error) {
    if (!isSnapError(error) && systemCode(error) === undefined) throw error;
    return record.branch;
  }
}

/** What became of a worktree, where it is not that it stays without more ado. */
type Fate = Partial<
  Pick<RunWorktree, 'kept' | 'branchStays' | 'unsaved' | 'unacknowledged'> &
    Pick<RunResult, 'exitDecision' | 'messages'>
>;

async function fateOf(context: Context, record: WorktreeRecord, request: RunRequest, ended: Ended): Promise<Fate> {
  const { name, path, exitCode } = record;
  const whatGoes = (): Promise<readonly string[]> => sayWhatGoes(context, record);
  switch (request.keep) {
    case 'keep':
      return {};
    case 'discard':
      return removed(context, record, ended);
    case 'ask':
      return (await request.askKeep?.({ name, path, exitCode: exitCode ?? 0, whatGoes })) === false
        ? removed(context, record, ended)
        : {};
    case undefined:
      return fateByPolicy(context, record, request, ended);
  }
}

async function fateByPolicy(
  context: Context,
  record: WorktreeRecord,
  request: RunRequest,
  ended: Ended,
): Promise<Fate> {
  switch (ended.policy) {
    case 'keep': {
      const { decision, messages } = await noteKept(context, record.name);
      return { exitDecision: decision, messages };
    }
    case 'discard':
      return discarded(context, record, request, ended);
    case 'ask':
      if (record.exitCode === 0 || !(await mayGo(context, record, request))) return {};
      return removed(context, record, ended);
  }
}

async function removed(context: Context, record: WorktreeRecord, { saved: first }: EndedRun): Promise<Fate> {
  const seen = await seenNow(context, record, (await context.worktrees()).look(record));
  const saved = first === null ? null : await savedNow(context, record, first);
  const unsaved = await whyNotRemoved(context, record, saved);
  if (saved === null || unsaved.length > 0) return { unsaved };
  const look = (await context.worktrees()).look(record);
  const { seq } = saved.snapshot;
  const later = seq === first?.snapshot.seq ? [] : [`What it held in the end is in snapshot ${String(seq)}.`];
  const { branchStays, messages } = await removeNow(context, record, null, { look, seen });
  return { kept: false, branchStays, messages: [...later, ...goneWith(saved), ...messages] };
}

/** What is there by now: somebody may have thought over the question for long, or have left something running. */
async function savedNow(context: Context, record: WorktreeRecord, first: SaveResult): Promise<SaveResult> {
  if (!(await context.worktrees()).look(record).present) return first;
  return saveClosing(context, record);
}

/** Whoever sits at a terminal is asked before something goes that is dirty or unpushed. */
async function mayGo(context: Context, worktree: WorktreeRecord, { confirmDiscard }: RunRequest): Promise<boolean> {
  const record = context.registry.find(worktree.name);
  if (confirmDiscard === undefined || record === undefined) return true;
  const { assessRecord } = await import('../assess/assess.js');
  const assessment = await assessRecord(context, record);
  const risks = namedRisks(assessment);
  return risks.length === 0 || confirmDiscard(assessment, risks, () => sayWhatGoes(context, worktree));
}

/** As by `discard`: what is dirty or unpushed has to be acknowledged by somebody, else all of it stays. */
async function discarded(
  context: Context,
  record: WorktreeRecord,
  { confirmDiscard }: RunRequest,
  { saved }: EndedRun,
): Promise<Fate> {
  const unsaved = await whyNotRemoved(context, record, saved);
  if (unsaved.length > 0) return { unsaved };
  const { discard } = await import('../assess/decide.js');
  let atRisk: readonly NamedRisk[] = [];
  const confirm: DiscardRequest['confirm'] = async (assessment, risks, whatGoes) => {
    if (risks.length > 0 && confirmDiscard === undefined) atRisk = risks;
    return risks.length === 0 || ((await confirmDiscard?.(assessment, risks, whatGoes)) ?? false);
  };
  try {
    const { worktree, messages } = await discard(context, { instance: record.name, confirm });
    return {
      kept: worktree === null,
      branchStays: worktree?.branchStays ?? true,
      exitDecision: 'discard',
      messages,
    };
  } catch (error) {
    if (!isSnapError(error, 'DECLINED')) throw error;
    return {
      unsaved: atRisk.map(({ name, why }) => `${displayPath(name)} is at risk: ${why.join('; ')}`),
      unacknowledged: atRisk.map(({ name }) => displayPath(name)),
    };
  }
}

async function whyNotRemoved(context: Context, record: WorktreeRecord, saved: SaveResult | null): Promise<string[]> {
  if (saved === null) return ['the snapshot after the command could not be made'];
  if (!saved.complete) return ['the snapshot after the command is partial'];
  const look = (await context.worktrees()).look(record);
  if (!look.present) return [];
  if (look.locked) return ['it is locked'];
  return unsavedIn(context, record, look, saved);
}
