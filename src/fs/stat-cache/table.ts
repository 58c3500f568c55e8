import { Buffer } from 'node:buffer';

/*
 * A walk as one flat piece of memory that threads can share and files can hold: columns of numbers, a row a directory
 * and a row a file, then ids and names.
 *   header: magic, number of directories, of files, bytes of text, bytes of notes, device
 *   columns of 64 bits, columns of 32 bits, ids of 20 bytes (directories, then files), text, notes
 * Directories stand in the order of the walk, each before those below it. Files stand where their directory was left:
 * after all files below its subdirectories. So a subtree is one range of each.
 */

const directoryFloats = ['ino', 'mtimeSeconds', 'ctimeSeconds'] as const;
const directoryWords = [
  'mode',
  'uid',
  'gid',
  'mtimeNanoseconds',
  'ctimeNanoseconds',
  /** Of its path, in the text. */
  'textStart',
  'textLength',
  /** Where the text of its subtree ends. */
  'textEnd',
  /** Its subtree: directories up to directoryEnd, files from fileStart to fileEnd; its own ones begin at ownStart. */
  'directoryEnd',
  'fileStart',
  'ownStart',
  'fileEnd',
  /** Number of the rules that let it in, among the keys in the notes. */
  'rules',
  'flags',
] as const;
const fileFloats = ['ino', 'size', 'mtimeSeconds', 'ctimeSeconds'] as const;
const fileWords = [
  'mode',
  'uid',
  'gid',
  'nlink',
  'mtimeNanoseconds',
  'ctimeNanoseconds',
  'textStart',
  'textLength',
] as const;

export type DirectoryColumn = (typeof directoryFloats)[number] | (typeof directoryWords)[number];
export type FileColumn = (typeof fileFloats)[number] | (typeof fileWords)[number];
export type DirectoryColumns = Readonly<
  Record<(typeof directoryFloats)[number], Float64Array> & Record<(typeof directoryWords)[number], Uint32Array>
>;
export type FileColumns = Readonly<
  Record<(typeof fileFloats)[number], Float64Array> & Record<(typeof fileWords)[number], Uint32Array>
>;

/** Flags of a directory. Firm: a change of it or of its files would show in a stat. Shown: it has a tree. */
export const firm = 1;
export const shown = 2;

export interface StatTable {
  readonly directories: DirectoryColumns;
  readonly files: FileColumns;
  readonly directoryIds: Buffer;
  readonly fileIds: Buffer;
  readonly text: Buffer;
  readonly notes: Buffer;
}

export interface TableSize {
  readonly directories: number;
  readonly files: number;
  readonly text: number;
  readonly notes: number;
}

const magic = Buffer.from('jackin-stat-3\0\0\0', 'latin1');
const headerBytes = 48;
const idBytes = 20;

export function tableBytes(size: TableSize): number {
  const floats = directoryFloats.length * size.directories + fileFloats.length * size.files;
  const words = directoryWords.length * size.directories + fileWords.length * size.files;
  return headerBytes + floats * 8 + words * 4 + idBytes * (size.directories + size.files) + size.text + size.notes;
}

/** Undefined when the bytes are no table, or one of another device. */
export function readTable(bytes: Buffer, dev: bigint): StatTable | undefined {
  if (bytes.length < headerBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
  const word = (position: number): number => bytes.readUInt32LE(magic.length + position * 4);
  const size = { directories: word(0), files: word(1), text: word(2), notes: word(3) };
  if (bytes.readBigUInt64LE(magic.length + 16) !== dev || tableBytes(size) !== bytes.length) return undefined;
  return viewTable(bytes, size);
}

/** A table of this size in these bytes, its header written. */
export function newTable(bytes: Buffer, size: TableSize, dev: bigint): StatTable {
  magic.copy(bytes);
  [size.directories, size.files, size.text, size.notes].forEach((count, position) =>
    bytes.writeUInt32LE(count, magic.length + position * 4),
  );
  bytes.writeBigUInt64LE(dev, magic.length + 16);
  return viewTable(bytes, size);
}

/** The bytes must begin at a multiple of eight. */
function viewTable(bytes: Buffer, size: TableSize): StatTable {
  let at = bytes.byteOffset + headerBytes;
  const floats = (length: number): Float64Array => new Float64Array(bytes.buffer, at, advance(length * 8) / 8);
  const words = (length: number): Uint32Array => new Uint32Array(bytes.buffer, at, advance(length * 4) / 4);
  const part = (length: number): Buffer => Buffer.from(bytes.buffer, at, advance(length));
  // The place is read before it moves on: arguments are evaluated from left to right.
  const advance = (length: number): number => {
    at += length;
    return length;
  };
  const directoryFloatColumns = columns(directoryFloats, () => floats(size.directories));
  const fileFloatColumns = columns(fileFloats, () => floats(size.files));
  return {
    directories: { ...directoryFloatColumns, ...columns(directoryWords, () => words(size.directories)) },
    files: { ...fileFloatColumns, ...columns(fileWords, () => words(size.files)) },
    directoryIds: part(size.directories * idBytes),
    fileIds: part(size.files * idBytes),
    text: part(size.text),
    notes: part(size.notes),
  };
}

function columns<Name extends string, Column>(names: readonly Name[], make: () => Column): Record<Name, Column> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<Name, Column>;
}

/** The path of a directory, bytes. */
export function directoryPath({ directories, text }: StatTable, directory: number): string {
  const start = directories.textStart[directory] as number;
  return text.toString('latin1', start, start + (directories.textLength[directory] as number));
}

/** The name of a file, bytes. */
export function fileName({ files, text }: StatTable, file: number): string {
  const start = files.textStart[file] as number;
  return text.toString('latin1', start, start + (files.textLength[file] as number));
}

export function idAt(ids: Buffer, position: number): string {
  return ids.toString('hex', position * idBytes, (position + 1) * idBytes);
}

export { idBytes };
