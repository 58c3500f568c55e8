import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import { packOf, readIndex } from '../consolidation.js';
import { entriesIn, namesIn } from '../names-in.js';

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

/** What of them was written later than `moment`, as far as `isKept` does not say that it is kept anyway. */
export function writtenSince(
  { packs, loose }: PresentObjects,
  moment: number,
  directory: string,
  isKept: (id: Buffer) => boolean,
): { readonly ids: readonly string[]; readonly packs: readonly string[]; readonly unknown: readonly string[] } {
  const ids = new Set<string>();
  const since = (entries: ReadonlyMap<string, number>): string[] =>
    [...entries].flatMap(([name, time]) => (time > moment ? [name] : []));
  const unknown = [];
  for (const pack of since(packs)) {
    const index = readIndex(directory, pack);
    if (index === undefined) unknown.push(pack);
    for (let rank = 0; rank < (index?.size ?? 0); rank++) {
      const id = index?.idAt(rank);
      if (id !== undefined && !isKept(id)) ids.add(id.toString('hex'));
    }
  }
  for (const id of since(loose)) if (!isKept(Buffer.from(id, 'hex'))) ids.add(id);
  return { ids: [...ids], packs: since(packs), unknown };
}
