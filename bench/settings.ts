import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const inputNames = ['small', 'medium', 'large', 'huge', 'big', 'deep', 'history'] as const;
export type InputName = (typeof inputNames)[number];

export const rowNames = [
  'start-up',
  'first-save',
  'nothing-changed',
  'ten-changed',
  'restore-ten',
  'full-restore',
  'sparse-save',
  'sparse-restore',
  'history-save',
  'diff',
  'store-size',
  'list',
  'save-beside',
] as const;
export type RowName = (typeof rowNames)[number];

export interface Settings {
  readonly inputs: readonly InputName[];
  readonly rows: readonly RowName[];
  /** How often each measurement is made; left out, as often as its kind needs. */
  readonly runs: number | undefined;
  readonly work: string;
  readonly seed: number;
  readonly quick: boolean;
  readonly growth: boolean;
  readonly json: string | undefined;
  readonly plot: string | undefined;
  readonly help: boolean;
}

export const usage = `Usage: npm run bench -- [OPTION...]

Measures jackin-snap beside git, restic and borg, on inputs that it generates.

  --only INPUT,...   only these inputs: ${inputNames.join(', ')}
  --rows ROW,...     only these rows: ${rowNames.slice(0, 6).join(', ')},
                     ${rowNames.slice(6).join(', ')}
  --runs N           measure everything N times
  --growth           in place of the rows: how cost grows with the number of files
  --json FILE        write all figures there too
  --plot FILE        where --growth draws; default: docs/performance-growth.svg
  --work DIR         a folder to work in, on the disk to measure; default: a new one
  --seed N           other contents; default: 1
  --quick            tiny inputs: does the bench itself work?
`;

/** Reads the command line; whatever it does not understand is an error. */
export function readSettings(words: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string' },
      rows: { type: 'string' },
      runs: { type: 'string' },
      work: { type: 'string' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      plot: { type: 'string' },
      quick: { type: 'boolean', default: false },
      growth: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return {
    inputs: namesFrom(values.only, inputNames, '--only'),
    rows: namesFrom(values.rows, rowNames, '--rows'),
    runs: values.runs === undefined ? undefined : countFrom(values.runs, '--runs'),
    work: resolve(values.work ?? join(tmpdir(), `jackin-snap-bench-${process.pid}`)),
    seed: countFrom(values.seed, '--seed'),
    quick: values.quick,
    growth: values.growth,
    json: values.json,
    plot: values.plot,
    help: values.help,
  };
}

function namesFrom<T extends string>(text: string | undefined, known: readonly T[], option: string): readonly T[] {
  if (text === undefined) return known;
  return text.split(',').map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new Error(`${option} knows ${known.join(', ')}, not ${JSON.stringify(word)}.`);
    return name;
  });
}

function countFrom(text: string, option: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} takes a count, not ${JSON.stringify(text)}.`);
  return Number(text);
}
