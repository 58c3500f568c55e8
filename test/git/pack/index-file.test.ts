import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { crc32, crc32ByTable } from '../../../src/git/pack/crc32.js';
import { entryHeader } from '../../../src/git/pack/format.js';
import { PackIndex, encodeIndex } from '../../../src/git/pack/index-file.js';
import { ObjectTable } from '../../../src/git/pack/object-table.js';
import { runProcess } from '../../support/run-process.js';

const checksum = randomBytes(20);

function tableOf(
  ids: readonly Buffer[],
  offsetOf: (position: number) => number = (position) => 12 + position,
): ObjectTable {
  const table = new ObjectTable();
  ids.forEach((id, position) => {
    table.place(table.add(id), offsetOf(position), position);
  });
  return table;
}

/** What git reads out of an index: offset, id and checksum, by offset. */
function readByGit(index: Buffer): string[] {
  return runProcess('git', ['show-index'], {
    cwd: '/',
    env: { PATH: process.env['PATH']! },
    stdin: index,
    timeout: 60_000,
  })
    .stdout.split('\n')
    .slice(0, -1);
}

const hex = (value: number): string => value.toString(16).padStart(8, '0');

describe('an index', () => {
  test.each([0, 1, 255, 256, 257, 5000])('of %i objects is what git reads', (count) => {
    const ids = Array.from({ length: count }, () => randomBytes(20));
    const lines = ids.map((id, position) => `${12 + position} ${id.toString('hex')} (${hex(position)})`);
    expect(readByGit(encodeIndex(tableOf(ids), checksum)).sort()).toEqual(lines.sort());
  });

  test('holds offsets beyond 2 and 4 GiB', () => {
    const offsets = [12, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 2 ** 40];
    const ids = offsets.map(() => randomBytes(20));
    const read = readByGit(
      encodeIndex(
        tableOf(ids, (position) => offsets[position]!),
        checksum,
      ),
    );
    const lines = ids.map((id, position) => `${offsets[position]!} ${id.toString('hex')} (${hex(position)})`);
    expect(read.sort()).toEqual(lines.sort());
  });

  test('sorts ids that begin alike', () => {
    const ids = Array.from({ length: 300 }, (_, n) =>
      Buffer.concat([Buffer.from('aabbccdd', 'hex'), Buffer.alloc(14, 7), Buffer.from([n >> 8, n & 0xff])]),
    );
    const shuffled = [...ids].sort((a, b) => ((a[19]! * 7) % 31) - ((b[19]! * 7) % 31));
    const table = tableOf(shuffled);
    expect([...table.sortedPositions()].map((position) => table.idAt(position).toString('hex'))).toEqual(
      ids.map((id) => id.toString('hex')),
    );
    const index = PackIndex.parse(encodeIndex(table, checksum))!;
    expect(ids.every((id) => index.has(id) && table.has(id))).toBe(true);
    const absent = Buffer.from(ids[0]!);
    absent[19] = 0xff;
    absent[18] = 0xff;
    expect(index.has(absent) || table.has(absent)).toBe(false);
  });

  test('finds what it holds and nothing else', () => {
    const ids = Array.from({ length: 20_000 }, () => randomBytes(20));
    const index = PackIndex.parse(encodeIndex(tableOf(ids), checksum))!;
    expect(index.size).toBe(20_000);
    expect(ids.every((id) => index.has(id))).toBe(true);
    for (let n = 0; n < 20_000; n++) expect(index.has(randomBytes(20))).toBe(false);
  });

  test('says where objects lie and what their bytes sum up to', () => {
    const ids = Array.from({ length: 300 }, () => randomBytes(20));
    const offsetOf = (position: number): number =>
      position < 100 ? 12 + position : 2 ** (27 + (position % 20)) + position;
    const index = PackIndex.parse(encodeIndex(tableOf(ids, offsetOf), checksum))!;
    ids.forEach((id, position) => {
      const rank = index.rankOf(id)!;
      expect([index.offsetAt(rank), index.checksumAt(rank)]).toEqual([offsetOf(position), position]);
    });
    expect(index.packChecksum).toEqual(checksum);
  });

  test('shows whether a byte of it has changed', () => {
    const whole = encodeIndex(tableOf([randomBytes(20), randomBytes(20)]), checksum);
    expect(PackIndex.parse(whole)!.isIntact).toBe(true);
    for (let at = 8 + 1024; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x10;
      expect(PackIndex.parse(bytes)!.isIntact, `byte ${at}`).toBe(false);
    }
  });

  test('is not taken for one when it is torn or of another version', () => {
    const whole = encodeIndex(tableOf([randomBytes(20), randomBytes(20)]), checksum);
    expect(PackIndex.parse(whole)).toBeDefined();
    expect(PackIndex.parse(whole.subarray(0, -1))).toBeUndefined();
    expect(PackIndex.parse(Buffer.alloc(0))).toBeUndefined();
    const version = Buffer.from(whole);
    version[7] = 3;
    expect(PackIndex.parse(version)).toBeUndefined();
    const fanout = Buffer.from(whole);
    fanout.writeUInt32BE(9, 8);
    expect(PackIndex.parse(fanout)).toBeUndefined();
  });
});

test('both ways to a CRC agree, in one piece and in many', () => {
  const data = randomBytes(100_003);
  expect(crc32ByTable(data)).toBe(crc32(data));
  expect(crc32ByTable(Buffer.from('123456789'))).toBe(0xcbf43926);
  expect(crc32(data.subarray(5), crc32(data.subarray(0, 5)))).toBe(crc32(data));
  expect(crc32ByTable(data.subarray(5), crc32ByTable(data.subarray(0, 5)))).toBe(crc32(data));
});

test.each([
  { size: 0, bytes: [0x30] },
  { size: 15, bytes: [0x3f] },
  { size: 16, bytes: [0xb0, 0x01] },
  { size: 2047, bytes: [0xbf, 0x7f] },
  { size: 2048, bytes: [0xb0, 0x80, 0x01] },
  { size: 2 ** 32, bytes: [0xb0, 0x80, 0x80, 0x80, 0x80, 0x01] },
])('an object of $size bytes says so in the pack', ({ size, bytes }) => {
  expect([...entryHeader('blob', size)]).toEqual(bytes);
});
