import { parseEntryPath } from '../../src/core/entry-path.js';
import { type Seq, type SnapshotId, parseInstanceName, parseMountName } from '../../src/core/ids.js';
import type { SnapshotPointer } from '../../src/core/results.js';

export const instance = parseInstanceName('t');
export const mount = parseMountName('m');

/** A name that is not UTF-8 and one that would steer a terminal, as bytes. */
export const foreignName = parseEntryPath('bad\xff');
export const evilName = parseEntryPath('x\x1b]0;PWNED\x07\x1b[31mRED');

export function pointer(seq: number): SnapshotPointer {
  return {
    instance,
    seq: seq as Seq,
    id: `01ARZ3NDEKTSV4RRFFQ69G5F${String(seq).padStart(2, '0')}` as SnapshotId,
    ref: `refs/jackin/t/${seq}`,
  };
}
