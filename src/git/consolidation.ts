import { createHash } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { GatheredPacks } from '../core/ports.js';
import { systemCode } from '../errors.js';
import { noSpace, syncDirectory } from '../fs/durable.js';
import { readRegularFile } from '../fs/regular-file.js';
import { keepingIntact } from './connectivity.js';
import { freeBytes } from './full-disk.js';
import { PackIndex } from './pack/index-file.js';
import { KnownObjects } from './pack/known-objects.js';
import { noteLastPacked, refuseDamagedPackedRefs } from './packed-refs.js';
import { refuseOtherKindsBelow } from './ref-kinds.js';
import type { GitRunner } from './run-git.js';
import { namesIn } from './names-in.js';

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

/** How many packs there are that can be put together. */
export function countPacks(storeDirectory: string): number {
  return packsIn(packDirectory(storeDirectory)).length;
}

/**
 * Writes one pack, with deltas, of those packs that are small beside what is smaller, and an index over all that are to
 * stay; both are durable. A pack whose index is damaged is left out: what it holds is not known. The caller holds the
 * store's shared lock. A crash leaves more than is needed.
 *
 * @returns undefined when there is nothing to put together. @throws SnapError NO_SPACE, GIT_FAILED (also when an object
 *   cannot be read); then no pack was added.
 */
export async function gatherPacks(git: GitRunner): Promise<GatheredPacks | undefined> {
  const { storeDirectory } = git.settings;
  const directory = packDirectory(storeDirectory);
  const sound = packsIn(directory).filter(({ name }) => readIndex(directory, name) !== undefined);
  const gathered = packsToGather(sound);
  if (gathered.length < 2) return undefined;
  if (freeBytes(storeDirectory) < gathered.reduce((sum, { bytes }) => sum + bytes, 0)) throw noSpace(storeDirectory);
  const old = gathered.map(({ name }) => name);
  const made = await writePackOf(git, old);
  syncDirectory(directory);
  await writeIndexOfPacks(git, new Set(old.filter((name) => !made.includes(name))));
  return { old, new: made };
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

/** Names of new packs that hold all that these do. git compares what it copies with the checksums in their indexes. */
async function writePackOf(git: GitRunner, packs: readonly string[]): Promise<string[]> {
  const base = join(packDirectory(git.settings.storeDirectory), 'pack');
  // One thread and little memory: somebody else is at work.
  const frugal = ['--threads=1', '--window-memory=32m'];
  const stdout = await git.output({
    args: ['pack-objects', '--stdin-packs', '--non-empty', '--delta-base-offset', ...frugal, '--quiet', base],
    input: packs.map((name) => `${name}.pack\n`).join(''),
  });
  const ids = stdout.toString('latin1').split('\n');
  return ids.filter((id) => id !== '').map((id) => `pack-${id}`);
}

/**
 * Stock git pushes fast with it. It is a help only: our own reads do without, so that a damaged one costs nobody a
 * snapshot, and where it cannot be made, there is none. Made anew each time, whatever is there.
 */
async function writeIndexOfPacks(git: GitRunner, without: ReadonlySet<string>): Promise<void> {
  const directory = packDirectory(git.settings.storeDirectory);
  removeIndexOfPacks(directory);
  refuseOtherKindsBelow(git.settings.storeDirectory, 'refs');
  const staying = allPacksIn(directory).filter((name) => !without.has(name) && !/[\r\n]/.test(name));
  const { exitCode } = await git.run({
    args: ['multi-pack-index', 'write', '--no-progress', '--stdin-packs', '--bitmap'],
    input: staying.map((name) => `${name}.idx\n`).join(''),
    // Were we killed, nobody may remove packs that it is about to name.
    uninterruptible: true,
  });
  if (exitCode !== 0) removeIndexOfPacks(directory);
  syncDirectory(directory);
}

/** Whether there is one that git can read: whole, and of packs that are there. */
export function indexOfPacksIsSound(storeDirectory: string): boolean {
  const directory = packDirectory(storeDirectory);
  const bytes = readIfThere(join(directory, 'multi-pack-index'));
  if (bytes === undefined || bytes.length < 20) return false;
  const sum = createHash('sha1').update(bytes.subarray(0, -20)).digest();
  if (!sum.equals(bytes.subarray(-20))) return false;
  const present = new Set(namesIn(directory));
  const named = bytes.toString('latin1').match(/pack-[0-9a-f]{40}\.idx(?=\0)/g) ?? [];
  return named.length > 0 && named.every((name) => present.has(name) && present.has(name.replace(/idx$/, 'pack')));
}

function isNamedInIndexOfPacks(directory: string, packs: ReadonlySet<string>): boolean {
  const content = readIfThere(join(directory, 'multi-pack-index'))?.toString('latin1') ?? '';
  return [...packs].some((name) => content.includes(`${name}.idx`));
}

export function removeIndexOfPacks(directory: string): void {
  for (const name of namesIn(directory).filter((found) => found.startsWith('multi-pack-index')))
    rmSync(join(directory, name), { recursive: true, force: true });
}

/**
 * Removes packs that were gathered. One of which the new packs lack anything stays. The caller holds the store's
 * exclusive lock. A crash leaves some of them, or indexes whose pack is gone, which the next sweep removes.
 */
// eslint-disable-next-line @typescript-eslint/require-await
export async function removeGathered(git: GitRunner, { old, new: made }: GatheredPacks): Promise<void> {
  const directory = packDirectory(git.settings.storeDirectory);
  const present = new Set(packsIn(directory).map(({ name }) => name));
  const indexes = made.filter((name) => present.has(name)).flatMap((name) => readIndex(directory, name) ?? []);
  const going = old.filter((name) => present.has(name) && !made.includes(name));
  const areIn = (id: Buffer): boolean => indexes.some((index) => index.has(id));
  const spare = new Set(going.filter((name) => isAllIn(areIn, readIndex(directory, name))));
  if (spare.size === 0) return;
  // Stock git looks nowhere else for what a pack had that it names.
  if (isNamedInIndexOfPacks(directory, spare)) removeIndexOfPacks(directory);
  syncDirectory(directory);
  const files = namesIn(directory).filter((name) => spare.has(packOf(name)));
  keepingIntact(git, () => {
    // The pack first: an index alone is known to be worth nothing, a pack alone may be all that is left of something.
    for (const name of files.sort((a, b) => Number(b.endsWith('.pack')) - Number(a.endsWith('.pack'))))
      rmSync(join(directory, name), { force: true });
    syncDirectory(directory);
  });
}

/** True when a removal of packs was cut off. */
export function hasPackless(storeDirectory: string): boolean {
  return packlessIn(namesIn(packDirectory(storeDirectory))).length > 0;
}

/**
 * Removes what is left of packs that are gone. Where an index tells of something that no other pack has, it stays: the
 * pack may come back. The caller holds the store's exclusive lock.
 */
export function removePackless(storeDirectory: string): void {
  const directory = packDirectory(storeDirectory);
  const files = packlessIn(namesIn(directory));
  const known = new KnownObjects(join(storeDirectory, 'objects'));
  const indexed = files.filter((name) => name.endsWith('.idx')).map(packOf);
  const staying = new Set(indexed.filter((name) => !isAllIn((id) => known.has(id), readIndex(directory, name))));
  for (const name of files.filter((file) => !staying.has(packOf(file)))) rmSync(join(directory, name), { force: true });
}

function packlessIn(names: readonly string[]): string[] {
  const present = new Set(names);
  return names
    .filter((name) => /^pack-[0-9a-f]{40}\.(?:idx|rev|bitmap|mtimes)$/.test(name))
    .filter((name) => !present.has(`${packOf(name)}.pack`));
}

export function packOf(file: string): string {
  return file.replace(/\.[a-z]+$/, '');
}

function isAllIn(others: (id: Buffer) => boolean, index: PackIndex | undefined): boolean {
  if (index === undefined) return false;
  for (let rank = 0; rank < index.size; rank++) if (!others(index.idAt(rank))) return false;
  return true;
}

/** Undefined when it is not there or not what was written: an id in it may then be any other. */
export function readIndex(directory: string, pack: string): PackIndex | undefined {
  const bytes = readIfThere(join(directory, `${pack}.idx`));
  if (bytes === undefined) return undefined;
  const sum = createHash('sha1').update(bytes.subarray(0, -20)).digest();
  return sum.equals(bytes.subarray(-20)) ? PackIndex.parse(bytes) : undefined;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readRegularFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Moves refs from files of their own into one, where thousands cost nothing. The caller holds the store's exclusive
 * lock. The one file is durable before any of the others goes.
 * @throws SnapError STORE_DAMAGED where the one file is damaged: written anew by git, it would look sound
 */
export async function packRefs(git: GitRunner): Promise<void> {
  refuseOtherKindsBelow(git.settings.storeDirectory, 'refs');
  refuseDamagedPackedRefs(git.settings.storeDirectory);
  await git.output({ args: ['pack-refs', '--all', '--no-prune'], uninterruptible: true });
  syncDirectory(git.settings.storeDirectory);
  noteLastPacked(git.settings.storeDirectory);
  await git.output({ args: ['pack-refs', '--all', '--prune'], uninterruptible: true });
  syncDirectory(git.settings.storeDirectory);
}

/** Packs under the names that we and git give, which nobody has marked to be kept. */
function packsIn(directory: string): Pack[] {
  const names = new Set(namesIn(directory));
  return allPacksIn(directory)
    .filter((name) => /^pack-[0-9a-f]{40}$/.test(name) && !names.has(`${name}.keep`))
    .flatMap((name) => {
      const stat = lstatSync(join(directory, `${name}.pack`), { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ name, bytes: stat.size }];
    });
}

/** Packs that have an index. */
function allPacksIn(directory: string): string[] {
  const names = new Set(namesIn(directory));
  return [...names]
    .filter((name) => name.endsWith('.pack') && names.has(`${name.slice(0, -5)}.idx`))
    .map((name) => name.slice(0, -5));
}

export function packDirectory(storeDirectory: string): string {
  return join(storeDirectory, 'objects', 'pack');
}
