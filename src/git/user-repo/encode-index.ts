import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

import type { IndexFlag } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';

/** An entry of an index that is to be written. Its path is bytes. */
export interface WrittenEntry {
  readonly path: string;
  readonly mode: number;
  readonly oid: ObjectId;
  /** Other than 0 while a conflict is unresolved. */
  readonly stage?: number;
  readonly flags?: readonly IndexFlag[];
  /** The file's stat when it had this content. Without it git looks at the file once, and notes its own. */
  readonly stat?: BigIntStats | null;
}

/** A whole index file: of version 2, or of 3 where an entry has flags that 2 cannot say. */
export function encodeIndexFile(entries: readonly WrittenEntry[]): Buffer {
  const sorted = [...entries].sort(byPathAndStage);
  const header = Buffer.alloc(12);
  header.write('DIRC', 0, 'latin1');
  header.writeUInt32BE(sorted.some(isExtended) ? 3 : 2, 4);
  header.writeUInt32BE(sorted.length, 8);
  const content = Buffer.concat([header, ...sorted.map(encodeEntry)]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

function byPathAndStage(a: WrittenEntry, b: WrittenEntry): number {
  return a.path === b.path ? (a.stage ?? 0) - (b.stage ?? 0) : a.path < b.path ? -1 : 1;
}

function isExtended({ flags = [] }: WrittenEntry): boolean {
  return flags.includes('skip-worktree') || flags.includes('intent-to-add');
}

const fixed = 62;

function encodeEntry(entry: WrittenEntry): Buffer {
  const { path, mode, oid, stat = null } = entry;
  const name = Buffer.from(path, 'latin1');
  const start = fixed + (isExtended(entry) ? 2 : 0);
  // One to eight zeros, so that the length is a multiple of eight.
  const bytes = Buffer.alloc(Math.ceil((start + name.length + 1) / 8) * 8);
  if (stat !== null) for (const [index, number] of statNumbers(stat).entries()) bytes.writeUInt32BE(number, index * 4);
  bytes.writeUInt32BE(mode, 24);
  bytes.write(oid, 40, 'hex');
  bytes.writeUInt16BE(commonFlags(entry) | Math.min(name.length, 0xfff), 60);
  if (isExtended(entry)) bytes.writeUInt16BE(extendedFlags(entry), fixed);
  name.copy(bytes, start);
  return bytes;
}

function commonFlags(entry: WrittenEntry): number {
  const { stage = 0, flags = [] } = entry;
  return (flags.includes('assume-valid') ? 0x8000 : 0) | (isExtended(entry) ? 0x4000 : 0) | (stage << 12);
}

function extendedFlags({ flags = [] }: WrittenEntry): number {
  return (flags.includes('skip-worktree') ? 0x4000 : 0) | (flags.includes('intent-to-add') ? 0x2000 : 0);
}

const second = 1_000_000_000n;

/** As git keeps them: 32 bits each. The seventh is the mode's place. */
function statNumbers({ ctimeNs, mtimeNs, dev, ino, uid, gid, size }: BigIntStats): number[] {
  const numbers = [
    ctimeNs / second,
    ctimeNs % second,
    mtimeNs / second,
    mtimeNs % second,
    dev,
    ino,
    0n,
    uid,
    gid,
    size,
  ];
  return numbers.map((number) => Number(BigInt.asUintN(32, number)));
}
