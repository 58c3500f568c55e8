import { Buffer } from 'node:buffer';

import { type StatTable, type TableSize, idBytes, newTable, tableBytes } from './table.js';

/** Columns that grow, put together as a table at the end. */
export class TableBuilder {
  readonly #directories: Rows;
  readonly #files: Rows;
  #text = Buffer.allocUnsafe(64 * 1024);
  #textLength = 0;

  constructor() {
    const shape = newTable(Buffer.alloc(tableBytes(nothing)), nothing, 0n);
    this.#directories = new Rows(shape.directories);
    this.#files = new Rows(shape.files);
  }

  get directoryCount(): number {
    return this.#directories.count;
  }

  get fileCount(): number {
    return this.#files.count;
  }

  get textLength(): number {
    return this.#textLength;
  }

  addText(bytes: string): number {
    this.#makeRoom(bytes.length);
    const start = this.#textLength;
    this.#textLength += this.#text.write(bytes, start, 'latin1');
    return start;
  }

  /** Where columns are left out, they are zero until they are set. */
  addDirectory(values: Readonly<Record<string, number>>): number {
    return this.#directories.add(values);
  }

  setDirectory(row: number, values: Readonly<Record<string, number>>, id?: string): void {
    this.#directories.set(row, values);
    if (id !== undefined) this.#directories.setId(row, id);
  }

  addFile(values: Readonly<Record<string, number>>, id: string): void {
    this.#files.setId(this.#files.add(values), id);
  }

  /** Copies a subtree from another table. @param rules what a number of rules there is here */
  copySubtree(from: StatTable, directory: number, rules: (number: number) => number): void {
    const { directories, files } = from;
    const range = { start: directory, end: directories.directoryEnd[directory] as number };
    const fileStart = directories.fileStart[directory] as number;
    const fileEnd = directories.fileEnd[directory] as number;
    const textStart = directories.textStart[directory] as number;
    const shift = {
      directories: this.directoryCount - directory,
      files: this.fileCount - fileStart,
      text: this.#textLength - textStart,
    };
    this.#copyText(from.text.subarray(textStart, directories.textEnd[directory]));
    this.#directories.copy(directories, from.directoryIds, range.start, range.end, {
      textStart: shift.text,
      textEnd: shift.text,
      directoryEnd: shift.directories,
      fileStart: shift.files,
      ownStart: shift.files,
      fileEnd: shift.files,
    });
    this.#directories.mapColumn('rules', this.directoryCount - (range.end - range.start), rules);
    this.#files.copy(files, from.fileIds, fileStart, fileEnd, { textStart: shift.text });
  }

  /** The bytes of the table. */
  finish(dev: bigint, notes: Uint8Array): Buffer {
    const size: TableSize = {
      directories: this.directoryCount,
      files: this.fileCount,
      text: this.#textLength,
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
    const wider = Buffer.allocUnsafe(Math.max(this.#text.length * 2, this.#textLength + more));
    this.#text.copy(wider, 0, 0, this.#textLength);
    this.#text = wider;
  }
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

  copy(from: Columns, ids: Buffer, start: number, end: number, shift: Readonly<Record<string, number>>): void {
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

  #makeRoom(more: number): void {
    if (this.count + more <= this.#room) return;
    this.#room = Math.max(256, this.#room * 2, this.count + more);
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
