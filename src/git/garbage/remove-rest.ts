import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import type { KeptObjects } from '../../core/ports.js';
import { isSnapError, systemCode } from '../../errors.js';
import { syncDirectory } from '../../fs/durable.js';
import { knownIntact, rememberAfterCollection } from '../connectivity.js';
import { packDirectory, packOf, packRefs, removeIndexOfPacks } from '../consolidation.js';
import { namesIn } from '../names-in.js';
import { unreadableRefs } from '../refs.js';
import type { GitRunner } from '../run-git.js';
import { damaged, indexesOf, isIn, lines, refuseLostRefs, tips, writePacks } from './pack-kept.js';

/**
 * The short part of collecting garbage: removes what `packKept` found, as far as nothing needs it by now. Packs that
 * came meanwhile stay; what refs that came meanwhile reach and lies only in packs that are about to go is written anew
 * first. The caller holds the store's exclusive lock. A crash leaves at worst more than is needed.
 *
 * @throws SnapError STORE_DAMAGED when an object that a ref needs is missing; nothing was removed then
 */
export async function removeRest(git: GitRunner, kept: KeptObjects): Promise<void> {
  const { storeDirectory, dataDir } = git.settings;
  const reached = await tips(git);
  const late = await keepLate(git, kept, reached);
  const intact = knownIntact(git);
  const aside = putAside(join(dataDir, 'cache'));
  removePacks(packDirectory(storeDirectory), new Set(kept.goingPacks.filter((pack) => !late.includes(pack))));
  removeLoose(join(storeDirectory, 'objects'), kept.goingLoose);
  for (const [path, hidden] of aside) {
    // What they name is there with all that it reaches, or is gone as a whole: a save looks for it before it uses it.
    if (kept.closed) renameSync(hidden, path);
    else rmSync(hidden);
  }
  await packRefs(git);
  await rememberAfterCollection(git, reached, intact);
}

/** Packs with whatever refs reach that came since the others were written, and that is in no pack that stays. */
async function keepLate(git: GitRunner, kept: KeptObjects, reached: readonly ObjectId[]): Promise<string[]> {
  const directory = packDirectory(git.settings.storeDirectory);
  refuseLostRefs(git.settings.storeDirectory);
  if ((await unreadableRefs(git, 'refs/')).length > 0) throw damaged('there is a ref that cannot be read');
  const known = new Set(kept.complete);
  const late = reached.filter((tip) => !known.has(tip));
  if (late.length === 0) return [];
  const going = new Set(kept.goingPacks);
  const packs = new Set(namesIn(directory).flatMap((name) => (name.endsWith('.pack') ? [packOf(name)] : [])));
  const staying = indexesOf(
    directory,
    [...packs].filter((pack) => !going.has(pack)),
  );
  const lacking = (await reachedFrom(git, late)).filter((id) => !isIn(staying, Buffer.from(id, 'hex')));
  if (lacking.length === 0) return [];
  const made = await writePacks(git, ['--non-empty', '--delta-base-offset'], lines(lacking));
  syncDirectory(directory);
  return made;
}

async function reachedFrom(git: GitRunner, commits: readonly ObjectId[]): Promise<string[]> {
  try {
    const walk = ['rev-list', '--objects', '--no-object-names', '--stdin'];
    const told = await git.output({ args: walk, input: lines(commits) });
    return told
      .toString('latin1')
      .split('\n')
      .filter((id) => id !== '');
  } catch (error) {
    if (!isSnapError(error, 'GIT_FAILED')) throw error;
    throw damaged('an object that a snapshot needs cannot be read', error);
  }
}

/**
 * Takes stat caches out of the way while packs go, durably: after a crash amid it no cache may name a tree of which
 * some is gone. Where they lie meanwhile, a sweep removes them.
 */
function putAside(cache: string): Map<string, string> {
  const suffix = `.${randomBytes(8).toString('hex')}.new`;
  const names = namesIn(cache).filter((name) => name.startsWith('stat-') && !name.endsWith('.new'));
  const aside = new Map(names.map((name) => [join(cache, name), join(cache, `${name}${suffix}`)]));
  for (const [path, hidden] of aside) renameSync(path, hidden);
  if (aside.size > 0) syncDirectory(cache);
  return aside;
}

function removePacks(directory: string, going: ReadonlySet<string>): void {
  removeIndexOfPacks(directory);
  syncDirectory(directory);
  const names = namesIn(directory)
    .filter((name) => going.has(packOf(name)))
    // First what makes packs visible, then the packs.
    .sort((a, b) => Number(b.endsWith('.idx')) - Number(a.endsWith('.idx')));
  for (const name of names) rmSync(join(directory, name), { recursive: true });
  syncDirectory(directory);
}

function removeLoose(objects: string, ids: readonly string[]): void {
  for (const id of ids) rmSync(join(objects, id.slice(0, 2), id.slice(2)), { force: true });
  for (const name of namesIn(objects).filter((found) => /^[0-9a-f]{2}$/.test(found)))
    removeIfEmpty(join(objects, name));
  rmSync(join(objects, 'info', 'commit-graph'), { force: true });
  rmSync(join(objects, 'info', 'commit-graphs'), { force: true, recursive: true });
  syncDirectory(objects);
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'ENOTDIR') throw error;
  }
}
