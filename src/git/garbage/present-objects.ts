import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { packOf, readIndex } from '../consolidation.js';
import { entriesIn, namesIn } from '../names-in.js';
import type { PackIndex } from '../pack/index-file.js';

/** Files of objects that lay in the store when somebody looked, each with when it was last written, in milliseconds. */
export interface PresentObjects {
  /** By the name of a pack's files without suffix, also where some of them are missing. */
  readonly packs: ReadonlyMap<string, number>;
  /** Loose objects by id. */
  readonly loose: ReadonlyMap<string, number>;
}

export function presentObjects(objects: string): PresentObjects {
  const packs = new Map<string, number>();
  for (const name of namesIn(join(objects, 'pack')).filter((found) => !notOfPacks.test(found))) {
    const pack = packOf(name);
    packs.set(pack, Math.max(packs.get(pack) ?? 0, writtenAt(join(objects, 'pack', name))));
  }
  return { packs, loose: looseObjects(objects) };
}

/** Indexes over packs, and files that are not finished. */
const notOfPacks = /^(?:multi-pack-index|tmp_|\.)/;

function looseObjects(objects: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const first of entriesIn(objects).flatMap(({ name }) => (/^[0-9a-f]{2}$/.test(name) ? [name] : []))) {
    for (const rest of namesIn(join(objects, first)).filter((name) => /^[0-9a-f]{38}$/.test(name)))
      found.set(`${first}${rest}`, writtenAt(join(objects, first, rest)));
  }
  return found;
}

function writtenAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** What was written later than some moment. */
export interface Young {
  /** Objects, as far as they are not kept anyway. */
  readonly ids: readonly string[];
  readonly packs: readonly string[];
  /** Packs of which nobody can tell what they hold. */
  readonly unknown: readonly string[];
}

export function writtenSince(
  { packs, loose }: PresentObjects,
  moment: number,
  directory: string,
  isKept: (id: Buffer) => boolean,
): Young {
  const ids = new Set<string>();
  const unknown = [];
  const young = laterThan(moment, packs);
  for (const pack of young) {
    const index = readIndex(directory, pack);
    if (index === undefined) unknown.push(pack);
    else for (const id of idsIn(index)) if (!isKept(id)) ids.add(id.toString('hex'));
  }
  for (const id of laterThan(moment, loose)) if (!isKept(Buffer.from(id, 'hex'))) ids.add(id);
  return { ids: [...ids], packs: young, unknown };
}

function laterThan(moment: number, times: ReadonlyMap<string, number>): string[] {
  return [...times].flatMap(([name, time]) => (time > moment ? [name] : []));
}

function* idsIn(index: PackIndex): Iterable<Buffer> {
  for (let rank = 0; rank < index.size; rank++) yield index.idAt(rank);
}
