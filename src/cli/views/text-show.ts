import type { MountSummary, ObservedOnlyEntry, ProtectedState, ShowResult, TreeLine } from '../../index.js';
import { displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import {
  ageText,
  counted,
  grouped,
  localTime,
  modeText,
  pathText,
  shown,
  sizeText,
  subject,
  textOf,
} from './format.js';
import type { TextStyle } from './style.js';
import { policyLines } from './text-list.js';
import { stateLines } from './text-state.js';
import { words, wrapped } from './wrap.js';
import { byReason, reasonWords } from './text-save.js';

/** One snapshot: what it is, of what, and every path that it left out. */
export function showText(result: ShowResult, style: TextStyle, next: NextCommand): string {
  const { now, paint } = style;
  const field = (name: string, text: string): string => fieldText(name, text, style);
  const { snapshot, stats, mounts, observedOnly, policy, complete } = result;
  const { seq, instance, id } = snapshot;
  return textOf([
    paint.bold(wrapped(['Snapshot', String(seq), 'of', instance, ` ${id}`], style, 2)),
    field('made', `${localTime(snapshot.createdAt)}, ${ageText(snapshot.createdAt, now)} ago, ${snapshot.trigger}`),
    ...messageLines(snapshot.message, style),
    field('commit', snapshot.commit),
    field('ref', snapshot.ref),
    field(
      'stored',
      `${counted(stats.filesStored, 'file')}, ${sizeText(stats.bytesStored)}, of ${counted(stats.filesObserved, 'file')} seen`,
    ),
    field('state', stateText(result)),
    ...noteLines(result).map(([name, value]) => field(name, value)),
    '',
    paint.bold('Mounts'),
    ...mounts.flatMap((mount) => mountLines(mount, style)),
    '',
    paint.bold(observedOnly.length === 0 ? 'Nothing was left out' : `Left out: ${grouped(observedOnly.length)}`),
    ...(complete
      ? []
      : [wrapped(words('  The snapshot is partial: some of these should have been stored.'), style, 4)]),
    ...leftOutLines(observedOnly, mounts.length > 1),
    ...stateLines(result, style, next),
    '',
    paint.bold('Policy in force'),
    ...policyLines(policy),
    ...stackLines(result),
  ]);
}

/** Name and value, the value's further lines below its first. */
function fieldText(name: string, text: string, style: TextStyle): string {
  return wrapped([`  ${name.padEnd(10)}`, ...words(text)], style, 13);
}

function messageLines(message: string, style: TextStyle): readonly string[] {
  if (message === '') return [];
  const lines = message.trimEnd().split('\n').map(shown);
  return lines.map((line, index) => fieldText(index === 0 ? 'message' : '', line, style));
}

function stateText({ snapshot, complete }: ShowResult): string {
  const { pinned, restorable, recoveryOf } = snapshot;
  const states = [
    restorable ? 'restorable' : 'damaged: not every object is there',
    ...(complete ? [] : ['partial']),
    ...(pinned ? ['pinned'] : []),
    ...(recoveryOf === null ? [] : [`made before the restore to ${recoveryOf.instance}/${recoveryOf.seq}`]),
  ];
  return states.join(', ');
}

/** Each preset once, with the mounts that it was in force in where that were not all. */
function stackLines({ stacks, mounts }: ShowResult): readonly string[] {
  if (stacks.length === 0) return [];
  const byName = new Map<string, ShowResult['stacks'][number][]>();
  for (const stack of stacks) byName.set(stack.name, [...(byName.get(stack.name) ?? []), stack]);
  const lines = [...byName].map(([name, [first, ...others]]) => {
    const where = others.length + 1 === mounts.length ? '' : ` (in ${first?.mount ?? ''})`;
    return `  ${name}${where}: ${(first?.patterns ?? []).map(shown).join(' ')}`;
  });
  return ['', 'Stacks in force, where they are found', ...lines];
}

function noteLines(result: ShowResult): readonly (readonly [name: string, value: string])[] {
  const { sourceTool, phase, decision, resource, meta } = result;
  const notes: readonly (readonly [string, string | null])[] = [
    ['tool', sourceTool],
    ['phase', phase],
    ['decision', decision],
    ['resource', resource],
    ...Object.entries(meta),
  ];
  return notes.flatMap(([name, value]) => (value === null ? [] : [[shown(name), subject(value)] as const]));
}

function mountLines(mount: MountSummary, style: TextStyle): readonly string[] {
  const { name, path, kind, baseCommit, branch, upstream, dirty, operation, unknown, nested } = mount;
  const own = { head: baseCommit, branch, upstream, dirty, operation, unknown };
  return [
    wrapped([`  ${name}`, ` ${displayPath(path)}`, ` (${kind})`], style, 4),
    ...(kind === 'plain' ? [] : [wrapped(words(`    ${repositoryText(own)}`), style, 6)]),
    ...(mount.protected === undefined
      ? []
      : protectedLines(mount.protected).map((line) => wrapped(words(`    ${line}`), style, 6))),
    ...nested.map((repository) =>
      wrapped([`    ${displayPath(repository.path)}:`, ...words(repositoryText(repository))], style, 6),
    ),
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

/** What is held of the repository itself, and what should be and is not. */
export function protectedLines(state: ProtectedState): readonly string[] {
  const { commits, branches, stashes, staged, missing, missingTotal, problems } = state;
  const held = [
    counted(commits, 'unpushed commit'),
    counted(branches, 'branch', 'branches'),
    counted(stashes, 'stash', 'stashes'),
    ...(staged ? ['what is staged'] : []),
  ];
  const more = missingTotal > missing.length ? [`and ${grouped(missingTotal - missing.length)} more`] : [];
  return [
    `protected: ${held.join(', ')}`,
    ...problems.map((problem) => `not protected: ${shown(problem)}`),
    ...missing.map(
      ({ object, path, reason }) =>
        `not protected, ${missingWords[reason]}: ${path === null || path === '' ? object : displayPath(path)}`,
    ),
    ...more,
  ];
}

const missingWords: Readonly<Record<ProtectedState['missing'][number]['reason'], string>> = {
  secret: 'secret',
  too_large: 'too large',
  limit: 'too much in all',
  absent: 'not in the repository',
  damaged: 'damaged',
  too_deep: 'too deep',
};

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
