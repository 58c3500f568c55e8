import type { Buffer } from 'node:buffer';

/*
 * What stands before each object's deflated bytes in a pack: its type, its size, and for a delta its base.
 */

export const blobType = 3;
const offsetDelta = 6;
const nameDelta = 7;

/** As long as a header can be: ten bytes of type and size, twenty for the base. */
export const longestHeader = 30;

export interface PackedHeader {
  readonly type: number;
  /** Bytes of what the deflated bytes make: an object, or a delta. */
  readonly size: number;
  readonly length: number;
  /** Of a delta: how far before it its base begins, or the base's id. */
  readonly base: number | Buffer | undefined;
}

/** The header at the beginning of these bytes; undefined when they begin with none. */
export function parseHeader(bytes: Buffer): PackedHeader | undefined {
  let at = 0;
  let byte = bytes[at++] ?? 0x80;
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; (byte & 0x80) !== 0; factor *= 128) {
    if (at >= 10 || at >= bytes.length) return undefined;
    byte = bytes[at++] as number;
    size += (byte & 0x7f) * factor;
  }
  if (type === offsetDelta) return withDistance(bytes, at, { type, size });
  if (type !== nameDelta) return { type, size, length: at, base: undefined };
  const base = bytes.subarray(at, at + 20);
  return base.length < 20 ? undefined : { type, size, length: at + 20, base };
}

function withDistance(
  bytes: Buffer,
  start: number,
  { type, size }: Pick<PackedHeader, 'type' | 'size'>,
): PackedHeader | undefined {
  let distance = -1;
  for (let at = start; at < bytes.length && at < start + 9; at++) {
    const byte = bytes[at] as number;
    distance = (distance + 1) * 128 + (byte & 0x7f);
    if (byte < 0x80) return { type, size, length: at + 1, base: distance };
  }
  return undefined;
}
