import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

import type { EntryStat } from '../core/entry.js';
import type { EntryPath } from '../core/entry-path.js';
import type { ObjectId } from '../core/ids.js';
import type { StatCache, StatCacheRecorder } from '../core/ports.js';
import { systemCode } from '../errors.js';

/*
 * What the last save knew of each file: its stat and its blob. One flat buffer, a block a directory:
 *   magic, dev u64 | block* | sha1 of all before
 *   block: length u32, path length u32, path, count u32, entry*     (length: of the whole block)
 *   entry: name length u16, name, ino u64, size u64, mtime u64, ctime u64, mode u32, oid 20 bytes; in name order
 * It is a hint: whatever is odd about the file means "no cache", and it may be deleted at any time.
 */

const magic = Buffer.from('jackin-stat-1\0\0\0', 'latin1');
const fixedEntryBytes = 8 * 4 + 4 + 20;

/** Reads the cache of a mount on the device `dev`; undefined when there is none that can be believed. */
export function readStatCache(file: string, dev: bigint): StatCache | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
  const end = bytes.length - 20;
  if (end < magic.length + 8 || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
  if (!createHash('sha1').update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end))) return undefined;
  if (bytes.readBigUInt64LE(magic.length) !== dev) return undefined;
  return new ReadCache(bytes, end);
}

class ReadCache implements StatCache {
  readonly #bytes: Buffer;
  readonly #blocks = new Map<string, number>();

  constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes;
    for (let at = magic.length + 8; at < end; at += bytes.readUInt32LE(at)) {
      const pathLength = bytes.readUInt32LE(at + 4);
      this.#blocks.set(bytes.toString('latin1', at + 8, at + 8 + pathLength), at + 8 + pathLength);
    }
  }

  directory(path: EntryPath): (name: string, stat: EntryStat) => ObjectId | undefined {
    const start = this.#blocks.get(path);
    if (start === undefined) return () => undefined;
    const bytes = this.#bytes;
    let left = bytes.readUInt32LE(start);
    let at = start + 4;
    // Names are asked for in the order in which they are recorded: one pass serves a whole directory.
    return (name, stat) => {
      while (left > 0) {
        const nameLength = bytes.readUInt16LE(at);
        const known = bytes.toString('latin1', at + 2, at + 2 + nameLength);
        if (known > name) return undefined;
        const entry = at + 2 + nameLength;
        at = entry + fixedEntryBytes;
        left -= 1;
        if (known === name)
          return matches(bytes, entry, stat) ? (bytes.toString('hex', entry + 36, entry + 56) as ObjectId) : undefined;
      }
      return undefined;
    };
  }
}

function matches(bytes: Buffer, entry: number, stat: EntryStat): boolean {
  return (
    bytes.readBigUInt64LE(entry) === stat.ino &&
    bytes.readBigUInt64LE(entry + 8) === BigInt(stat.size) &&
    bytes.readBigInt64LE(entry + 16) === stat.mtimeNs &&
    bytes.readBigInt64LE(entry + 24) === stat.ctimeNs &&
    bytes.readUInt32LE(entry + 32) === stat.mode
  );
}

/** Records a walk in progress, directory by directory; `write` puts it on disk. */
export class CacheRecorder implements StatCacheRecorder {
  readonly #parts: Buffer[] = [];

  constructor(dev: bigint) {
    const header = Buffer.alloc(magic.length + 8);
    magic.copy(header);
    header.writeBigUInt64LE(dev, magic.length);
    this.#parts.push(header);
  }

  directory(
    path: EntryPath,
    files: readonly { readonly name: string; readonly stat: EntryStat; readonly oid: ObjectId }[],
  ): void {
    if (files.length === 0) return;
    let length = 12 + path.length;
    for (const file of files) length += 2 + file.name.length + fixedEntryBytes;
    const block = Buffer.allocUnsafe(length);
    block.writeUInt32LE(length, 0);
    block.writeUInt32LE(path.length, 4);
    let at = 8 + block.write(path, 8, 'latin1');
    at = block.writeUInt32LE(files.length, at);
    for (const file of files) at = writeEntry(block, at, file.name, file.stat, file.oid);
    this.#parts.push(block);
  }

  /**
   * Overwrites the file in place: a torn one does not pass its checksum. One that cannot be written costs the next
   * walk time, and nothing else.
   */
  write(file: string): void {
    const body = Buffer.concat(this.#parts);
    try {
      writeFileSync(file, Buffer.concat([body, createHash('sha1').update(body).digest()]), { mode: 0o600 });
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  }
}

function writeEntry(block: Buffer, start: number, name: string, stat: EntryStat, oid: ObjectId): number {
  let at = block.writeUInt16LE(name.length, start);
  at += block.write(name, at, 'latin1');
  at = block.writeBigUInt64LE(stat.ino, at);
  at = block.writeBigUInt64LE(BigInt(stat.size), at);
  at = block.writeBigInt64LE(stat.mtimeNs, at);
  at = block.writeBigInt64LE(stat.ctimeNs, at);
  at = block.writeUInt32LE(stat.mode, at);
  return at + block.write(oid, at, 'hex');
}
