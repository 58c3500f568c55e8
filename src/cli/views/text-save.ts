import type { LeftOutReason, ObservedOnlyEntry, SaveResult } from '../../index.js';
import { displayPath } from '../library.js';
import type { NextCommand } from '../next-command.js';
import { counted, grouped, pathText, sizeText, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { words, wrapped } from './wrap.js';

/** What each reason says in a sentence. */
export const reasonWords: Readonly<Record<LeftOutReason, string>> = {
  ignored: 'ignored',
  excluded: 'excluded',
  secret: 'secret',
  too_large: 'too large',
  unreadable: 'unreadable',
  special: 'special file',
  unstable: 'changing while read',
  git_dir: '.git folder',
  unsupported: 'not supported',
  foreign_fs: 'on another file system',
};

/** Two lines that say what was saved, one for each reason of what was not, and what to type next. */
export function saveText(result: SaveResult, next: NextCommand, style: TextStyle): string {
  const { snapshot, created, stats } = result;
  const { instance, seq, id } = snapshot;
  const same = `Nothing changed since snapshot ${seq} of ${instance}; no new one was made.`;
  if (!created) return textOf([wrapped(words(same), style, 2)]);
  const partial = result.complete ? [] : [', which is partial'];
  const counts =
    `  ${counted(stats.filesStored, 'file')}, ${sizeText(stats.bytesStored)}; ` +
    `read ${grouped(stats.filesRead)}, added ${sizeText(stats.bytesAdded)}`;
  return textOf([
    wrapped(['Saved', 'snapshot', String(seq), 'of', instance + partial.join(''), ` ${id}`], style, 2),
    ...newInstanceLines(result, style),
    wrapped(words(counts), style, 4),
    ...leftOutLines(result, next, style),
    wrapped([`Compare: ${next(`diff ${seq}`)}`, `  Go back: ${next(`restore ${seq}`)}`], style, 0),
  ]);
}

/** A name that was mistyped, or a folder that was not meant, shows here. */
function newInstanceLines({ snapshot, newInstance, mounts }: SaveResult, style: TextStyle): readonly string[] {
  if (!newInstance) return [];
  const folders = mounts.map(({ path }) => displayPath(path));
  // One that has snapshots already, fetched ones say, only gets its folders.
  const what = snapshot.seq === 1 ? '  a new instance, of' : '  the instance is from now on that of';
  return [wrapped([...words(what), ...listed(folders)], style, 4)];
}

const namesPerReason = 5;

function leftOutLines(
  { observedOnly, mounts, snapshot }: SaveResult,
  next: NextCommand,
  style: TextStyle,
): readonly string[] {
  if (observedOnly.length === 0) return [];
  const several = mounts.length > 1;
  const lines = [...byReason(observedOnly)].map(([reason, entries]) => {
    const names = entries.map(({ mount, path }) => pathText(mount, path, several));
    return wrapped([...words(`  left out, ${reasonWords[reason]}:`), ...listed(names)], style, 4);
  });
  const cut = [...byReason(observedOnly).values()].some((entries) => entries.length > namesPerReason);
  return cut ? [...lines, `  (all of them: ${next(`show ${snapshot.seq}`)})`] : lines;
}

function listed(names: readonly string[]): readonly string[] {
  const more = names.length - namesPerReason;
  if (more <= 0) return names.map((name, index) => (index < names.length - 1 ? `${name},` : name));
  const first = names.slice(0, namesPerReason);
  return [
    ...first.map((name, index) => (index < first.length - 1 ? `${name},` : name)),
    `and ${counted(more, 'more', 'more')}`,
  ];
}

/** The paths that should have been stored and could not be. */
export function incompleteLines({
  observedOnly,
  mounts,
}: Pick<SaveResult, 'observedOnly' | 'mounts'>): readonly string[] {
  const several = mounts.length > 1;
  return observedOnly
    .filter(({ reason }) => partial.has(reason))
    .map(({ mount, path, reason }) => `not stored, ${reasonWords[reason]}: ${pathText(mount, path, several)}`);
}

const partial: ReadonlySet<LeftOutReason> = new Set(['unreadable', 'unstable', 'unsupported']);

/** The entries of each reason, in the order in which the reasons first occur. */
export function byReason(
  entries: readonly ObservedOnlyEntry[],
): ReadonlyMap<LeftOutReason, readonly ObservedOnlyEntry[]> {
  const groups = new Map<LeftOutReason, ObservedOnlyEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.reason);
    if (group === undefined) groups.set(entry.reason, [entry]);
    else group.push(entry);
  }
  return groups;
}
