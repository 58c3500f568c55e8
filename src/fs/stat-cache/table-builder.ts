import { Buffer } from 'node:buffer';

import { type StatTable, type TableSize, idBytes, newTable, tableBytes } from './table.js';

/** Columns that grow, put together as a table at the end. */
export class TableBuilder {
  readonly #directories: Rows;
  readonly #files: Rows;
  #text = Buffer.allocUnsafe(64 * 1024);
  #textLength = 0;
  /** What is to be copied next: neighbours are copied together. */
  #pending: TableRange | undefined;

  constructor() {
    const shape = newTable(Buffer.alloc(tableBytes(nothing)), nothing, 0n);
    this.#directories = new Rows(shape.directories);
    this.#files = new Rows(shape.files);
  }

  get directoryCount(): number {
    this.#copyPending();
    return this.#directories.count;
  }

  get fileCount(): number {
    this.#copyPending();
    return this.#files.count;
  }

  get textLength(): number {
    this.#copyPending();
    return this.#textLength;
  }

  addText(bytes: string): number {
    this.#copyPending();
    this.#makeRoom(bytes.length);
    const start = this.#textLength;
    this.#textLength += this.#text.write(bytes, start, 'latin1');
    return start;
  }

  /** Where columns are left out, they are zero until they are set. */
  addDirectory(values: Readonly<Record<string, number>>): number {
    this.#copyPending();
    return this.#directories.add(values);
  }

  setDirectory(row: number, values: Readonly<Record<string, number>>, id?: string): void {
    this.#directories.set(row, values);
    if (id !== undefined) this.#directories.setId(row, id);
  }

  addFile(values: Readonly<Record<string, number>>, id: string): void {
    this.#copyPending();
    this.#files.setId(this.#files.add(values), id);
  }

  /** Copies a subtree from another table. @param rules what a number of rules there is here */
  copySubtree(from: StatTable, directory: number, rules: (number: number) => number): void {
    const { directories } = from;
    const range: TableRange = {
      from,
      rules,
      directories: [directory, directories.directoryEnd[directory] as number],
      files: [directories.fileStart[directory] as number, directories.fileEnd[directory] as number],
      text: [directories.textStart[directory] as number, directories.textEnd[directory] as number],
    };
    const joined = this.#pending === undefined ? undefined : join(this.#pending, range);
    if (joined === undefined) this.#copyPending();
    this.#pending = joined ?? range;
  }

  /** Copies the files of one directory from another table. */
  copyFiles({ files, fileIds, text }: StatTable, [start, end]: Span): void {
    if (start === end) return;
    this.#copyPending();
    // Their names stand together, in their order.
    const first = files.textStart[start] as number;
    const last = (files.textStart[end - 1] as number) + (files.textLength[end - 1] as number);
    const shift = this.#textLength - first;
    this.#copyText(text.subarray(first, last));
    this.#files.copy(files, fileIds, [start, end], { textStart: shift });
  }

  #copyPending(): void {
    const range = this.#pending;
    if (range === undefined) return;
    this.#pending = undefined;
    const { from, rules, directories, files, text } = range;
    // Most of a table that is copied from at all is copied.
    this.#directories.reserve(from.directories.ino.length);
    this.#files.reserve(from.files.ino.length);
    if (this.#text.length < from.text.length) this.#widenText(from.text.length);
    const shift = {
      directories: this.#directories.count - directories[0],
      files: this.#files.count - files[0],
      text: this.#textLength - text[0],
    };
    this.#copyText(from.text.subarray(...text));
    this.#directories.copy(from.directories, from.directoryIds, directories, {
      textStart: shift.text,
      textEnd: shift.text,
      directoryEnd: shift.directories,
      fileStart: shift.files,
      ownStart: shift.files,
      fileEnd: shift.files,
    });
    this.#directories.mapColumn('rules', this.#directories.count - (directories[1] - directories[0]), rules);
    this.#files.copy(from.files, from.fileIds, files, { textStart: shift.text });
  }

  /** The bytes of the table. */
  finish(dev: bigint, notes: Uint8Array): Buffer {
    const size: TableSize = {
      directories: this.directoryCount,
      files: this.fileCount,
      text: this.textLength,
      notes: notes.length,
    };
    const bytes = Buffer.from(new ArrayBuffer(tableBytes(size)));
    const table = newTable(bytes, size, dev);
    this.#directories.writeTo(table.directories, table.directoryIds);
    this.#files.writeTo(table.files, table.fileIds);
    this.#text.copy(table.text, 0, 0, this.#textLength);
    table.notes.set(notes);
    return bytes;
  }

  #copyText(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#text.set(bytes, this.#textLength);
    this.#textLength += bytes.length;
  }

  #makeRoom(more: number): void {
    if (this.#textLength + more <= this.#text.length) return;
    this.#widenText(Math.max(this.#text.length * 2, this.#textLength + more));
  }

  #widenText(length: number): void {
    const wider = Buffer.allocUnsafe(length);
    this.#text.copy(wider, 0, 0, this.#textLength);
    this.#text = wider;
  }
}

type Span = readonly [start: number, end: number];

/** Neighbouring rows of a table, and their text. */
interface TableRange {
  readonly from: StatTable;
  readonly rules: (number: number) => number;
  readonly directories: Span;
  readonly files: Span;
  readonly text: Span;
}

/** Undefined where the second does not begin just where the first ends. */
function join(one: TableRange, next: TableRange): TableRange | undefined {
  const isNext = (name: 'directories' | 'files' | 'text'): boolean => one[name][1] === next[name][0];
  if (one.from !== next.from || !isNext('directories') || !isNext('files') || !isNext('text')) return undefined;
  const span = (name: 'directories' | 'files' | 'text'): Span => [one[name][0], next[name][1]];
  return { ...one, directories: span('directories'), files: span('files'), text: span('text') };
}

const nothing: TableSize = { directories: 0, files: 0, text: 0, notes: 0 };

type Column = Float64Array | Uint32Array;
type Columns = Readonly<Record<string, Column>>;

class Rows {
  readonly #columns: Record<string, Column>;
  readonly #names: readonly string[];
  #ids = Buffer.alloc(0);
  #room = 0;
  count = 0;

  /** @param shape columns of the same names and kinds */
  constructor(shape: Columns) {
    this.#columns = { ...shape };
    this.#names = Object.keys(shape);
  }

  add(values: Readonly<Record<string, number>>): number {
    this.#makeRoom(1);
    const row = this.count++;
    this.set(row, values);
    return row;
  }

  set(row: number, values: Readonly<Record<string, number>>): void {
    for (const name in values) this.#column(name)[row] = values[name] as number;
  }

  setId(row: number, id: string): void {
    this.#ids.write(id, row * idBytes, idBytes, 'hex');
  }

  copy(from: Columns, ids: Buffer, [start, end]: Span, shift: Readonly<Record<string, number>>): void {
    this.#makeRoom(end - start);
    for (const name of this.#names) {
      const column = this.#column(name);
      column.set((from[name] as Column).subarray(start, end), this.count);
      const by = shift[name] ?? 0;
      if (by !== 0)
        for (let row = this.count; row < this.count + end - start; row++) column[row] = (column[row] as number) + by;
    }
    this.#ids.set(ids.subarray(start * idBytes, end * idBytes), this.count * idBytes);
    this.count += end - start;
  }

  mapColumn(name: string, from: number, map: (value: number) => number): void {
    const column = this.#column(name);
    for (let row = from; row < this.count; row++) column[row] = map(column[row] as number);
  }

  writeTo(columns: Columns, ids: Buffer): void {
    for (const name of this.#names) (columns[name] as Column).set(this.#column(name).subarray(0, this.count));
    this.#ids.copy(ids, 0, 0, this.count * idBytes);
  }

  #column(name: string): Column {
    return this.#columns[name] as Column;
  }

  reserve(rows: number): void {
    if (rows > this.#room) this.#widen(rows);
  }

  #makeRoom(more: number): void {
    if (this.count + more > this.#room) this.#widen(Math.max(256, this.#room * 2, this.count + more));
  }

  #widen(room: number): void {
    this.#room = room;
    for (const name of this.#names) this.#columns[name] = wider(this.#column(name), this.#room);
    const ids = Buffer.alloc(this.#room * idBytes);
    this.#ids.copy(ids);
    this.#ids = ids;
  }
}

function wider(column: Column, length: number): Column {
  const longer = column instanceof Float64Array ? new Float64Array(length) : new Uint32Array(length);
  longer.set(column);
  return longer;
}
