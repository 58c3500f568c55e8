import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { removeUnfinished, unfinishedIn } from '../../fs/durable.js';
import { hasPackless, removePackless } from '../consolidation.js';
import { entriesIn, namesIn } from '../names-in.js';

/**
 * Removes what killed processes left: unfinished packs and files, ref locks. The caller holds the store's exclusive
 * lock, so that nothing of it can be in use by us.
 */
export function sweep(dataDir: string, storeDirectory: string): void {
  for (const name of namesIn(join(dataDir, 'tmp')))
    rmSync(join(dataDir, 'tmp', name), { recursive: true, force: true });
  removeMatching(join(storeDirectory, 'objects', 'pack'), unfinishedPack);
  removePackless(storeDirectory);
  removeMatching(join(storeDirectory, 'objects'), /^(tmp_|[0-9a-f]{2}$)/, /^tmp_obj_/);
  removeLocks(join(storeDirectory, 'refs'));
  removeMatching(storeDirectory, unfinishedRefs);
  for (const directory of [storeDirectory, join(dataDir, 'cache')]) removeUnfinished(directory);
}

/** A quick look where killed processes leave things. */
export function hasLeftovers(dataDir: string, storeDirectory: string): boolean {
  return (
    namesIn(join(dataDir, 'tmp')).length > 0 ||
    namesIn(join(storeDirectory, 'objects', 'pack')).some((name) => unfinishedPack.test(name)) ||
    hasPackless(storeDirectory) ||
    namesIn(storeDirectory).some((name) => unfinishedRefs.test(name)) ||
    [storeDirectory, join(dataDir, 'cache')].some((directory) => unfinishedIn(directory).length > 0) ||
    hasLocks(join(storeDirectory, 'refs'))
  );
}

function hasLocks(directory: string): boolean {
  return entriesIn(directory).some((entry) =>
    entry.isDirectory() ? hasLocks(join(directory, entry.name)) : entry.name.endsWith('.lock'),
  );
}

const unfinishedPack = /^(tmp_|\.tmp-|multi-pack-index\.lock$)/;
const unfinishedRefs = /^(packed-refs|HEAD|config)\.(lock|new)$/;

/** With `inside`, directories of that name are kept and only what matches in them goes. */
function removeMatching(directory: string, pattern: RegExp, inside?: RegExp): void {
  for (const name of namesIn(directory).filter((found) => pattern.test(found))) {
    const path = join(directory, name);
    if (inside !== undefined && /^[0-9a-f]{2}$/.test(name)) removeMatching(path, inside);
    else rmSync(path, { recursive: true, force: true });
  }
}

function removeLocks(directory: string): void {
  for (const entry of entriesIn(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) removeLocks(path);
    else if (entry.name.endsWith('.lock')) rmSync(path, { force: true });
  }
}
