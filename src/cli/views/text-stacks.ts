import type {
  InstanceUsage,
  StackApprovalResult,
  StackListResult,
  StackSummary,
  StackValidation,
  UsageFigures,
  UsageResult,
} from '../../index.js';
import { displayPath } from '../library.js';
import { counted, grouped, shown, sizeText, textOf } from './format.js';
import type { TextStyle } from './style.js';
import { type Column, tabbedText, tableText } from './table.js';

/** All presets, a line each, and what is wrong with files that are none. */
export async function stackListText({ presets, invalid }: StackListResult, style: TextStyle): Promise<string> {
  const faults = invalid.flatMap(({ file, problems }) =>
    problems.map(({ line, problem }) => `rejected: ${shown(file)}:${line}: ${shown(problem)}`),
  );
  if (!style.terminal) return tabbedText(fields, presets) + textOf(faults);
  const columns: readonly Column<StackSummary>[] = [
    { title: 'PRESET', text: ({ name }) => name },
    { title: 'FROM', text: ({ source }) => source, rank: 1 },
    { title: 'IN FORCE', text: stateText, rank: 2 },
    { title: 'WHAT', text: ({ description }) => shown(description), flexible: true },
  ];
  const table = await tableText(columns, presets, { width: style.columns, heading: style.paint.bold });
  return table + textOf(faults);
}

const fields: readonly ((preset: StackSummary) => string)[] = [
  ({ name }) => name,
  ({ source }) => source,
  stateText,
  ({ patterns }) => patterns.map(shown).join(' '),
  ({ description }) => shown(description),
];

function stateText({ optIn }: StackSummary): string {
  return optIn ? 'when asked for' : 'where found';
}

/** One preset: how it is found, and what it leaves out. */
export function stackText(preset: StackSummary, { paint }: TextStyle): string {
  const { name, description, source, file, detect, patterns } = preset;
  return textOf([
    paint.bold(`${name}  (${source}${file === null ? '' : `, ${shown(file)}`})`),
    ...(description === '' ? [] : [`  ${shown(description)}`]),
    `  in force  ${stateText(preset)}`,
    `  found by  ${detect.map((names) => names.map(shown).join(' with ')).join(', or ')}`,
    `  leaves out ${patterns.map(shown).join(' ')}`,
  ]);
}

export function validationText(file: string, { preset, problems }: StackValidation, style: TextStyle): string {
  if (preset !== null) return `accepted: ${shown(file)}\n${stackText(preset, style)}`;
  return textOf(problems.map(({ line, problem }) => `rejected: ${shown(file)}:${line}: ${shown(problem)}`));
}

export function approvalText({ file, approved, presets }: StackApprovalResult, style: TextStyle): string {
  if (!approved) return textOf([`What ${displayPath(file)} recommends is no longer approved.`]);
  const head = textOf([`Approved, for ${displayPath(file)} as it is now:`]);
  return head + presets.map((preset) => stackText(preset, style)).join('');
}

/** Sizes by instance and snapshot, and what the store takes besides. */
export async function usageText(result: UsageResult, all: boolean, style: TextStyle): Promise<string> {
  const { store, instances } = result;
  if (!style.terminal) return tabbedText(tabbedFields, rowsOf(result)) + totalLines(store);
  const columns: readonly Column<Row>[] = [
    { title: all ? 'INSTANCE' : 'SNAPSHOT', text: ({ name }) => name },
    { title: 'ALL', text: ({ bytes }) => sizeText(bytes), align: 'right', rank: 1 },
    { title: 'SHARED', text: ({ sharedBytes }) => sizeText(sharedBytes), align: 'right', rank: 2 },
    { title: 'UNIQUE', text: ({ uniqueBytes }) => sizeText(uniqueBytes), align: 'right' },
  ];
  const rows = rowsOf(result).filter(({ isInstance }) => isInstance || !all);
  const table = await tableText(columns, rows, { width: style.columns, heading: style.paint.bold });
  return (
    table +
    textOf([
      '',
      `The store takes ${sizeText(store.totalBytes)}: ${sizeText(store.reachableBytes)} in ${grouped(store.objects)} objects,`,
      `${sizeText(store.garbageBytes)} that nothing needs any more, ${sizeText(store.overheadBytes)} for indexes and the like.`,
      ...instances.flatMap(prunableLine),
    ])
  );
}

/** No instance has such a name. */
function totalLines({ garbageBytes, overheadBytes, totalBytes }: UsageResult['store']): string {
  const totals = { '(garbage)': garbageBytes, '(overhead)': overheadBytes, '(store)': totalBytes };
  return textOf(Object.entries(totals).map(([name, bytes]) => `${name}\t${String(bytes)}`));
}

function prunableLine({ instance, prunable: { snapshots, freedBytes } }: InstanceUsage): readonly string[] {
  if (snapshots === 0) return [];
  return [
    `A prune of ${instance} would remove ${counted(snapshots, 'snapshot')} and free about ${sizeText(freedBytes)}.`,
  ];
}

interface Row extends UsageFigures {
  readonly name: string;
  readonly isInstance: boolean;
}

function rowsOf({ instances }: UsageResult): readonly Row[] {
  return instances.flatMap((used) => [
    ...used.snapshots.map((snapshot) => ({ ...snapshot, name: `${used.instance}/${snapshot.seq}`, isInstance: false })),
    { ...used, name: used.instance, isInstance: true },
  ]);
}

const tabbedFields: readonly ((row: Row) => string)[] = [
  ({ name }) => name,
  ({ bytes }) => String(bytes),
  ({ sharedBytes }) => String(sharedBytes),
  ({ uniqueBytes }) => String(uniqueBytes),
];
