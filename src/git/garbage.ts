import { linkSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { SnapError, systemCode } from '../errors.js';
import { makeScratchDirectory, noSpace, removeUnfinished, syncDirectory, unfinishedIn } from '../fs/durable.js';
import { rememberAfterCollection } from './connectivity.js';
import { freeBytes } from './full-disk.js';
import { hasPackless, packRefs, removeIndexOfPacks, removePackless } from './consolidation.js';
import { listRefs } from './refs.js';
import type { GitRunner } from './run-git.js';

/**
 * Puts everything that refs reach into one pack, and removes all else. The caller holds the store's exclusive lock.
 *
 * The new pack is complete by itself, checked and durable before anything is removed, so that a crash leaves at worst
 * more than is needed. Stat caches go first: no cache may name an object that is about to go.
 *
 * @throws SnapError NO_SPACE when there is no room for a second copy, STORE_DAMAGED when an object that a ref needs is
 *   missing; in both cases nothing was removed.
 */
export async function collectGarbage(git: GitRunner): Promise<void> {
  const { storeDirectory, dataDir } = git.settings;
  const objects = join(storeDirectory, 'objects');
  const needed = bytesBelow(objects);
  if (freeBytes(storeDirectory) < needed) throw noSpace(storeDirectory);
  removeStatCaches(dataDir);
  const kept = await packReachable(git);
  syncDirectory(join(objects, 'pack'));
  await checkComplete(git, kept);
  removeAllBut(objects, kept);
  await packRefs(git);
  rememberAfterCollection(
    git,
    (await listRefs(git, 'refs/')).map(({ oid }) => oid),
  );
}

/** The names (40 digits) of the packs that git made; none when there is nothing to keep. */
async function packReachable(git: GitRunner): Promise<string[]> {
  const base = join(git.settings.storeDirectory, 'objects', 'pack', 'pack');
  const command = {
    args: ['pack-objects', '--all', '--non-empty', '--delta-base-offset', '--write-bitmap-index', '--quiet', base],
    input: '',
  };
  const { exitCode, stdout, stderr } = await git.run(command);
  if (exitCode === 0)
    return stdout
      .toString('latin1')
      .split('\n')
      .filter((name) => name !== '');
  const failure = git.failure(command, exitCode, stderr);
  if (failure.code === 'NO_SPACE' || exitCode !== 128) throw failure;
  throw damaged('an object that a snapshot needs cannot be read', failure);
}

/** The new packs hold all that refs reach, with no help of anything else. */
async function checkComplete(git: GitRunner, packs: readonly string[]): Promise<void> {
  const { dataDir, storeDirectory } = git.settings;
  const scratch = makeScratchDirectory(join(dataDir, 'tmp'));
  try {
    mkdirSync(join(scratch, 'pack'));
    for (const name of packs.flatMap((pack) => [`pack-${pack}.pack`, `pack-${pack}.idx`])) {
      linkSync(join(storeDirectory, 'objects', 'pack', name), join(scratch, 'pack', name));
    }
    const command = { args: ['rev-list', '--objects', '--quiet', '--all'], objectDirectory: scratch };
    const { exitCode, stderr } = await git.run(command);
    if (exitCode !== 0) throw damaged('the new pack is not complete', git.failure(command, exitCode, stderr));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function removeAllBut(objects: string, kept: readonly string[]): void {
  removeIndexOfPacks(join(objects, 'pack'));
  syncDirectory(join(objects, 'pack'));
  const keptNames = new Set(kept.map((pack) => `pack-${pack}`));
  const names = namesIn(join(objects, 'pack'))
    .filter((name) => !keptNames.has(name.replace(/\.[a-z]+$/, '')))
    // First what makes packs visible, then the packs.
    .sort((a, b) => Number(b.endsWith('.idx')) - Number(a.endsWith('.idx')));
  for (const name of names) rmSync(join(objects, 'pack', name), { recursive: true });
  syncDirectory(join(objects, 'pack'));
  for (const name of namesIn(objects)) {
    if (/^[0-9a-f]{2}$/.test(name)) rmSync(join(objects, name), { recursive: true });
  }
  rmSync(join(objects, 'info', 'commit-graph'), { force: true });
  rmSync(join(objects, 'info', 'commit-graphs'), { force: true, recursive: true });
  syncDirectory(objects);
}

function removeStatCaches(dataDir: string): void {
  const cache = join(dataDir, 'cache');
  const names = namesIn(cache).filter((name) => name.startsWith('stat-'));
  for (const name of names) rmSync(join(cache, name), { recursive: true });
  if (names.length > 0) syncDirectory(cache);
}

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

/** The bytes that files below the directory take on the disk. */
export function bytesBelow(directory: string): number {
  let total = 0;
  for (const entry of entriesIn(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) total += bytesBelow(path);
    else total += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return total;
}

function namesIn(directory: string): string[] {
  return entriesIn(directory).map((entry) => entry.name);
}

function entriesIn(directory: string): { name: string; isDirectory(): boolean }[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function damaged(problem: string, cause: unknown): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', `Garbage was not collected: ${problem}.`, { problem }, { cause });
}
