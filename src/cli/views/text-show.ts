import type { MountSummary, ObservedOnlyEntry, ShowResult, TreeLine } from '../../index.js';
import { displayPath } from '../library.js';
import { ageText, counted, localTime, modeText, pathText, shown, sizeText, subject, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { policyLines } from './text-list.js';
import { byReason, reasonWords } from './text-save.js';

/** One snapshot: what it is, of what, and every path that it left out. */
export function showText(result: ShowResult, { now, paint }: TextStyle): string {
  const { snapshot, stats, mounts, observedOnly, policy, complete } = result;
  const { seq, instance, id } = snapshot;
  return textOf([
    paint.bold(`Snapshot ${seq} of ${instance}  ${id}`),
    `  made       ${localTime(snapshot.createdAt)}, ${ageText(snapshot.createdAt, now)} ago, ${snapshot.trigger}`,
    ...messageLines(snapshot.message),
    `  commit     ${snapshot.commit}`,
    `  ref        ${snapshot.ref}`,
    `  stored     ${counted(stats.filesStored, 'file')}, ${sizeText(stats.bytesStored)}, of ${counted(stats.filesObserved, 'file')} seen`,
    ...stateLines(result),
    ...noteLines(result),
    '',
    paint.bold('Mounts'),
    ...mounts.flatMap(mountLines),
    '',
    paint.bold(
      observedOnly.length === 0 ? 'Nothing was left out' : `Left out: ${observedOnly.length.toLocaleString('en')}`,
    ),
    ...(complete ? [] : ['  The snapshot is partial: some of these should have been stored.']),
    ...leftOutLines(observedOnly, mounts.length > 1),
    '',
    paint.bold('Policy in force'),
    ...policyLines(policy),
  ]);
}

function messageLines(message: string): readonly string[] {
  if (message === '') return [];
  const [first = '', ...rest] = message.trimEnd().split('\n').map(shown);
  return [`  message    ${first}`, ...rest.map((line) => `             ${line}`)];
}

function stateLines({ snapshot, complete }: ShowResult): readonly string[] {
  const { pinned, restorable, recoveryOf } = snapshot;
  const states = [
    restorable ? 'restorable' : 'damaged: not every object is there',
    ...(complete ? [] : ['partial']),
    ...(pinned ? ['pinned'] : []),
    ...(recoveryOf === null ? [] : [`made before the restore to ${recoveryOf.instance}/${recoveryOf.seq}`]),
  ];
  return [`  state      ${states.join(', ')}`];
}

function noteLines({ sourceTool, phase, decision, resource, meta }: ShowResult): readonly string[] {
  const notes: readonly (readonly [string, string | null])[] = [
    ['tool', sourceTool],
    ['phase', phase],
    ['decision', decision],
    ['resource', resource],
    ...Object.entries(meta),
  ];
  return notes.flatMap(([key, value]) => (value === null ? [] : [`  ${shown(key).padEnd(10)} ${subject(value)}`]));
}

function mountLines(mount: MountSummary): readonly string[] {
  const { name, path, kind, baseCommit, branch, upstream, dirty, operation, unknown, nested } = mount;
  const own = { head: baseCommit, branch, upstream, dirty, operation, unknown };
  return [
    `  ${name}  ${displayPath(path)}  (${kind})`,
    ...(kind === 'plain' ? [] : [`    ${repositoryText(own)}`]),
    ...nested.map((repository) => `    ${displayPath(repository.path)}: ${repositoryText(repository)}`),
  ];
}

function repositoryText(state: Omit<MountSummary['nested'][number], 'path'>): string {
  const { head, branch, upstream, dirty, operation, unknown } = state;
  const parts = [
    head === null ? 'no commit' : head.slice(0, 12),
    branch === null ? 'no branch' : `on ${shown(branch)}`,
    ...(upstream === null ? [] : [`upstream ${shown(upstream)}`]),
    dirty === null ? 'dirty state unknown' : dirty ? 'dirty' : 'clean',
    ...(operation === null ? [] : [`in a ${operation}`]),
    ...unknown.map((what) => `could not be read: ${shown(what)}`),
  ];
  return parts.join(', ');
}

function leftOutLines(entries: readonly ObservedOnlyEntry[], several: boolean): readonly string[] {
  return [...byReason(entries)].flatMap(([reason, group]) => [
    `  ${reasonWords[reason]}`,
    ...group.map(({ mount, path }) => `    ${pathText(mount, path, several)}`),
  ]);
}

/** Mode, size and path, like `ls -l`. */
export function treeText(lines: readonly TreeLine[], { paint }: TextStyle): string {
  const several = new Set(lines.map(({ mount }) => mount)).size > 1;
  const sizes = lines.map(({ sizeBytes }) => (sizeBytes === null ? '-' : String(sizeBytes)));
  const width = sizes.reduce((widest, size) => Math.max(widest, size.length), 0);
  return lines
    .map(({ mount, path, kind, mode, target }, index) => {
      const name = pathText(mount, path, several);
      const shownName = kind === 'directory' ? paint.blue(`${name}/`) : kind === 'symlink' ? paint.cyan(name) : name;
      const arrow = target === null ? '' : ` -> ${displayPath(target)}`;
      return `${modeText(kind, mode)} ${(sizes[index] ?? '').padStart(width)} ${shownName}${arrow}\n`;
    })
    .join('');
}
