import type {
  DecidingRule,
  Explanation,
  ExplainResult,
  ForeseenRestore,
  PlanResult,
  PlannedSaveMount,
  Refusal,
} from '../../index.js';
import type { NextCommand } from '../next-command.js';
import { displayPath } from '../library.js';
import { counted, pathText, shown, sizeText, textOf } from './format.js';
import { keptWords } from './kept-words.js';
import type { TextStyle } from './style.js';
import { policyLines } from './text-list.js';
import { reasonWords } from './text-save.js';
import { words, wrapped } from './wrap.js';

/*
 * What would be: `explain` and `plan`.
 */

/** A line for each path, with the rule that decides below it. */
export function explainText({ explanations }: ExplainResult, style: TextStyle): string {
  const several = new Set(explanations.map(({ mount }) => mount)).size > 1;
  return textOf(
    explanations.flatMap((explanation) => [
      `${pathText(explanation.mount, explanation.path, several)}: ${style.paint.bold(outcomeText(explanation))}`,
      `  ${ruleText(explanation)}`,
    ]),
  );
}

function outcomeText({ outcome, reason }: Explanation): string {
  const why = reason === null ? '' : `, ${reasonWords[reason]}`;
  switch (outcome) {
    case 'stored':
      return 'stored';
    case 'observed_only':
      return `observed only${why}`;
    case 'left_out':
      return `left out${why}`;
    case 'absent':
      return 'not there';
  }
}

function ruleText({ path, outcome, rule }: Explanation): string {
  if (outcome === 'absent' && rule.kind === 'none') return 'if it were there, no rule would leave it out';
  const above = rule.path === path || rule.path === '' ? '' : `, which decides about ${displayPath(rule.path)}`;
  const entered = outcome === 'stored' && leavingOut.has(rule.kind) ? '; but something in it is stored' : '';
  const when = outcome === 'absent' ? 'if it were there: ' : '';
  return `${when}${rulesWords(rule)}${above}${entered}`;
}

const leavingOut: ReadonlySet<DecidingRule['kind']> = new Set(['exclude', 'stack', 'ignore_file']);

const fixedWords: Readonly<Partial<Record<DecidingRule['kind'], string>>> = {
  none: 'no rule leaves it out',
  special: 'a socket, pipe or device cannot be stored',
  git_dir: 'a .git directory is never stored',
  foreign_fs: 'it lies on another file system',
  data_directory: 'it is the data directory of jackin-snap',
  pending_restore: 'it belongs to a restore that is pending',
  unreadable: 'it cannot be read',
};

function rulesWords(rule: DecidingRule): string {
  const { kind, setting, limit } = rule;
  const settingName = setting ?? kind;
  if (kind === 'exclude' || kind === 'include') return `pattern ${patternText(rule)} of the setting ${settingName}`;
  if (kind === 'secret') return `a secret by its name: ${patternText(rule)}`;
  if (kind === 'size_limit') return `larger than ${settingName}, ${sizeText(limit ?? 0)}`;
  if (kind === 'tracked') return `the repository tracks it${inSpiteOf(rule)}`;
  return fixedWords[kind] ?? placeText(rule);
}

function inSpiteOf(rule: DecidingRule): string {
  return rule.pattern === null ? '' : `, in spite of ${placeText(rule)}`;
}

function placeText(rule: DecidingRule): string {
  const { preset, file, line } = rule;
  const place = file === null ? '' : displayPath(file === '' ? '.' : file);
  if (preset !== null) return `pattern ${patternText(rule)} of the stack preset ${preset}, found in ${place}`;
  return `pattern ${patternText(rule)} in ${place}${line === null ? '' : `, line ${line}`}`;
}

function patternText({ pattern }: DecidingRule): string {
  return pattern === null ? 'unknown' : displayPath(pattern);
}

const shownChanges = 20;

/** What a session would get: the save, its folders and rules, and the ways back. */
export function planText(result: PlanResult, next: NextCommand, style: TextStyle): string {
  const { refusal, mounts, store, restores, policy, instance, isNew } = result;
  const { paint } = style;
  const line = (text: string, indent = 4): string => wrapped(words(text), style, indent);
  const name = instance ?? 'unknown';
  return textOf([
    refusal === null
      ? paint.bold(
          line(`A save would make a snapshot of ${isNew ? `the new instance ${name}` : `instance ${name}`}.`, 2),
        )
      : paint.bold(line(`No snapshot would be made: ${refusalText(refusal)}`, 2)),
    line(`  kept in   ${displayPath(store.dataDirectory)}, ${sizeText(store.freeBytes)} free, ${storeText(result)}`),
    ...mounts.flatMap((mount) => ['', ...mountLines(mount, line, paint.bold)]),
    ...(policy === null ? [] : ['', paint.bold('Policy in force'), ...policyLines(policy)]),
    ...restores.flatMap((restore) => ['', ...restoreLines(restore, line, paint.bold)]),
    ...(restores.some(({ changes }) => changes.length > shownChanges)
      ? ['', line(`All of it: ${next('plan --json')}`)]
      : []),
  ]);
}

function refusalText({ code, message }: Refusal): string {
  return `${shown(message)} (${code})`;
}

function storeText({ store }: PlanResult): string {
  return store.exists ? `${sizeText(store.sizeBytes)} taken` : 'nothing there yet';
}

type Line = (text: string, indent?: number) => string;

function mountLines(mount: PlannedSaveMount, line: Line, bold: (text: string) => string): readonly string[] {
  const { name, path, kind, stored, toRead, leftOut, excludes } = mount;
  return [
    bold(`${name}  ${displayPath(path)}  (${kind})`),
    line(
      `  stored    ${counted(stored.files, 'file')}, ${sizeText(stored.bytes)}; of these to be read: ` +
        `${counted(toRead.files, 'file')}, ${sizeText(toRead.bytes)}`,
    ),
    ...leftOut.map(({ reason, entries, files, bytes, unknown }) =>
      line(
        `  left out  ${reasonWords[reason]}: ${counted(entries, 'entry', 'entries')}, with ` +
          `${counted(files, 'file')}, ${sizeText(bytes)}${unknown ? ', and what could not be looked at' : ''}`,
      ),
    ),
    ...excludes.map(({ kind: of, file, preset, patterns }) =>
      line(
        `  rules     ${listText(of, file, preset)}${patterns.length === 0 ? '' : ':'} ${patterns.map(displayPath).join(' ')}`,
      ),
    ),
  ];
}

function listText(
  kind: PlannedSaveMount['excludes'][number]['kind'],
  file: string | null,
  preset: string | null,
): string {
  const place = file === null ? '' : displayPath(file === '' ? '.' : file);
  if (kind === 'secret') return 'names of secrets';
  if (kind === 'ignore_file') return place;
  return kind === 'stack' ? `stack ${preset ?? ''} in ${place}` : `setting ${kind}`;
}

function restoreLines(restore: ForeseenRestore, line: Line, bold: (text: string) => string): readonly string[] {
  const { which, snapshot, possible, refusals, changes, blocked, kept, messages } = restore;
  const can = possible ? 'is possible' : 'is refused';
  return [
    bold(
      `A restore of ${which} (${snapshot.instance}/${snapshot.seq}) ${can}, and would change ${counted(changes.length, 'path')}`,
    ),
    ...refusals.map((refusal) => line(`  refused   ${refusalText(refusal)}`)),
    ...changes.slice(0, shownChanges).map(({ action, hostPath }) => `  ${action.padEnd(9)} ${displayPath(hostPath)}`),
    ...(changes.length > shownChanges ? [`  and ${counted(changes.length - shownChanges, 'more', 'more')}`] : []),
    ...blocked.map(({ path, reason }) => line(`  not put back  ${displayPath(path)}: ${keptWords(reason)}`)),
    ...(kept.length === 0 ? [] : [line(`  kept      ${counted(kept.length, 'path')} made since, for safety`)]),
    ...messages.map((message) => line(`  ${shown(message)}`)),
  ];
}
