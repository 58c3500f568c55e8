import type {
  AssessedMount,
  AssessedRepository,
  Assessment,
  DiscardResult,
  InstanceSummary,
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
  const { instance, mounts, exitPolicy } = assessment;
  const risks = namedRisks(assessment);
  const dirty = mounts.reduce((sum, mount) => sum + mount.files.length, 0);
  return textOf([
    ...mounts.flatMap((mount) => mountLines(mount, files, style)),
    '',
    ...(dirty > 0 && !files ? [`File by file: ${next(`assess ${instance} --files`, null)}`] : []),
    ...(risks.length === 0 ? ['Nothing is at risk.'] : [`Save it: ${next('save', instance)}`]),
    `At exit: ${exitPolicy}. ${next(`keep ${instance}`, null)}; ${next(`discard ${instance}`, null)}`,
  ]);
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
  const branches = (work?.branches ?? []).map((branch) => {
    const { name, tip, current, upstream, gone, ahead } = branch;
    const beyond = ahead === null ? 'ahead by an unknown number' : `${String(ahead)} ahead`;
    const where = tip === base ? 'at the base, ' : '';
    const state = upstream === null ? 'no upstream' : `${displayPath(upstream)}, ${gone ? 'gone' : beyond}`;
    return `    ${current ? '*' : ' '} ${displayPath(name)} (${where}${state})`;
  });
  return [...place, ...risks.filter(({ branch }) => branch === null).map((risk) => riskLine(risk, style)), ...branches];
}

/** `name: why; why`, a line each. */
export function riskLines(risks: readonly NamedRisk[]): string[] {
  return risks.map(({ name, why }) => `${displayPath(name)}: ${why.map((one) => displayPath(one)).join('; ')}`);
}

export function keptText({ name, latest }: InstanceSummary, next: NextCommand): string {
  return textOf([
    `Kept: ${name}${latest === null ? '; it has no snapshot yet' : `; snapshot ${String(latest)} is not pruned`}.`,
    `  Go on with it: ${next(`resume ${name}`, null)}`,
    `  Give it up:    ${next(`discard ${name}`, null)}`,
  ]);
}

export function discardText({ instance: { name }, snapshot, worktree }: DiscardResult, next: NextCommand): string {
  const branch = worktree?.branchStays === true ? ` Its branch ${displayPath(worktree.branch)} stays.` : '';
  return textOf([
    `Discarded: ${name} is closed; its snapshots stay.`,
    ...(worktree === null ? [] : [`  Removed: its worktree.${branch}`]),
    ...(snapshot === null ? [] : [`  What it held: ${next(`restore ${String(snapshot.seq)} --to DIR`, name)}`]),
  ]);
}

const states = {
  as_saved: 'as in the last whole snapshot',
  changed: 'changed since the last whole snapshot',
  gone: 'gone',
  another_folder: 'another folder than the one that was saved',
  unknown: 'whether it is as it was is not known',
} as const;

export function resumeText(result: ResumeResult, next: NextCommand): string {
  const { instance, kept, latest, mounts, container } = result;
  const { name } = instance;
  const note = kept?.note ?? null;
  return textOf([
    kept === null
      ? `${name} is open; nothing had been decided.`
      : `${name} is open again, kept ${localTime(kept.decided_at)}.`,
    ...(note === null ? [] : [`  Note: ${subject(note)}`]),
    ...mounts.map(
      (mount) =>
        `  ${mount.name}  ${displayPath(mount.path)}: ${states[mount.state]}${mount.changed > 0 ? ` (${counted(mount.changed, 'file')})` : ''}`,
    ),
    latest === null ? '  It has no snapshot.' : `  Last snapshot: ${String(latest.seq)}`,
    ...(container === null ? [] : [`  Go on in its container: jackin hardline ${container}`]),
    ...(latest === null ? [] : [`  What has changed: ${next(`diff ${String(latest.seq)}`, name)}`]),
    ...(container === null ? [`  Go on: ${next('run -- CMD', name)}`] : []),
  ]);
}
