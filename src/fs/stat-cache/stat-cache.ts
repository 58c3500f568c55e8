import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

import type { EntryStat } from '../../core/entry.js';
import type { EntryPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import type { Directory, StatCache, StatCacheNotes } from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import { writeFully } from '../durable.js';
import { openRegularFile } from '../regular-file.js';
import type { CacheRecorder } from './cache-recorder.js';
import { type TableNotes, decodeNotes } from './notes.js';
import { findUnchanged } from './recheck.js';
import { isSameEntry } from './recorded-stat.js';
import { Unchanged } from './recorded-subtree.js';
import { type StatTable, directoryPath, fileName, idAt, readTable } from './table.js';

/*
 * What the last save knew of a mount: the stat of each directory and file that it stored, and their objects. The file
 * is a table (see table.ts) and its SHA-1. It is a hint: whatever is odd about it means "no cache", and it may be
 * deleted at any time.
 */

/** Reads the cache of a mount on the device `dev`; undefined when there is none that can be believed. */
export function readStatCache(file: string, dev: bigint): StatCache | undefined {
  const bytes = readSummed(file);
  const table = bytes === undefined ? undefined : readTable(bytes, dev);
  return bytes === undefined || table === undefined ? undefined : new ReadCache(bytes, table, dev);
}

/** Removes the caches in a directory whose checksum is wrong. @returns how many */
export function removeDamagedStatCaches(directory: string): number {
  if (!existsSync(directory)) return 0;
  const names = readdirSync(directory).filter((name) => name.startsWith('stat-'));
  const damaged = names.filter((name) => readSummed(join(directory, name)) === undefined);
  for (const name of damaged) rmSync(join(directory, name), { force: true });
  return damaged.length;
}

const sumBytes = 20;

/** Into memory that other threads can look at. */
function readSummed(file: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openRegularFile(file);
    const { size } = fstatSync(fd);
    if (size < sumBytes) return undefined;
    const bytes = Buffer.from(new SharedArrayBuffer(size - sumBytes));
    const sum = Buffer.alloc(sumBytes);
    if (readFully(fd, bytes, 0) + readFully(fd, sum, bytes.length) < size) return undefined;
    return createHash('sha1').update(bytes).digest().equals(sum) ? bytes : undefined;
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readFully(fd: number, buffer: Buffer, position: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/**
 * Overwrites the file in place: a torn one does not pass its checksum. One that cannot be written costs the next walk
 * time, and nothing else.
 */
export function writeStatCache(file: string, recorder: CacheRecorder, notes: StatCacheNotes): void {
  const bytes = recorder.finish(notes);
  try {
    overwrite(file, [bytes, createHash('sha1').update(bytes).digest()]);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}

// A pipe in its place would be waited for.
const overwriteFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The blocks that the file has are used again: that is quicker than giving them back and getting others. */
function overwrite(file: string, parts: readonly Buffer[]): void {
  const fd = openSync(file, overwriteFlags, 0o600);
  try {
    let position = 0;
    for (const part of parts) {
      writeFully(fd, part, position);
      position += part.length;
    }
    ftruncateSync(fd, position);
  } finally {
    closeSync(fd);
  }
}

class ReadCache implements StatCache {
  readonly notes: TableNotes;
  readonly #bytes: Buffer;
  readonly #table: StatTable;
  readonly #dev: bigint;
  #rows: Map<string, number> | undefined;

  constructor(bytes: Buffer, table: StatTable, dev: bigint) {
    this.#bytes = bytes;
    this.#table = table;
    this.#dev = dev;
    this.notes = decodeNotes(table.notes);
  }

  directory(path: EntryPath): (name: string, stat: EntryStat) => ObjectId | undefined {
    const row = this.#rowOf(path);
    if (row === undefined) return () => undefined;
    const table = this.#table;
    const end = table.directories.fileEnd[row] as number;
    let file = table.directories.ownStart[row] as number;
    // Names are asked for in the order in which they are recorded: one pass serves a whole directory.
    return (name, stat) => {
      for (; file < end; file++) {
        const known = fileName(table, file);
        if (known > name) return undefined;
        if (known < name) continue;
        const found = file++;
        return matches(table, found, stat) ? (idAt(table.fileIds, found) as ObjectId) : undefined;
      }
      return undefined;
    };
  }

  async recheck(root: Directory, pause: () => Promise<void>): Promise<Unchanged> {
    const request = { root: placeOf(root), dev: this.#dev, pause };
    const unchanged = await findUnchanged(this.#bytes, this.#table, request);
    return new Unchanged(this.#table, this.notes.rules, (path) => this.#rowOf(path), unchanged);
  }

  #rowOf(path: EntryPath): number | undefined {
    if (this.#rows === undefined) {
      this.#rows = new Map();
      for (let row = 0; row < this.#table.directories.ino.length; row++)
        this.#rows.set(directoryPath(this.#table, row), row);
    }
    return this.#rows.get(path);
  }
}

/**
 * The path where the held directory lies, which the system finds faster than its descriptor. Should another one lie
 * there by now, nothing in that is as recorded.
 */
function placeOf({ descriptorPath }: Directory): string {
  const path = readlinkSync(descriptorPath, { encoding: 'latin1' });
  return path.startsWith('/') ? `${path === '/' ? '' : path}/` : `${descriptorPath}/`;
}

function matches({ files }: StatTable, row: number, stat: EntryStat): boolean {
  return files.size[row] === stat.size && isSameEntry(files, row, stat);
}
