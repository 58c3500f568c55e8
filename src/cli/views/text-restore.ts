import type { KeptPath, LargeDeletion, PlannedChange, RestorePreview, RestoreResult } from '../../index.js';
import { displayPath } from '../library.js';
import { counted, grouped, pathText, shown, sizeText, textOf } from './format.js';
import { keptWords } from './kept-words.js';
import type { TextStyle } from './style.js';
import { words, wrapped } from './wrap.js';

export interface PlanStyle extends TextStyle {
  /** Every line, however many there are. */
  readonly verbose: boolean;
}

type Plan = Pick<RestorePreview, 'snapshot' | 'plan' | 'kept'> &
  Partial<Pick<RestoreResult, 'failed' | 'dryRun' | 'verified'>>;

// About a screen: longer plans are summed up on a terminal.
const longPlan = 40;

/** Asked once more where most of a mount would go. */
export function largeQuestion(large: readonly LargeDeletion[]): string {
  const parts = large.map(
    ({ mount, deleted, held }) => `${grouped(deleted)} of the ${grouped(held)} files in mount ${mount}`,
  );
  return `This deletes ${parts.join(' and ')}. Delete them all the same?`;
}

/** What will happen, path by path, and what stays as it is and why. */
export function planText(planned: Plan, style: PlanStyle): string {
  const { snapshot, plan, kept, failed = [], dryRun = false, verified = true } = planned;
  const { seq, instance } = snapshot;
  const nothing = failed.length === 0 && (dryRun || verified) ? 'Nothing differs from' : 'Nothing is restored from';
  const title =
    plan.length === 0
      ? words(`${nothing} snapshot ${seq} of ${instance}.`)
      : [...words(`To snapshot ${seq} of ${instance}:`), ...countsText(plan).split(/(?<=,) /)];
  return textOf([
    style.paint.bold(wrapped(title, style, 2)),
    ...shortened(
      plan.map((change) => changeLine(change, style)),
      style,
      (rest) => countsText(plan.slice(-rest)),
    ),
    ...(kept.length === 0 ? [] : [style.paint.bold(`Stays as it is: ${counted(kept.length, 'path')}`)]),
    ...keptLines(kept, style),
  ]);
}

function changeLine({ action, hostPath, reason, from, to }: PlannedChange, style: PlanStyle): string {
  const { green, yellow, red } = style.paint;
  const colors = { create: green, overwrite: yellow, delete: red, chmod: yellow, retype: yellow };
  const kinds = action === 'retype' ? [`(${from} becomes ${to})`] : [];
  const why = reason === '' ? [] : words(` ${shown(reason)}`);
  return wrapped([`  ${colors[action](action.padEnd(9))}`, displayPath(hostPath), ...kinds, ...why], style, 4);
}

function keptLines(kept: readonly KeptPath[], style: PlanStyle): readonly string[] {
  const several = new Set(kept.map(({ mount }) => mount)).size > 1;
  const lines = kept.map(({ mount, path, reason }) =>
    wrapped([`  ${pathText(mount, path, several)}:`, ...words(keptWords(reason))], style, 4),
  );
  return shortened(lines, style, (rest) => counted(rest, 'path'));
}

function shortened(
  lines: readonly string[],
  { terminal, verbose }: PlanStyle,
  sumUp: (rest: number) => string,
): readonly string[] {
  if (!terminal || verbose || lines.length <= longPlan) return lines;
  const rest = lines.length - longPlan;
  return [...lines.slice(0, longPlan), `  … and ${sumUp(rest)} more; --verbose shows all.`];
}

/** `2 create (1 folder), 1 delete`, in the order of the actions' weight: files are counted apart everywhere else. */
function countsText(plan: readonly PlannedChange[]): string {
  const counts = new Map<string, { all: number; folders: number }>();
  for (const change of plan) {
    const { all, folders } = counts.get(change.action) ?? { all: 0, folders: 0 };
    counts.set(change.action, { all: all + 1, folders: folders + (isOfFolder(change) ? 1 : 0) });
  }
  return [...counts]
    .map(([action, { all, folders }]) => {
      const apart = folders === 0 ? '' : ` (${counted(folders, 'folder')})`;
      return `${grouped(all)} ${action}${apart}`;
    })
    .join(', ');
}

/** No file comes, goes or changes with it. */
function isOfFolder({ from, to }: Pick<PlannedChange, 'from' | 'to'>): boolean {
  return [from, to].every((kind) => kind === 'directory' || kind === 'nothing');
}

/** `, and 2 folders`: what is no file, and was done all the same. */
function foldersText({ plan, changed }: Pick<RestoreResult, 'plan' | 'changed'>, to: 'directory' | 'nothing'): string {
  const done = new Set(changed.map(({ mount, path }) => `${mount}:${path}`));
  const folders = plan.filter(
    (change) => isOfFolder(change) && change.to === to && done.has(`${change.mount}:${change.path}`),
  );
  return folders.length === 0 ? '' : ` and ${counted(folders.length, 'folder')}`;
}

/** What was done, and the one command that takes it back. */
export function restoredText(result: RestoreResult, undo: string | null, style: TextStyle): string {
  const { fromSnapshot, restoredFiles, deletedFiles, bytesWritten, emergencySnapshot, verified } = result;
  if (result.plan.length === 0 && (result.failed.length === 0 || result.destination === null)) return '';
  const done =
    `Restored ${counted(restoredFiles, 'file')}${foldersText(result, 'directory')} (${sizeText(bytesWritten)}), ` +
    `deleted ${deletedText(deletedFiles, foldersText(result, 'nothing'))}, ` +
    `from snapshot ${fromSnapshot.seq} of ${fromSnapshot.instance}`;
  const into = result.destination === null ? [] : ['into', displayPath(result.destination)];
  const back =
    emergencySnapshot === null || undo === null
      ? ''
      : `The state before is snapshot ${emergencySnapshot.seq}. Take this back:`;
  return textOf([
    wrapped(ended([...words(done), ...into], verified ? '; verified.' : '.'), style, 2),
    ...(undo === null || back === '' ? [] : [wrapped([...words(back), undo], style, 2)]),
  ]);
}

function deletedText(files: number, folders: string): string {
  return folders === '' ? grouped(files) : `${counted(files, 'file')}${folders}`;
}

function ended(parts: readonly string[], end: string): readonly string[] {
  return [...parts.slice(0, -1), `${parts.at(-1) ?? ''}${end}`];
}

/** Each path that should have been restored and was not. */
export function failureLines({ failed }: Pick<RestoreResult, 'failed'>): readonly string[] {
  const several = new Set(failed.map(({ mount }) => mount)).size > 1;
  return failed.map(
    ({ mount, path, reason }) => `not restored: ${pathText(mount, path, several)}: ${keptWords(reason)}`,
  );
}
