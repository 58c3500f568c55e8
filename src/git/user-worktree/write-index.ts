import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

import type { ObjectId } from '../../core/ids.js';

/** A file that was checked out, and its stat right after that; null for a submodule, which has none. */
export interface CheckedOut {
  readonly path: string;
  readonly mode: number;
  readonly oid: ObjectId;
  readonly stat: BigIntStats | null;
}

/** An index of version 2. @param files in byte order */
export function encodeIndex(files: readonly CheckedOut[]): Buffer {
  const header = Buffer.alloc(12);
  header.write('DIRC', 0, 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(files.length, 8);
  const content = Buffer.concat([header, ...files.map(encodeEntry)]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

const fixed = 62;

function encodeEntry({ path, mode, oid, stat }: CheckedOut): Buffer {
  const name = Buffer.from(path, 'latin1');
  // One to eight zeros, so that the length is a multiple of eight.
  const entry = Buffer.alloc(Math.ceil((fixed + name.length + 1) / 8) * 8);
  const numbers = stat === null ? new Array<number>(10).fill(0) : statNumbers(stat);
  for (const [index, number] of numbers.entries()) entry.writeUInt32BE(number, index * 4);
  entry.writeUInt32BE(mode, 24);
  entry.write(oid, 40, 'hex');
  entry.writeUInt16BE(Math.min(name.length, 0xfff), 60);
  name.copy(entry, fixed);
  return entry;
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
