import { lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { GatheredPacks } from '../core/ports.js';
import { systemCode } from '../errors.js';
import { noSpace, syncDirectory } from '../fs/durable.js';
import { keepingIntact } from './connectivity.js';
import { freeBytes } from './full-disk.js';
import { PackIndex } from './pack/index-file.js';
import { KnownObjects } from './pack/known-objects.js';
import type { GitRunner } from './run-git.js';

/*
 * Each save adds a pack. Many small ones take room, since a pack holds whole trees of which little changed, and time,
 * since each has to be asked. They are put together in two steps, so that nobody waits: a new pack is written beside
 * those that it is made of, under the store's shared lock; then, under the exclusive one and in moments, those go. At
 * every moment each object is in some pack.
 */

/** A pack by the name of its files without `.pack` and `.idx`. */
interface Pack {
  readonly name: string;
  readonly bytes: number;
}

/** So many packs are put together. Finding an object among fewer costs next to nothing. */
const mostPacks = 50;

/**
 * True when there are many packs, and after that at every tenth more: where putting them together fails, saves go on
 * as before.
 */
export function hasManyPacks(storeDirectory: string): boolean {
  const packs = packsIn(storeDirectory).length;
  return packs >= mostPacks && packs % 10 === 0;
}

/**
 * Writes one pack, with deltas, of those packs that are small beside what is smaller. The caller holds the store's
 * shared lock. @returns undefined when there is nothing to put together. @throws SnapError NO_SPACE, GIT_FAILED
 */
export async function gatherPacks(git: GitRunner): Promise<GatheredPacks | undefined> {
  const { storeDirectory } = git.settings;
  const packs = packsIn(storeDirectory);
  const gathered = packsToGather(packs);
  if (gathered.length < 2) return undefined;
  if (freeBytes(storeDirectory) < gathered.reduce((sum, { bytes }) => sum + bytes, 0)) throw noSpace(storeDirectory);
  const others = packs.filter((pack) => !gathered.includes(pack));
  const base = join(storeDirectory, 'objects', 'pack', 'pack');
  const stdout = await git.output({
    // One thread and little memory: somebody else is at work.
    args: [
      'pack-objects',
      '--stdin-packs',
      '--non-empty',
      '--delta-base-offset',
      '--threads=1',
      '--window-memory=32m',
      '--quiet',
      base,
    ],
    input: [...gathered.map(({ name }) => `${name}.pack\n`), ...others.map(({ name }) => `^${name}.pack\n`)].join(''),
  });
  const made = stdout
    .toString('latin1')
    .split('\n')
    .filter((name) => name !== '');
  return { old: gathered.map(({ name }) => name), new: made.map((name) => `pack-${name}`) };
}

/**
 * Of packs that form no geometric progression those that break it, so that each object is written anew only a few
 * times however many saves there are: afterwards each pack is at least twice as large as all smaller ones together.
 */
export function packsToGather<P extends { readonly bytes: number }>(packs: readonly P[]): P[] {
  const ascending = [...packs].sort((a, b) => a.bytes - b.bytes);
  let smaller = 0;
  let end = 0;
  ascending.forEach(({ bytes }, at) => {
    if (bytes < 2 * smaller) end = at + 1;
    smaller += bytes;
  });
  return ascending.slice(0, end);
}

/**
 * Removes packs that were gathered. One that holds something which no other pack has stays. The caller holds the
 * store's exclusive lock.
 */
export async function removeGathered(git: GitRunner, { old, new: made }: GatheredPacks): Promise<void> {
  const { storeDirectory } = git.settings;
  const directory = join(storeDirectory, 'objects', 'pack');
  const going = old.filter((name) => !made.includes(name));
  const others = new KnownObjects(join(storeDirectory, 'objects'), new Set(going));
  const spare = going.filter((name) => isSpare(join(directory, `${name}.idx`), others));
  if (spare.length === 0) return;
  syncDirectory(directory);
  await writeIndexOfPacks(git, new Set(spare));
  keepingIntact(git, () => {
    for (const suffix of ['.bitmap', '.rev', '.idx', '.pack']) {
      for (const name of spare) rmSync(join(directory, `${name}${suffix}`), { force: true });
    }
    syncDirectory(directory);
  });
}

/** An index over all packs that stay. It is a help only: where it cannot be made, there is none. */
async function writeIndexOfPacks(git: GitRunner, without: ReadonlySet<string>): Promise<void> {
  const staying = packsIn(git.settings.storeDirectory).filter(({ name }) => !without.has(name));
  const input = staying.map(({ name }) => `${name}.idx\n`).join('');
  const args = ['multi-pack-index', 'write', '--no-progress', '--stdin-packs', '--bitmap'];
  const { exitCode } = await git.run({ args, input });
  if (exitCode !== 0) removeIndexOfPacks(git.settings.storeDirectory);
}

export function removeIndexOfPacks(storeDirectory: string): void {
  const directory = join(storeDirectory, 'objects', 'pack');
  for (const name of namesIn(directory).filter((found) => found.startsWith('multi-pack-index')))
    rmSync(join(directory, name), { force: true });
}

function isSpare(indexPath: string, others: KnownObjects): boolean {
  const index = readIndex(indexPath);
  if (index === undefined) return false;
  for (let rank = 0; rank < index.size; rank++) if (!others.has(index.idAt(rank))) return false;
  return true;
}

function readIndex(path: string): PackIndex | undefined {
  try {
    return PackIndex.parse(readFileSync(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Moves refs from files of their own into one, where thousands cost nothing. The caller holds the store's exclusive
 * lock. The one file is durable before any of the others goes.
 */
export async function packRefs(git: GitRunner): Promise<void> {
  await git.output({ args: ['pack-refs', '--all', '--no-prune'], uninterruptible: true });
  syncDirectory(git.settings.storeDirectory);
  await git.output({ args: ['pack-refs', '--all', '--prune'], uninterruptible: true });
  syncDirectory(git.settings.storeDirectory);
}

/** Packs that are complete with their index. */
function packsIn(storeDirectory: string): Pack[] {
  const directory = join(storeDirectory, 'objects', 'pack');
  const names = new Set(namesIn(directory));
  return [...names]
    .filter((name) => name.endsWith('.pack') && names.has(`${name.slice(0, -5)}.idx`))
    .map((name) => {
      const stat = lstatSync(join(directory, name), { throwIfNoEntry: false });
      return { name: name.slice(0, -5), bytes: stat?.size ?? 0 };
    });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
