import { shellWord } from '../../core/command-text.js';
import type {
  AssessedMount,
  AssessedRepository,
  Assessment,
  DiscardResult,
  HostPath,
  KeepResult,
  MountSinceSaved,
  NamedRisk,
  ResumeResult,
  Risk,
} from '../../index.js';
import { displayPath, namedRisks } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, localTime, subject, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { words, wrapped } from './wrap.js';

interface Look {
  readonly files: boolean;
  readonly style: TextStyle;
  readonly next: NextCommand;
}

/** Each mount with its verdict, why, and its branches. */
export function assessmentText(assessment: Assessment, { files, style, next }: Look): string {
  const { instance, mounts } = assessment;
  const risks = namedRisks(assessment);
  const dirty = mounts.reduce((sum, mount) => sum + mount.files.length, 0);
  return textOf([
    ...mounts.flatMap((mount) => mountLines(mount, files, style)),
    '',
    ...(dirty > 0 && !files ? [`File by file: ${next(`assess ${instance} --files`, null)}`] : []),
    ...(risks.length === 0 ? ['Nothing is at risk.'] : []),
    ...waysOn(assessment, risks.length > 0, next),
  ]);
}

/** Only what is possible: a closed instance takes no snapshot and no decision, and folders that are gone cannot be saved. */
function waysOn(
  { instance, state, mounts, latest, exitPolicy }: Assessment,
  atRisk: boolean,
  next: NextCommand,
): string[] {
  const isThere = mounts.every(({ present }) => present);
  const held = latest === null ? [] : [`What it held: ${next(`restore ${String(latest.seq)} --to DIR`, instance)}`];
  if (state === 'unrecorded')
    return ['Of this instance there are snapshots alone: nothing can be decided on it.', ...held];
  if (state === 'closed')
    return [
      `Instance ${instance} is closed, for good: no save and no decision any more.`,
      ...held,
      ...goOnElsewhere(
        mounts.filter(({ present }) => present),
        next,
      ),
    ];
  return [
    ...(atRisk && isThere ? [`Save it: ${next('save', instance)}`] : []),
    ...(isThere ? [] : held),
    `At exit: ${exitPolicy}. ${next(`keep ${instance}`, null)}; ${next(`discard ${instance}`, null)}`,
  ];
}

/** How folders of a closed instance get snapshots again. */
function goOnElsewhere(mounts: readonly { readonly path: HostPath }[], next: NextCommand): string[] {
  if (mounts.length === 0) return [];
  const folders = mounts.map(({ path }) => shellWord(displayPath(path))).join(' ');
  return [`To go on with its folders, make another instance: ${next(`save ${folders}`, 'NAME')}`];
}

function mountLines(mount: AssessedMount, withFiles: boolean, style: TextStyle): string[] {
  const { name, path, kind, isolation, verdict, risks, repositories, files, comparedWith } = mount;
  const made = isolation === 'shared' ? 'shared' : `${isolation} of the session`;
  const compared = comparedWith === null ? [] : [`compared with snapshot ${String(comparedWith.seq)}`];
  const facts = [kind ?? 'not opened', made, ...compared, ...(files.length > 0 ? [counted(files.length, 'file')] : [])];
  return [
    wrapped([`${verdict.padEnd(8)}  ${name}`, ` ${displayPath(path)}`, ` (${facts.join(', ')})`], style, 4),
    ...risks.map((risk) => riskLine(risk, style)),
    ...repositories.flatMap((repository) => repositoryLines(repository, style)),
    ...(withFiles ? files.map(({ path: file, status }) => `    ${status} ${displayPath(file)}`) : []),
  ];
}

function riskLine({ branch, why }: Risk, style: TextStyle): string {
  const about = branch === null ? '' : `${displayPath(branch)}: `;
  return wrapped(['   ', ...words(`${about}${displayPath(why)}`)], style, 6);
}

function repositoryLines({ path, verdict, work, risks, base }: AssessedRepository, style: TextStyle): string[] {
  const place = path === '' ? [] : [`    ${displayPath(path)}: ${verdict}`];
  const all = work?.branches ?? [];
  const own = all.filter(({ elsewhere }) => !elsewhere);
  const others = all.length - own.length;
  const branches = own.map((branch) => {
    const { name, tip, current, upstream, gone, ahead } = branch;
    const beyond = ahead === null ? 'ahead by an unknown number' : `${String(ahead)} ahead`;
    const where = tip === base ? 'at the base, ' : '';
    const state = upstream === null ? 'no upstream' : `${displayPath(upstream)}, ${gone ? 'gone' : beyond}`;
    return `    ${current ? '*' : ' '} ${displayPath(name)} (${where}${state})`;
  });
  return [
    ...place,
    ...risks.filter(({ branch }) => branch === null).map((risk) => riskLine(risk, style)),
    ...branches,
    ...(others === 0
      ? []
      : [
          `      and ${counted(others, 'branch', 'branches')} of the repository that ${others === 1 ? 'is' : 'are'} not this worktree's`,
        ]),
  ];
}

/** `name: why; why`, a line each. */
export function riskLines(risks: readonly NamedRisk[]): string[] {
  return risks.map(({ name, why }) => `${displayPath(name)}: ${why.map((one) => displayPath(one)).join('; ')}`);
}

export function keptText({ instance: { name, latest }, mounts }: KeepResult, next: NextCommand): string {
  return textOf([
    `Kept: ${name}${latest === null ? '; it has no snapshot yet' : `; snapshot ${String(latest)} is not pruned`}.`,
    ...mounts.filter(({ state }) => state !== 'as_saved').map(mountSinceText),
    `  Go on with it: ${next(`resume ${name}`, null)}`,
    `  Give it up:    ${next(`discard ${name}`, null)}`,
  ]);
}

/** That a note is no snapshot: what none holds, and how to save it. */
export function keptWarnings({ instance: { name, active, owner }, mounts }: KeepResult, next: NextCommand): string[] {
  const unsaved = mounts.filter(({ state }) => state === 'changed' || state === 'unknown');
  return [
    ...(unsaved.length === 0
      ? []
      : [
          `What is noted as kept is in no snapshot in full (${unsaved.map((one) => one.name).join(', ')}). Save it: ${next('save', name)}`,
        ]),
    ...(active
      ? [`It is active (${owner ?? 'nobody known'}): what is done in it from now on is in no snapshot yet.`]
      : []),
  ];
}

export function discardText(discarded: DiscardResult, next: NextCommand): string {
  const { instance, snapshot, worktree } = discarded;
  const { name } = instance;
  const branch = worktree?.branchStays === true ? ` Its branch ${displayPath(worktree.branch)} stays.` : '';
  return textOf([
    `Discarded: ${name} is closed; its snapshots stay.`,
    ...(worktree === null ? [] : [`  Removed: its worktree.${branch}`]),
    ...(snapshot === null ? [] : [`  What it held: ${next(`restore ${String(snapshot.seq)} --to DIR`, name)}`]),
    ...goOnElsewhere(
      instance.mounts.filter(({ present }) => present),
      next,
    ).map((line) => `  ${line}`),
  ]);
}

const states = {
  as_saved: 'as in the last whole snapshot',
  changed: 'changed since the last whole snapshot',
  gone: 'gone',
  another_folder: 'another folder than the one that was saved',
  unknown: 'whether it is as it was is not known',
} as const;

function mountSinceText({ name, path, state, changed, comparedWith }: MountSinceSaved): string {
  const which = comparedWith === null ? '' : `, ${String(comparedWith.seq)}`;
  const count = changed > 0 ? ` (${counted(changed, 'file')})` : '';
  return `  ${name}  ${displayPath(path)}: ${states[state]}${which}${count}`;
}

export function resumeText(result: ResumeResult, next: NextCommand): string {
  const { instance, kept, latest, mounts, container } = result;
  const note = kept?.note ?? null;
  return textOf([
    kept === null
      ? `${instance.name} is open; nothing had been decided.`
      : `${instance.name} is open again, kept ${localTime(kept.decided_at)}.`,
    ...(note === null ? [] : [`  Note: ${subject(note)}`]),
    ...mounts.map(mountSinceText),
    latest === null ? '  It has no snapshot.' : `  Last snapshot: ${String(latest.seq)}`,
    ...(container === null ? [] : [`  Go on in its container: jackin hardline ${container}`]),
    ...waysToResume(result, next),
  ]);
}

/** In folders that are gone nothing can be run or compared. */
function waysToResume(
  { instance: { name }, latest, mounts, container }: ResumeResult,
  next: NextCommand,
): readonly string[] {
  if (mounts.some(({ state }) => state === 'gone'))
    return latest === null ? [] : [`  What it held: ${next(`restore ${String(latest.seq)} --to DIR`, name)}`];
  return [
    ...(latest === null ? [] : [`  What has changed: ${next(`diff ${String(latest.seq)}`, name)}`]),
    ...(container === null ? [`  Go on: ${next('run -- CMD', name)}`] : []),
  ];
}
