import { shellWord } from '../../core/command-text.js';
import type {
  ChangedFile,
  NoLongerStored,
  RunChanges,
  RunResult,
  SelfRunningChange,
  WorktreeRemoval,
  WorktreeSummary,
} from '../../index.js';
import { bytesOfText, displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, grouped, pathText, textOf } from './format.js';
import { reasonWords } from './text-save.js';

const letters = { added: 'A', modified: 'M', deleted: 'D' } as const;

/** What each kind says in a few words. */
const kindWords: Readonly<Record<SelfRunningChange['kind'], string>> = {
  git_hook: 'git hook',
  git_config: 'git configuration',
  ci: 'continuous integration',
  editor: 'editor',
  container: 'development container',
  package_script: 'package scripts',
  build: 'build',
  shell: 'shell',
  agent: 'agent',
};

const filesShown = 12;

/** The summary after `run`: what the command changed, what of it runs by itself, how to see it and to take it back. */
export function runText(result: RunResult, next: NextCommand): string {
  const { changes, exitCode, snapshotLevel } = result;
  const ended = `jackin-snap: the command ended with ${exitCode}`;
  if (changes === null) return textOf([`${ended}.`, ...waysOn(result, next)]);
  if (snapshotLevel === 'metadata')
    return textOf([`${ended}; snapshots hold no files.`, ...changeLines(changes), ...waysOn(result, next)]);
  if (changes.files.length + changes.noLongerStored.length + changes.selfRunning.length === 0)
    return textOf([`${ended} and changed nothing that snapshots have.`, ...waysOn(result, next)]);
  return textOf([`${ended}; ${countsText(changes)}.`, ...changeLines(changes), ...waysOn(result, next)]);
}

function countsText({ added, modified, deleted, noLongerStored, linesAdded, linesRemoved }: RunChanges): string {
  const unstored = noLongerStored.length === 0 ? '' : `, ${grouped(noLongerStored.length)} no longer stored`;
  const lines = linesAdded + linesRemoved === 0 ? '' : `, +${grouped(linesAdded)} -${grouped(linesRemoved)} lines`;
  return `${counted(added, 'path')} added, ${grouped(modified)} modified, ${grouped(deleted)} deleted${unstored}${lines}`;
}

function changeLines(changes: RunChanges): string[] {
  const { files, noLongerStored, newExecutables, selfRunning } = changes;
  const mounts = new Set([...files, ...noLongerStored, ...selfRunning].map(({ mount }) => mount));
  const several = mounts.size > 1;
  const nameOf = ({ mount, path }: Pick<ChangedFile, 'mount' | 'path'>): string => pathText(mount, path, several);
  const more = files.length - filesShown;
  return [
    ...columns(files.slice(0, filesShown).map((file) => [letters[file.change], nameOf(file), linesText(file)])),
    ...(more > 0 ? [`  and ${grouped(more)} more`] : []),
    ...section('No longer stored; whether it is as it was, no snapshot can tell:', inOrder(noLongerStored), (file) => [
      '',
      nameOf(file),
      reasonWords[file.reason] + (file.selfRunning === null ? '' : `; runs by itself: ${kindWords[file.selfRunning]}`),
    ]),
    ...section('Can be executed now:', newExecutables, (file) => ['', nameOf(file), '']),
    ...section('Runs by itself, look at it:', selfRunning, (file) => [
      letters[file.change],
      nameOf(file),
      kindWords[file.kind] + (file.stored ? '' : '; in no snapshot'),
    ]),
  ];
}

/** What runs by itself comes first: it must not go under in a list that is cut. */
function inOrder(files: readonly NoLongerStored[]): NoLongerStored[] {
  return [...files].sort((a, b) => Number(a.selfRunning === null) - Number(b.selfRunning === null));
}

function linesText({ lines }: ChangedFile): string {
  if (lines === null) return 'binary';
  const { added, removed } = lines;
  return [added > 0 ? `+${grouped(added)}` : '', removed > 0 ? `-${grouped(removed)}` : ''].filter(Boolean).join(' ');
}

type Row = readonly [letter: string, name: string, note: string];

function section<Item>(title: string, items: readonly Item[], toRow: (item: Item) => Row): string[] {
  if (items.length === 0) return [];
  const more = items.length - filesShown;
  const rows = columns(items.slice(0, filesShown).map(toRow)).map((line) => `  ${line}`);
  return [`  ${title}`, ...rows, ...(more > 0 ? [`    and ${grouped(more)} more`] : [])];
}

const widestName = 48;

function columns(rows: readonly Row[]): string[] {
  const width = Math.min(widestName, Math.max(0, ...rows.map(([, name]) => name.length)));
  return rows.map(([letter, name, note]) => `  ${letter === '' ? '' : `${letter}  `}${name.padEnd(width)}  ${note}`);
}

function waysOn(result: RunResult, next: NextCommand): string[] {
  const { diff, restore } = runCommands(result, next);
  return [
    ...(diff === null ? [] : [`  See what it did: ${diff}`]),
    ...(restore === null ? [] : [`  Take it back:    ${restore}`]),
    ...whyLines(result, next),
    ...worktreeLines(result, next),
    ...decisionLines(result, next),
  ];
}

function whyLines({ changes, worktree, instance }: RunResult, next: NextCommand): string[] {
  const [first] = inOrder(changes?.noLongerStored ?? []);
  if (first === undefined || worktree?.kept === false) return [];
  const words = `explain ${shellWord(displayPath(first.path))}`;
  return [`  Which rule:      ${worktree === null ? next(words) : next(words, instance)}`];
}

function decisionLines({ exitDecision, instance }: RunResult, next: NextCommand): string[] {
  if (exitDecision === 'keep') return [`  Go on with it:   ${next(`resume ${instance}`, null)}`];
  return exitDecision === 'discard' ? [`  Discarded: ${instance} is closed, as exit_policy says.`] : [];
}

function worktreeLines({ worktree, after }: RunResult, next: NextCommand): string[] {
  if (worktree === null) return [];
  const { name, path, branch, kept, branchStays } = worktree;
  const named = branch === null ? null : displayPath(branch);
  if (kept)
    return [
      `  Kept: worktree ${name} on ${named === null ? 'no branch' : `branch ${named}`}, in ${displayPath(path)}`,
      `  Remove it: ${next(`run remove ${name}`, null)}`,
    ];
  const back = after === null ? [] : [`  What it held:    ${next(`restore ${after.seq} --to DIR`, name)}`];
  const branchLine =
    branchStays && named !== null ? [`  Its branch ${named} stays, since it has commits of its own.`] : [];
  return [`  Removed: worktree ${name}; its snapshots stay.`, ...back, ...branchLine];
}

/** What to type next. What ran in a worktree is found by the worktree's own instance. */
export function runCommands(
  result: RunResult,
  next: NextCommand,
): { readonly diff: string | null; readonly restore: string | null } {
  const { before, changes, worktree, instance, blocked } = result;
  const isChanged = changes === null || changes.files.length + changes.noLongerStored.length > 0;
  if (before === null || !isChanged) return { diff: null, restore: null };
  // In a folder that is gone nothing finds the instance but its name.
  const isNamed = worktree !== null || blocked !== null;
  const words = { diff: diffOf(result, before.seq), restore: restoreOf(result, before.seq) };
  const spell = (typed: string | null): string | null => typed && (isNamed ? next(typed, instance) : next(typed));
  return { diff: spell(words.diff), restore: spell(words.restore) };
}

/** With the folder as it is where the snapshot after the command is missing. */
function diffOf({ after, worktree, blocked }: RunResult, before: number): string | null {
  if (after !== null) return `diff ${String(before)} ${String(after.seq)}`;
  return worktree?.kept === false || blocked === 'gone' ? null : `diff ${String(before)}`;
}

function restoreOf({ worktree, blocked }: RunResult, before: number): string | null {
  if (worktree?.kept === false) return null;
  return `restore ${String(before)}${blocked === null ? '' : ' --to DIR'}`;
}

/** A line or two for each worktree. */
export function runListText(worktrees: readonly WorktreeSummary[], next: NextCommand): string {
  if (worktrees.length === 0) return textOf([`There are no worktrees. Make one: ${next('run --worktree -- CMD')}`]);
  return textOf(worktrees.flatMap(worktreeText));
}

function worktreeText(worktree: WorktreeSummary): string[] {
  const { name, state, path, branch, baseCommit, baseBranch, repository } = worktree;
  const base =
    baseCommit === null
      ? ''
      : `, off ${baseCommit.slice(0, 10)}${baseBranch === null ? '' : ` (${displayPath(bytesOfText(baseBranch))})`}`;
  const facts = [state, dirtyText(worktree), aheadText(worktree), endText(worktree)].filter((fact) => fact !== '');
  return [
    `${name}  ${facts.join(', ')}`,
    ...(branch === null && baseCommit === null
      ? []
      : [`  branch ${branch === null ? '(none)' : displayPath(branch)}${base}`]),
    ...(path === null ? [] : [`  in ${displayPath(path)}`]),
    ...(repository === null ? [] : [`  of ${displayPath(repository)}`]),
  ];
}

function dirtyText({ dirty, state }: WorktreeSummary): string {
  if (dirty === null) return state === 'kept' || state === 'active' ? 'perhaps dirty' : '';
  return dirty ? 'dirty' : 'clean';
}

function aheadText({ ahead }: WorktreeSummary): string {
  return ahead === null ? '' : `${counted(ahead, 'commit')} ahead`;
}

function endText({ exitCode }: WorktreeSummary): string {
  return exitCode === null ? '' : `ended with ${String(exitCode)}`;
}

export function runRemoveText({ name, branch, branchStays, snapshot }: WorktreeRemoval, next: NextCommand): string {
  const held = snapshot === null ? [] : [`  What it held: ${next(`restore ${snapshot.seq} --to DIR`, name)}`];
  const stays = branchStays ? [`  Its branch ${displayPath(branch)} stays, since it has commits of its own.`] : [];
  return textOf([`Removed worktree ${name}; its snapshots stay.`, ...held, ...stays]);
}
