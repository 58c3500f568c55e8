import { shellWord } from '../../core/command-text.js';
import type { EndedActivity, InstanceSummary, ListedSnapshot, ListResult } from '../../index.js';
import type { NextCommand } from '../next-command.js';
import { displayPath } from '../library.js';
import { ageText, counted, grouped, localTime, sizeText, subject, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { words, wrapped } from './wrap.js';
import { tabbedText, tableText, type Column } from './table.js';

/** The snapshots as a table that fits the terminal; off one, a line each with tabs between. */
export async function listText({ snapshots }: ListResult, style: TextStyle): Promise<string> {
  if (!style.terminal) return tabbedText(tabbedFields, snapshots);
  if (snapshots.length === 0) return textOf(['No snapshot matches.']);
  const { columns: width, now, paint } = style;
  const columns: readonly Column<ListedSnapshot>[] = [
    { title: '#', text: ({ seq }) => String(seq), align: 'right' },
    { title: 'WHEN', text: ({ createdAt }) => localTime(createdAt), rank: 4 },
    { title: 'AGE', text: ({ createdAt }) => ageText(createdAt, now), align: 'right' },
    { title: 'TRIGGER', text: ({ trigger }) => trigger, rank: 3 },
    { title: 'FILES', text: ({ files }) => grouped(files), align: 'right', rank: 1 },
    { title: 'SIZE', text: ({ sizeBytes }) => sizeText(sizeBytes), align: 'right', rank: 2 },
    { title: 'MESSAGE', text: messageWithMarks, flexible: true },
  ];
  return tableText(columns, snapshots, { width, heading: paint.bold });
}

const tabbedFields: readonly ((snapshot: ListedSnapshot) => string)[] = [
  ({ seq }) => String(seq),
  ({ createdAt }) => createdAt,
  ({ trigger }) => trigger,
  ({ files }) => String(files),
  ({ sizeBytes }) => String(sizeBytes),
  ({ id }) => id,
  messageWithMarks,
];

function messageWithMarks({ message, pinned, restorable, recoveryOf }: ListedSnapshot): string {
  const damage = restorable ? '' : '[damaged] ';
  const pin = pinned ? '[pinned] ' : '';
  const restore = recoveryOf === null ? '' : `[before the restore to ${recoveryOf.seq}] `;
  return `${damage}${pin}${restore}${subject(message)}`.trim();
}

/** All instances with their roots and sizes. */
export async function instancesText(
  instances: readonly InstanceSummary[],
  style: TextStyle,
  next: NextCommand,
): Promise<string> {
  if (!style.terminal) return tabbedText(tabbedInstance, instances);
  if (instances.length === 0) return textOf([`No instance yet. Make one from its folder: ${next('save')}`]);
  const columns: readonly Column<InstanceSummary>[] = [
    { title: 'INSTANCE', text: ({ name }) => name },
    { title: 'STATE', text: stateText, rank: 3 },
    { title: 'SNAPSHOTS', text: ({ snapshots }) => grouped(snapshots), align: 'right', rank: 2 },
    { title: 'SIZE', text: ({ sizeBytes }) => sizeText(sizeBytes), align: 'right', rank: 1 },
    { title: 'FOLDERS', text: rootsText, below: true },
  ];
  return tableText(columns, instances, { width: style.columns, heading: style.paint.bold });
}

const tabbedInstance: readonly ((instance: InstanceSummary) => string)[] = [
  ({ name }) => name,
  stateText,
  ({ snapshots }) => String(snapshots),
  ({ sizeBytes }) => String(sizeBytes),
  rootsText,
];

/** That its work is to stay does not hide how it ended. */
function stateText({ status, pendingRestore, ended, session }: InstanceSummary): string {
  if (pendingRestore) return 'restore pending';
  const end = session?.status ?? ended?.how;
  return status === 'kept' && end !== undefined ? `kept, ${end}` : status;
}

function rootsText({ mounts }: InstanceSummary): string {
  return mounts.map(({ path, present }) => `${displayPath(path)}${present ? '' : ' (gone)'}`).join(', ');
}

/** How it ended, unless that is no more than that it did, and since when that is known. */
export function endText({ how, noticed_at: noticed }: EndedActivity): string {
  return `${how === 'ended' ? '' : `${how}, `}noticed ${localTime(noticed)}`;
}

/** One instance: its state, folders and settings. */
export function instanceText(instance: InstanceSummary, style: TextStyle): string {
  const { name, active, owner, exit, ended, createdAt, snapshots, latest, sizeBytes } = instance;
  const { pendingRestore, status } = instance;
  const fields: readonly (readonly [string, string])[] = [
    ['Instance', name],
    [
      'State',
      [
        ...(active && status === 'active' ? [] : [stateText(instance)]),
        active ? `active, owned by ${subject(owner ?? 'nobody known')}` : 'not active',
      ].join(', '),
    ],
    ...(ended === undefined ? [] : [['Ended', endText(ended)] as const]),
    ...(exit === undefined ? [] : [['Decided', decisionText(exit)] as const]),
    ['Made', localTime(createdAt)],
    [
      'Snapshots',
      `${counted(snapshots, 'snapshot')}${latest === null ? '' : `, latest ${latest}`}, ${sizeText(sizeBytes)}`,
    ],
    ...(pendingRestore ? [['Restore', 'one was interrupted and is pending'] as const] : []),
  ];
  return textOf([
    ...fields.map(([title, value]) => wrapped([title.padEnd(10), ...words(value)], style, 11)),
    'Folders',
    ...instance.mounts.map((mount) =>
      wrapped([`  ${mount.name}`, ` ${displayPath(mount.path)}`, ...(mount.present ? [] : [' (gone)'])], style, 4),
    ),
    'Settings',
    ...policyLines(instance.policy),
  ]);
}

export function decisionText({ decision, decided_at: at, note }: NonNullable<InstanceSummary['exit']>): string {
  return `${decision}, ${localTime(at)}${note === null ? '' : `: ${subject(note)}`}`;
}

/** What closing an instance means, and how to go on. */
export function closedText({ name, snapshots, mounts }: InstanceSummary, style: TextStyle, next: NextCommand): string {
  const folders = mounts.map(({ path }) => shellWord(displayPath(path))).join(' ');
  const stay = snapshots === 1 ? 'Its snapshot stays' : `Its ${counted(snapshots, 'snapshot')} stay`;
  return textOf([
    wrapped(words(`Instance ${name} is closed: no save, run, undo or restore in place any more. ${stay}.`), style, 2),
    wrapped(words('  Still possible: list, show, diff, log, cat, tree, export, and restore SNAP --to DIR.'), style, 4),
    wrapped(
      [
        ...words('  It cannot be reopened. To go on with the same folders, make another instance:'),
        next(`save ${folders}`, 'NAME'),
      ],
      style,
      4,
    ),
  ]);
}

/** One line a setting, as `instance set` takes them. */
export function policyLines(policy: InstanceSummary['policy']): readonly string[] {
  return Object.entries(policy).map(([key, value]) => {
    const text = Array.isArray(value) ? value.join(',') : String(value ?? 'none');
    return `  ${key}=${subject(text.replaceAll('\n', '\\n'))}`;
  });
}
