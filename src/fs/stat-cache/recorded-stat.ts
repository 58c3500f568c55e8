import type { EntryStat } from '../../core/entry.js';

const typeBits = { file: 0o100000, directory: 0o040000, symlink: 0o120000, special: 0 } as const;

/** The type and permission bits, as a stat has them. */
export function fullMode({ kind, mode }: Pick<EntryStat, 'kind' | 'mode'>): number {
  return typeBits[kind] | mode;
}

const second = 1_000_000_000n;

interface RecordedTimes {
  readonly mtimeSeconds: number;
  readonly mtimeNanoseconds: number;
  readonly ctimeSeconds: number;
  readonly ctimeNanoseconds: number;
}

/** Whole seconds, rounded down, and the nanoseconds after them. */
export function timesOf({ mtimeNs, ctimeNs }: Pick<EntryStat, 'mtimeNs' | 'ctimeNs'>): RecordedTimes {
  const mtimeNanoseconds = BigInt.asUintN(64, ((mtimeNs % second) + second) % second);
  const ctimeNanoseconds = BigInt.asUintN(64, ((ctimeNs % second) + second) % second);
  return {
    mtimeSeconds: Number((mtimeNs - mtimeNanoseconds) / second),
    mtimeNanoseconds: Number(mtimeNanoseconds),
    ctimeSeconds: Number((ctimeNs - ctimeNanoseconds) / second),
    ctimeNanoseconds: Number(ctimeNanoseconds),
  };
}

type RecordedStats = Readonly<Record<'ino' | 'mode' | keyof RecordedTimes, ArrayLike<number>>>;

/** True when the stat is the one of this row, apart from a size. */
export function isSameEntry(columns: RecordedStats, row: number, stat: EntryStat): boolean {
  const times = timesOf(stat);
  return (
    columns.ino[row] === Number(stat.ino) &&
    columns.mode[row] === fullMode(stat) &&
    columns.mtimeSeconds[row] === times.mtimeSeconds &&
    columns.mtimeNanoseconds[row] === times.mtimeNanoseconds &&
    columns.ctimeSeconds[row] === times.ctimeSeconds &&
    columns.ctimeNanoseconds[row] === times.ctimeNanoseconds
  );
}
