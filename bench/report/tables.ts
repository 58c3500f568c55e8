import type { Judged } from '../goals.js';
import type { Results, Series } from '../results.js';
import { median } from '../results.js';

/** All figures, as tables that read well in a terminal and are Markdown too. */
export function printTables(results: Results, judged: readonly Judged[]): string {
  return [
    table(['input', 'files', 'bytes', 'distinct contents'], results.inputs.map(inputCells)),
    table(
      [
        'work',
        'input',
        'by',
        'median',
        'least to most',
        'runs',
        'of it, we take',
        'peak memory',
        'all together',
        'added',
      ],
      results.all().map((series) => seriesCells(series, results)),
    ),
    table(['work', 'input', 'goal', 'measured', 'verdict'], judged.map(goalCells)),
    results.notes.join('\n'),
    `${judged.filter(({ verdict }) => verdict === 'holds').length} of ${judged.length} goals hold.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function inputCells({ name, files, bytes, distinctContents }: Results['inputs'][number]): string[] {
  return [name, grouped(files), grouped(bytes), grouped(distinctContents)];
}

function seriesCells(series: Series, results: Results): string[] {
  const { row, input, tool, seconds, memory, bytes } = series;
  return [
    row,
    input,
    tool,
    shown(median(seconds), (value) => `${value.toFixed(3)} s`),
    seconds.length === 0 ? '' : `${Math.min(...seconds).toFixed(3)} to ${Math.max(...seconds).toFixed(3)}`,
    String(Math.max(seconds.length, bytes.length)),
    ourShare(series, results),
    memory.largest === 0 ? '' : `${mebibytes(memory.largest)} (${memory.program})`,
    memory.together === 0 ? '' : mebibytes(memory.together),
    shown(median(bytes), mebibytes),
  ];
}

function ourShare({ row, input, tool, seconds, bytes }: Series, results: Results): string {
  const ours = results.find(row, input, 'jackin-snap');
  if (ours === undefined || tool === 'jackin-snap') return '';
  const mine = median(seconds.length === 0 ? ours.bytes : ours.seconds);
  const theirs = median(seconds.length === 0 ? bytes : seconds);
  return mine === undefined || theirs === undefined ? '' : (mine / theirs).toFixed(2);
}

function goalCells({ row, input, text, unit, measured, verdict, stretch }: Judged): string[] {
  const reached = stretch !== undefined && measured !== null && measured <= stretch ? ', stretch too' : '';
  const value = measured === null ? '' : `${measured.toFixed(unit === 'MiB' ? 0 : 2)} ${unit}`.trim();
  return [row, input, text, value, verdict + reached];
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...rows.map((row) => row[at] ?? '')].map(({ length }) => length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(heads), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

function shown(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? '' : show(value);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
