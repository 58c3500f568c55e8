import type { EntryStat } from '../../core/entry.js';
import { type EntryPath, baseName, joinPath, parentPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type {
  RecordedDirectory,
  RecordedEntry,
  RecordedPart,
  RecordedSubtree,
  RecordedTally,
  UnchangedParts,
} from '../../core/ports.js';
import { isSameEntry } from './recorded-stat.js';
import { type StatTable, directoryPath, fileName, idAt, shown } from './table.js';

/** Rows of directories by path. */
export type RowOf = (path: EntryPath) => number | undefined;

/** The parts of a table that a look at the mount found as they are recorded. */
export class Unchanged implements UnchangedParts {
  readonly #table: StatTable;
  readonly #rules: readonly string[];
  readonly #rowOf: RowOf;
  /** How many of the directories before each row have changed. */
  readonly #changedBefore: Uint32Array;

  constructor(table: StatTable, rules: readonly string[], rowOf: RowOf, unchanged: Uint8Array) {
    this.#table = table;
    this.#rules = rules;
    this.#rowOf = rowOf;
    this.#changedBefore = new Uint32Array(unchanged.length + 1);
    unchanged.forEach((is, row) => {
      this.#changedBefore[row + 1] = (this.#changedBefore[row] as number) + 1 - is;
    });
  }

  get share(): number {
    const count = this.#changedBefore.length - 1;
    return count === 0 ? 0 : 1 - (this.#changedBefore[count] as number) / count;
  }

  subtree(path: EntryPath, rules: string | null): RecordedSubtree | undefined {
    const place = this.#placeOf(path, rules);
    if (place === undefined) return undefined;
    const end = this.#table.directories.directoryEnd[place.row] as number;
    return this.#changedBefore[end] === this.#changedBefore[place.row] ? new Subtree(place) : undefined;
  }

  directory(path: EntryPath, rules: string, stat: EntryStat): RecordedDirectory | undefined {
    const place = this.#placeOf(path, rules);
    if (place === undefined || this.#changedBefore[place.row + 1] !== this.#changedBefore[place.row]) return undefined;
    return isSameEntry(this.#table.directories, place.row, stat) ? new OwnFiles(place) : undefined;
  }

  #placeOf(path: EntryPath, rules: string | null): Place | undefined {
    const row = path === '' ? 0 : this.#rowOf(path);
    if (row === undefined) return undefined;
    if (rules !== null && this.#rules[this.#table.directories.rules[row] as number] !== rules) return undefined;
    return { path, row, table: this.#table, rules: this.#rules, rowOf: this.#rowOf };
  }
}

interface Place {
  readonly path: EntryPath;
  readonly row: number;
  readonly table: StatTable;
  readonly rules: readonly string[];
  readonly rowOf: RowOf;
}

type Span = readonly [start: number, end: number];

/** Rows of directories, and files in them. */
class Part implements RecordedPart {
  readonly path: EntryPath;
  readonly row: number;
  readonly table: StatTable;
  readonly rules: readonly string[];
  readonly #rowOf: RowOf;
  readonly #directories: Span;
  readonly fileRows: Span;
  #tally: RecordedTally | undefined;

  constructor(place: Place, directories: Span, files: Span) {
    this.path = place.path;
    this.row = place.row;
    this.table = place.table;
    this.rules = place.rules;
    this.#rowOf = place.rowOf;
    this.#directories = directories;
    this.fileRows = files;
  }

  get tree(): ObjectId | undefined {
    const { directories, directoryIds } = this.table;
    const hasTree = ((directories.flags[this.row] as number) & shown) !== 0;
    return hasTree ? (idAt(directoryIds, this.row) as ObjectId) : undefined;
  }

  tally(): RecordedTally {
    this.#tally ??= this.#count();
    return this.#tally;
  }

  #count(): RecordedTally {
    const { directories, files } = this.table;
    const alike = new Alike();
    for (let row = this.#directories[0]; row < this.#directories[1]; row++)
      alike.add(directories.mode[row] as number, directories.uid[row] as number, directories.gid[row] as number);
    const [start, end] = this.fileRows;
    let regular = 0;
    let bytes = 0;
    const linked: number[] = [];
    for (let row = start; row < end; row++) {
      alike.add(files.mode[row] as number, files.uid[row] as number, files.gid[row] as number);
      if (isRegular(files.mode[row] as number)) {
        regular += 1;
        bytes += files.size[row] as number;
      }
      if ((files.nlink[row] as number) > 1) linked.push(files.ino[row] as number);
    }
    return { files: regular, links: end - start - regular, bytes, alike: alike.counts(), linked };
  }

  find(path: EntryPath): RecordedEntry | undefined {
    const { directories } = this.table;
    const row = path === '' ? undefined : this.#rowOf(parentPath(path));
    if (row === undefined) return undefined;
    const name = baseName(path);
    let low = directories.ownStart[row] as number;
    let high = directories.fileEnd[row] as number;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = fileName(this.table, middle);
      if (found === name) return this.#entryAt(middle, path);
      if (found < name) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  *paths(): Generator<EntryPath> {
    const { directories } = this.table;
    const [start, end] = this.#directories[0] === this.#directories[1] ? [this.row, this.row + 1] : this.#directories;
    for (let row = start; row < end; row++) {
      const path = directoryPath(this.table, row) as EntryPath;
      const fileEnd = directories.fileEnd[row] as number;
      for (let file = directories.ownStart[row] as number; file < fileEnd; file++)
        yield joinPath(path, fileName(this.table, file));
    }
  }

  #entryAt(row: number, path: EntryPath): RecordedEntry {
    const { files, fileIds } = this.table;
    const mode = files.mode[row] as number;
    return {
      path,
      kind: isRegular(mode) ? 'file' : 'symlink',
      mode: mode & 0o7777,
      size: files.size[row] as number,
      // Beyond what a number holds exactly it is another one, and counts as such.
      ino: BigInt(files.ino[row] as number),
      mtimeNs: nanoseconds(files.mtimeSeconds[row] as number, files.mtimeNanoseconds[row] as number),
      ctimeNs: nanoseconds(files.ctimeSeconds[row] as number, files.ctimeNanoseconds[row] as number),
      oid: idAt(fileIds, row) as ObjectId,
    };
  }
}

/** A directory and all below it, as recorded. */
export class Subtree extends Part implements RecordedSubtree {
  constructor(place: Place) {
    const { directoryEnd, fileStart, fileEnd } = place.table.directories;
    const { row } = place;
    super(place, [row, directoryEnd[row] as number], [fileStart[row] as number, fileEnd[row] as number]);
  }
}

/** The files of one directory, as recorded. The directory itself is not counted: a walk is in it. */
export class OwnFiles extends Part implements RecordedDirectory {
  constructor(place: Place) {
    const { ownStart, fileEnd } = place.table.directories;
    super(place, [place.row, place.row], [ownStart[place.row] as number, fileEnd[place.row] as number]);
  }

  get subdirectories(): string[] {
    const { directoryEnd } = this.table.directories;
    const names = [];
    const end = directoryEnd[this.row] as number;
    for (let row = this.row + 1; row < end; row = directoryEnd[row] as number)
      names.push(baseName(directoryPath(this.table, row) as EntryPath));
    return names;
  }

  *files(): ReturnType<RecordedDirectory['files']> & Generator {
    const { files, fileIds } = this.table;
    for (let row = this.fileRows[0]; row < this.fileRows[1]; row++) {
      const mode = files.mode[row] as number;
      yield {
        name: fileName(this.table, row),
        kind: isRegular(mode) ? 'file' : 'symlink',
        mode: mode & 0o7777,
        size: files.size[row] as number,
        oid: idAt(fileIds, row) as ObjectId,
      };
    }
  }
}

/** Counts by mode and owner; neighbours are mostly alike. */
class Alike {
  readonly #counts = new Map<string, { mode: number; uid: number; gid: number; count: number }>();
  #last = { mode: -1, uid: -1, gid: -1, count: 0 };

  add(mode: number, uid: number, gid: number): void {
    if (this.#last.mode !== mode || this.#last.uid !== uid || this.#last.gid !== gid)
      this.#last = this.#countOf(mode, uid, gid);
    this.#last.count += 1;
  }

  counts(): RecordedTally['alike'] {
    return [...this.#counts.values()];
  }

  #countOf(mode: number, uid: number, gid: number): { mode: number; uid: number; gid: number; count: number } {
    const key = `${String(mode)} ${String(uid)} ${String(gid)}`;
    const count = this.#counts.get(key) ?? { mode, uid, gid, count: 0 };
    this.#counts.set(key, count);
    return count;
  }
}

function isRegular(mode: number): boolean {
  return (mode & 0o170000) === 0o100000;
}

function nanoseconds(seconds: number, rest: number): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest);
}
