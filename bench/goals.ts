import { besideFew } from './rows/list-rows.js';
import { unchangedSave } from './rows/tree-rows.js';
import type { Results } from './results.js';
import type { Session } from './session.js';
import type { InputName, RowName } from './settings.js';

/** What a row has to reach. */
export interface Goal {
  readonly row: RowName | 'memory';
  readonly input: InputName | '';
  readonly text: string;
  readonly unit: '' | 's' | 'MiB';
  readonly most: number;
  /** Better than asked for. */
  readonly stretch?: number;
  /** What was measured; undefined where a part of it was not. */
  readonly value: (results: Results) => number | undefined;
}

export interface Judged extends Omit<Goal, 'value'> {
  readonly measured: number | null;
  readonly verdict: 'holds' | 'misses' | 'not measured';
}

/** Holds the goals of the rows and inputs that were asked for against what was measured. */
export function judge({ results, settings }: Pick<Session, 'results' | 'settings'>): Judged[] {
  const asked = goals.filter(
    ({ row, input }) =>
      (row === 'memory' || settings.rows.includes(row)) && (input === '' || settings.inputs.includes(input)),
  );
  return asked.map(({ value, ...goal }) => {
    const measured = value(results) ?? null;
    if (measured === null) return { ...goal, measured, verdict: 'not measured' };
    return { ...goal, measured, verdict: measured <= goal.most ? 'holds' : 'misses' };
  });
}

const us = 'jackin-snap';
const node = 'node -e 0';

const goals: readonly Goal[] = [
  ratio('start-up', '', '--version: at most 1.6 of node -e 0', 1.6, '--version', node),
  ratio('start-up', '', '--help: at most 1.6 of node -e 0', 1.6, '--help', node),
  ...(['small', 'medium'] as const).flatMap((input) => [
    ratio('nothing-changed', input, 'the whole command at most 3 of node -e 0', 3, us, node),
    overNode(input),
  ]),
  ratio('first-save', 'large', 'at most 0.30 of git add + write-tree', 0.3, us, 'git'),
  ratio('first-save', 'large', 'at most 0.5 of restic', 0.5, us, 'restic'),
  ratio('nothing-changed', 'large', 'at most 1.0 of git add + write-tree (stretch: 0.7)', 1, us, 'git', 0.7),
  ratio('nothing-changed', 'large', 'at most 0.1 of restic', 0.1, us, 'restic'),
  {
    ...ratio('ten-changed', 'large', 'at most 1.1 of our nothing-changed time', 1.1, us, ''),
    value: (seen) => quotient(seen.seconds('ten-changed', 'large', us), seen.seconds('nothing-changed', 'large', us)),
  },
  ratio('restore-ten', 'large', 'at most 3 of the nothing-changed save', 3, us, unchangedSave),
  ratio('full-restore', 'large', 'at most 0.8 of git checkout-index -a -f (stretch: 0.6)', 0.8, us, 'git', 0.6),
  ratio('full-restore', 'large', 'at most 0.8 of restic restore (stretch: 0.5)', 0.8, us, 'restic', 0.5),
  memory('large', 400),
  ratio('nothing-changed', 'huge', 'at most 1.2 of git add + write-tree', 1.2, us, 'git'),
  memory('huge', 1024),
  memory('big', 200),
  seconds('sparse-save', 'big', 'in seconds: at most 10 s', 10),
  seconds('sparse-restore', 'big', 'in seconds: at most 10 s', 10),
  comparison(),
  seconds('list', 'history', 'with 10,000 snapshots: at most 0.3 s', 0.3),
  ratio('save-beside', 'history', 'beside 10,000 snapshots no slower than beside 10: at most 1.1', 1.1, us, besideFew),
  size('at most 0.6 of restic', 0.6, us, 'restic'),
  size('at most 1.1 of git gc', 1.1, us, 'git'),
];

/** A ratio of medians: how long one tool took, in times of another. */
function ratio(
  row: RowName,
  input: InputName | '',
  text: string,
  most: number,
  tool: string,
  reference: string,
  stretch?: number,
): Goal {
  const value: Goal['value'] = (seen) => quotient(seen.seconds(row, input, tool), seen.seconds(row, input, reference));
  return { row, input, text, unit: '', most, ...(stretch === undefined ? {} : { stretch }), value };
}

function overNode(input: 'small' | 'medium'): Goal {
  const value: Goal['value'] = (seen) =>
    difference(seen.seconds('nothing-changed', input, us), seen.seconds('nothing-changed', input, node));
  return { row: 'nothing-changed', input, text: 'at most 0.12 s over node -e 0', unit: 's', most: 0.12, value };
}

function seconds(row: RowName, input: InputName, text: string, most: number): Goal {
  return { row, input, text, unit: 's', most, value: (seen) => seen.seconds(row, input, us) };
}

function memory(input: InputName, most: number): Goal {
  const text = `peak memory of every process: at most ${most} MiB`;
  return {
    row: 'memory',
    input,
    text,
    unit: 'MiB',
    most,
    value: (seen) => quotient(seen.largestProcess(input), 2 ** 20),
  };
}

function comparison(): Goal {
  const value: Goal['value'] = (seen) => {
    const git = seen.seconds('diff', 'history', 'git');
    const start = seen.seconds('diff', 'history', node);
    return git === undefined || start === undefined
      ? undefined
      : quotient(seen.seconds('diff', 'history', us), 1.2 * git + start);
  };
  const text = "at most 1.2 of git diff plus Node's start: at most 1.0 of that sum";
  return { row: 'diff', input: 'history', text, unit: '', most: 1, value };
}

function size(text: string, most: number, tool: string, reference: string): Goal {
  const value: Goal['value'] = (seen) =>
    quotient(seen.bytes('store-size', 'history', tool), seen.bytes('store-size', 'history', reference));
  return { row: 'store-size', input: 'history', text, unit: '', most, value };
}

function quotient(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}
