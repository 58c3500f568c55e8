import { Buffer } from 'node:buffer';

import type { StatCacheNotes } from '../../core/ports.js';

/** What a table cannot say in numbers; `rules` are the keys of the rules that its directories name by number. */
export interface TableNotes extends StatCacheNotes {
  readonly rules: readonly string[];
}

export function encodeNotes(notes: TableNotes): Buffer {
  return Buffer.from(JSON.stringify(notes), 'utf8');
}

/** They passed their checksum, so that they are what we wrote. */
export function decodeNotes(bytes: Buffer): TableNotes {
  return JSON.parse(bytes.toString('utf8')) as TableNotes;
}
