import { Buffer, isAscii } from 'node:buffer';
import { type Stats, lstatSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

import { type StatTable, directoryPath, fileName, firm, readTable } from './table.js';

/*
 * Looks at everything that a table names, by lstat alone, and finds the directories in which nothing changed. A
 * directory whose own times are as recorded has the same names in it, so that it need not be read.
 */

/** What the threads share. */
export interface SharedRecheck {
  readonly table: SharedArrayBuffer;
  readonly dev: bigint;
  /** Path of the held descriptor of the mount's root, with a slash at its end. */
  readonly root: string;
  /** Set to 1 for each directory that is as recorded. */
  readonly unchanged: SharedArrayBuffer;
  /** The next directory that nobody has looked at. */
  readonly next: SharedArrayBuffer;
}

const takenAtOnce = 64;
const helpedFrom = 20_000;

/** File systems of this machine, whose directories have another time after each change of a name in them. */
const trustedFileSystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010, 0x794c7630, 0x2fc12fc1, 0xca451a4e,
]);

/**
 * For each directory of the table: 1 when it and the files in it are as recorded.
 * @param pause is awaited now and then
 */
export async function findUnchanged(
  bytes: Buffer,
  table: StatTable,
  { root, dev, pause }: { readonly root: string; readonly dev: bigint; readonly pause: () => Promise<void> },
): Promise<Uint8Array> {
  const directories = table.directories.ino.length;
  const unchanged = new Uint8Array(new SharedArrayBuffer(directories));
  if (!trustedFileSystems.has(statfsSync(Buffer.from(root, 'latin1')).type)) return unchanged;
  const shared: SharedRecheck = {
    table: bytes.buffer as unknown as SharedArrayBuffer,
    dev,
    root,
    unchanged: unchanged.buffer,
    next: new SharedArrayBuffer(4),
  };
  const count = directories + table.files.ino.length < helpedFrom ? 0 : Math.min(2, availableParallelism() - 1);
  const others = Array.from({ length: count }, () => startOther(shared));
  try {
    const look = new Look(table, shared);
    while (look.some()) await pause();
    await Promise.all(others.map(({ ended }) => ended));
  } finally {
    for (const { worker } of others) void worker.terminate();
  }
  return unchanged;
}

/** A thread that takes part. One that fails has changed nothing: what it did not get to counts as changed. */
function startOther(shared: SharedRecheck): { worker: Worker; ended: Promise<void> } {
  const worker = new Worker(new URL('./recheck-worker.js', import.meta.url), { workerData: shared });
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      resolve();
    });
    worker.on('error', () => {
      resolve();
    });
  });
  return { worker, ended };
}

/** All of a thread's part. */
export function takePart(shared: SharedRecheck): void {
  const table = readTable(Buffer.from(shared.table), shared.dev);
  if (table === undefined) return;
  const look = new Look(table, shared);
  while (look.some());
}

class Look {
  readonly #table: StatTable;
  readonly #root: string;
  readonly #dev: number;
  readonly #unchanged: Uint8Array;
  readonly #next: Int32Array;
  /** Nearly always: then no path needs a look whether it is. */
  readonly #isAscii: boolean;

  constructor(table: StatTable, { root, dev, unchanged, next }: SharedRecheck) {
    this.#table = table;
    this.#root = root;
    this.#dev = Number(dev);
    this.#unchanged = new Uint8Array(unchanged);
    this.#next = new Int32Array(next);
    this.#isAscii = isAscii(table.text) && isAscii(Buffer.from(root, 'latin1'));
  }

  /** Looks at the next few directories; false when there are none. */
  some(): boolean {
    const from = Atomics.add(this.#next, 0, takenAtOnce);
    const to = Math.min(from + takenAtOnce, this.#unchanged.length);
    for (let directory = from; directory < to; directory++)
      if (this.#isUnchanged(directory)) this.#unchanged[directory] = 1;
    return to - from === takenAtOnce;
  }

  #isUnchanged(directory: number): boolean {
    const { directories } = this.#table;
    if (((directories.flags[directory] as number) & firm) === 0) return false;
    const path = directoryPath(this.#table, directory);
    try {
      const stat = this.#lstat(this.#root, path === '' ? '.' : path);
      return stat !== undefined && this.#isSameDirectory(directory, stat) && this.#areFilesSame(directory, path);
    } catch {
      // Whatever the reason is: the walk will meet it.
      return false;
    }
  }

  #isSameDirectory(row: number, stat: Stats): boolean {
    const { directories } = this.#table;
    return (
      stat.ino === directories.ino[row] &&
      stat.dev === this.#dev &&
      stat.mode === directories.mode[row] &&
      stat.mtimeMs === milliseconds(directories, row, 'mtime') &&
      stat.ctimeMs === milliseconds(directories, row, 'ctime')
    );
  }

  #areFilesSame(directory: number, path: string): boolean {
    const { directories } = this.#table;
    const prefix = path === '' ? this.#root : `${this.#root}${path}/`;
    const end = directories.fileEnd[directory] as number;
    for (let file = directories.ownStart[directory] as number; file < end; file++) {
      const stat = this.#lstat(prefix, fileName(this.#table, file));
      if (stat === undefined || !this.#isSameFile(file, stat)) return false;
    }
    return true;
  }

  #lstat(prefix: string, name: string): Stats | undefined {
    const path = prefix + name;
    return lstatSync(this.#isAscii ? path : Buffer.from(path, 'latin1'), withoutError);
  }

  #isSameFile(row: number, stat: Stats): boolean {
    const { files } = this.#table;
    return (
      stat.ino === files.ino[row] &&
      stat.dev === this.#dev &&
      stat.size === files.size[row] &&
      stat.mode === files.mode[row] &&
      stat.mtimeMs === milliseconds(files, row, 'mtime') &&
      stat.ctimeMs === milliseconds(files, row, 'ctime')
    );
  }
}

const withoutError = { throwIfNoEntry: false } as const;

/** As Node counts the times of a stat; far finer than the span in which no time counts as settled. */
function milliseconds(
  columns: Readonly<
    Record<'mtimeSeconds' | 'ctimeSeconds', Float64Array> & Record<'mtimeNanoseconds' | 'ctimeNanoseconds', Uint32Array>
  >,
  row: number,
  time: 'mtime' | 'ctime',
): number {
  const seconds = columns[`${time}Seconds`][row] as number;
  return seconds * 1000 + (columns[`${time}Nanoseconds`][row] as number) / 1_000_000;
}
