import * as zlib from 'node:zlib';

import { onFirstUse } from '../../core/on-first-use.js';

/** CRC-32 as zlib has it, going on from `before`. Node has it from 20.15 on; before that, a table. */
export const crc32: (data: Uint8Array, before?: number) => number =
  typeof zlib.crc32 === 'function' ? (data, before = 0) => zlib.crc32(data, before) : crc32ByTable;

const polynomial = 0xedb88320;

const table = onFirstUse(() =>
  Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value;
  }),
);

/** For tests, and for Node before 20.15. */
export function crc32ByTable(data: Uint8Array, before = 0): number {
  const ofBytes = table();
  let value = ~before;
  for (const byte of data) value = (value >>> 8) ^ (ofBytes[(value ^ byte) & 0xff] as number);
  return ~value >>> 0;
}
