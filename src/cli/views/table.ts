import stringWidth from 'fast-string-width';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: 'right';
  /** On a narrow terminal, columns with the lowest rank go first; without a rank a column always stays. */
  readonly rank?: number;
  /** Takes the width that is left, and is cut where it needs more. */
  readonly flexible?: true;
  /** Never cut: where the table is too wide, it stands below each row, on a line of its own. */
  readonly below?: true;
}

const gap = 2;
const leastFlexible = 16;

interface TableStyle {
  readonly width: number;
  readonly heading: (text: string) => string;
}

/** A table of at most `width` characters a line, with one line a row; what may not be cut stands below its row. */
export async function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: TableStyle,
): Promise<string> {
  const needed = columns.reduce((sum, column) => sum + gap + (column.flexible ? 0 : widthOf(column, rows)), -gap);
  const below = columns.filter((column) => column.below);
  if (below.length === 0 || needed <= style.width) return oneLineARow(columns, rows, style);
  const table = await oneLineARow(
    columns.filter((column) => !column.below),
    rows,
    style,
  );
  const [head = '', ...lines] = table.trimEnd().split('\n');
  const blocks = lines.map((line, index) => {
    const row = rows[index];
    return row === undefined ? [line] : [line, ...below.map(({ text }) => ' '.repeat(gap) + text(row))];
  });
  return [head, ...blocks.flat()].map((line) => `${line}\n`).join('');
}

async function oneLineARow<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, heading }: TableStyle,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const measured = columns.map((column) => ({ column, needs: widthOf(column, rows) }));
  const fitting = dropUntilFits(measured, width);
  const fixed = fitting.reduce((sum, { column, needs }) => sum + gap + (column.flexible ? 0 : needs), -gap);
  const table = new Table({
    head: fitting.map(({ column }) => column.title),
    colAligns: fitting.map(({ column }) => column.align ?? 'left'),
    colWidths: fitting.map(({ column, needs }) =>
      column.flexible ? Math.max(1, Math.min(needs, width - fixed)) : needs,
    ),
    chars: noLines,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => fitting.map(({ column }) => column.text(row))));
  const [head = '', ...lines] = table.toString().split('\n');
  return [heading(head.trimEnd()), ...lines.map((line) => line.trimEnd())].map((line) => `${line}\n`).join('');
}

/** The same for programs: a row a line, tabs between, nothing cut. Texts hold no tab, since it is shown escaped. */
export function tabbedText<Row>(texts: readonly ((row: Row) => string)[], rows: readonly Row[]): string {
  return rows.map((row) => `${texts.map((text) => text(row)).join('\t')}\n`).join('');
}

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly needs: number;
}

function widthOf<Row>({ title, text }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((widest, row) => Math.max(widest, stringWidth(text(row))), stringWidth(title));
}

function dropUntilFits<Row>(columns: readonly Measured<Row>[], width: number): readonly Measured<Row>[] {
  const least = columns.reduce(
    (sum, { column, needs }) => sum + gap + (column.flexible ? Math.min(needs, leastFlexible) : needs),
    -gap,
  );
  if (least <= width) return columns;
  const next = Math.min(...columns.map(({ column }) => column.rank ?? Infinity));
  if (next === Infinity) return columns;
  return dropUntilFits(
    columns.filter(({ column }) => column.rank !== next),
    width,
  );
}

const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(gap),
} as const;
