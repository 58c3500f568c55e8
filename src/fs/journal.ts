import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { InstanceName } from '../core/ids.js';
import { type JournalRecord, decodeRecord, encodeRecord } from '../core/journal-record.js';
import type { Journal, Journals } from '../core/ports.js';
import { SnapError, systemCode } from '../errors.js';
import { readRegularFile } from './regular-file.js';

/*
 * One file an instance, there only while a restore is pending. A line a record: the first 16 hex digits of the
 * SHA-256 of the text, a blank, the text. A torn last line was never acted on and is ignored; any other bad line is
 * damage.
 */

const suffix = '.journal';

/** The journals in a folder of the data directory. */
export class FileJournals implements Journals {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  pending(): InstanceName[] {
    try {
      const names = readdirSync(this.#folder).filter((name) => name.endsWith(suffix));
      return names.map((name) => name.slice(0, -suffix.length) as InstanceName).sort();
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  read(instance: InstanceName): JournalRecord[] | undefined {
    const file = this.#file(instance);
    let text: string;
    try {
      text = readRegularFile(file, 'utf8');
    } catch (error) {
      const code = systemCode(error);
      if (code === 'ENOENT') return undefined;
      throw code === 'EISDIR' || code === 'ENXIO' ? damaged(file, error) : error;
    }
    return parseJournal(text, file);
  }

  /** A new journal; there must be none. */
  create(instance: InstanceName): Journal {
    return new FileJournal(this.#file(instance), 'ax');
  }

  /** For more records; a torn last line is cut off first. */
  reopen(instance: InstanceName): Journal {
    const bytes = readRegularFile(this.#file(instance));
    truncateSync(this.#file(instance), bytes.lastIndexOf(0x0a) + 1);
    return new FileJournal(this.#file(instance), 'a');
  }

  #file(instance: InstanceName): string {
    return join(this.#folder, `${instance}${suffix}`);
  }
}

/**
 * @throws SnapError JOURNAL_DAMAGED when a line before the last is not what was written, or the plan says that there are
 *   more changes, or fewer: with half of a plan neither end would be reached.
 */
export function parseJournal(text: string, file: string): JournalRecord[] {
  const lines = text.split('\n');
  // What follows the last newline is torn or empty.
  lines.pop();
  const records = lines.map((line) => {
    const body = line.slice(17);
    try {
      if (line.slice(0, 17) === `${checksum(body)} `) return decodeRecord(body);
    } catch (cause) {
      throw damaged(file, cause);
    }
    throw damaged(file, undefined);
  });
  const planned = records.find((record) => record.kind === 'planned');
  const found = records.filter((record) => record.kind === 'change').length;
  if (planned !== undefined && planned.changes !== found) throw damaged(file, undefined);
  return records;
}

function damaged(file: string, cause: unknown): SnapError {
  return new SnapError(
    'JOURNAL_DAMAGED',
    `The journal ${file} of an interrupted restore is damaged.`,
    { file },
    { cause },
  );
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** A plan may be long, and need not be in memory twice more. */
const writtenTogether = 4096;

class FileJournal implements Journal {
  readonly #file: string;
  readonly #fd: number;
  #closed = false;

  constructor(file: string, flags: 'ax' | 'a') {
    this.#file = file;
    this.#fd = openSync(file, flags, 0o600);
  }

  append(records: readonly JournalRecord[]): void {
    const { size } = fstatSync(this.#fd);
    try {
      for (let at = 0; at < records.length; at += writtenTogether) this.#write(records.slice(at, at + writtenTogether));
      fsyncSync(this.#fd);
      syncFolderOf(this.#file);
    } catch (error) {
      this.#takeBack(size);
      throw error;
    }
  }

  /** Nobody goes by what could not be made durable: neither may whoever reads it later, as far as that can be had. */
  #takeBack(size: number): void {
    try {
      ftruncateSync(this.#fd, size);
      fsyncSync(this.#fd);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  }

  #write(records: readonly JournalRecord[]): void {
    const text = records.map((record) => {
      const body = encodeRecord(record);
      return `${checksum(body)} ${body}\n`;
    });
    const bytes = Buffer.from(text.join(''), 'utf8');
    for (let written = 0; written < bytes.length;) written += writeSync(this.#fd, bytes, written);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  remove(): void {
    this.close();
    unlinkSync(this.#file);
    syncFolderOf(this.#file);
  }
}

function syncFolderOf(file: string): void {
  const fd = openSync(dirname(file), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
