import type { BigIntStats } from 'node:fs';

import type { EntryStat } from '../core/entry.js';

const typeMask = 0o170000;
/** A file counts as sparse when at least this much of it has no blocks: less is rounding, or a tail kept inline. */
const leastHole = 65_536;
/** From this on, reading and storing the holes as zeros takes too long. */
const vastHoles = 256 * 1024 * 1024;

/** What we compare of a stat, with the kinds that no snapshot can hold put together as `special`. */
export function toEntryStat(stat: BigIntStats): EntryStat {
  const type = Number(stat.mode) & typeMask;
  const size = Number(stat.size);
  const kind = type === 0o100000 ? 'file' : type === 0o040000 ? 'directory' : type === 0o120000 ? 'symlink' : 'special';
  const holes = kind === 'file' ? size - Number(stat.blocks) * 512 : 0;
  return {
    kind,
    dev: stat.dev,
    ino: stat.ino,
    mode: Number(stat.mode) & 0o7777,
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    nlink: Number(stat.nlink),
    size,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    sparse: holes >= leastHole,
    vast: holes >= vastHoles && Number.isSafeInteger(size),
  };
}
