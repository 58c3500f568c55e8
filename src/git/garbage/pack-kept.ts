import { linkSync, lstatSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import type { KeptObjects } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import { makeScratchDirectory, noSpace, syncDirectory } from '../../fs/durable.js';
import { packedRefsDamage } from '../packed-refs.js';
import { packDirectory, packOf, readIndex } from '../consolidation.js';
import { freeBytes } from '../full-disk.js';
import { namesIn } from '../names-in.js';
import type { PackIndex } from '../pack/index-file.js';
import { listRefs } from '../refs.js';
import type { GitCommand, GitRunner } from '../run-git.js';
import { bytesBelow, bytesOf, bytesReachable } from './disk-usage.js';
import { type PresentObjects, presentObjects, writtenSince } from './present-objects.js';

/**
 * The long part of collecting garbage, beside others who save and read: everything that refs reach goes into one new
 * pack, and what nothing reaches but is younger than the grace period into another. Both are durable, and the first is
 * checked to be complete by itself. Nothing is removed: `removeRest` does that. The caller holds the store's shared
 * lock. A crash leaves more than is needed.
 *
 * How old something is, the file that holds it says, by the clock of the file system that it lies on: no clock of ours
 * has a say. What was written in the future is young.
 *
 * @throws SnapError NO_SPACE when there is no room for what is kept, STORE_DAMAGED when an object that a ref needs is
 *   missing
 */
export async function packKept(git: GitRunner, graceSeconds: number): Promise<KeptObjects> {
  const { storeDirectory, dataDir } = git.settings;
  refuseLostRefs(storeDirectory);
  const objects = join(storeDirectory, 'objects');
  const scratch = makeScratchDirectory(join(dataDir, 'tmp'));
  try {
    const now = lstatSync(scratch).mtimeMs;
    const present = presentObjects(objects);
    const since = now - graceSeconds * 1000;
    await refuseWithoutRoom(git, objects, present, since);
    const reachable = await packReachable(git);
    datePacks(storeDirectory, reachable, present, now);
    syncDirectory(join(objects, 'pack'));
    const complete = await checkComplete(git, reachable, scratch);
    const young = await keepYoung(git, present, since, reachable);
    datePacks(storeDirectory, young.made, present, now);
    syncDirectory(join(objects, 'pack'));
    return toKept(storeDirectory, present, { reachable, complete, young });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function toKept(
  storeDirectory: string,
  present: PresentObjects,
  {
    reachable,
    complete,
    young,
  }: { readonly reachable: readonly string[]; readonly complete: readonly ObjectId[]; readonly young: KeptForAge },
): KeptObjects {
  const staying = new Set([...reachable, ...young.made, ...young.whole]);
  const added = [...reachable, ...young.made].filter((pack) => !present.packs.has(pack));
  return {
    complete,
    goingPacks: [...present.packs.keys()].filter((pack) => !staying.has(pack)),
    goingLoose: young.looseStay ? [] : [...present.loose.keys()],
    closed: young.whole.length === 0 && !young.looseStay,
    youngAsItLay: young.looseStay,
    bytesWritten: added.reduce((sum, pack) => sum + bytesOfPack(storeDirectory, pack), 0),
    bytesYoung: [...young.made, ...young.whole].reduce((sum, pack) => sum + bytesOfPack(storeDirectory, pack), 0),
  };
}

function bytesOfPack(storeDirectory: string, pack: string): number {
  return ['pack', 'idx', 'bitmap', 'rev']
    .map((suffix) => bytesOf(join(packDirectory(storeDirectory), `${pack}.${suffix}`)))
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** A store that is mostly garbage must be collectable on a disk that is nearly full: only what is kept needs room. */
async function refuseWithoutRoom(
  git: GitRunner,
  objects: string,
  { packs }: PresentObjects,
  since: number,
): Promise<void> {
  const free = freeBytes(git.settings.storeDirectory);
  if (free >= bytesBelow(objects)) return;
  const young = [...packs].flatMap(([name, time]) => (time > since ? [join(objects, 'pack', `${name}.pack`)] : []));
  const needed = (await bytesReached(git)) + young.reduce((sum, path) => sum + bytesOf(path), 0);
  // An index and a bitmap come with each pack.
  if (free < needed * 1.1) throw noSpace(git.settings.storeDirectory);
}

async function bytesReached(git: GitRunner): Promise<number> {
  try {
    return await bytesReachable(git, await tips(git));
  } catch (error) {
    if (isSnapError(error, 'GIT_FAILED')) throw damaged('an object that a snapshot needs cannot be read', error);
    throw error;
  }
}

/** The new pack, or none when there is nothing to keep. */
async function packReachable(git: GitRunner): Promise<string[]> {
  const options = ['--all', '--non-empty', '--delta-base-offset', '--write-bitmap-index'];
  try {
    return await writePacks(git, options, '');
  } catch (error) {
    if (!isSnapError(error, 'GIT_FAILED') || error.data.exitCode !== 128) throw error;
    throw damaged('an object that a snapshot needs cannot be read', error);
  }
}

/** Names of the packs that git made, without suffix. */
export async function writePacks(git: GitRunner, options: readonly string[], input: string): Promise<string[]> {
  const base = join(packDirectory(git.settings.storeDirectory), 'pack');
  const stdout = await git.output({ args: ['pack-objects', ...options, '--quiet', base], input });
  const ids = stdout.toString('latin1').split('\n');
  return ids.filter((id) => id !== '').map((id) => `pack-${id}`);
}

/** A pack is as old as the youngest that it may be made of: being packed makes nothing young again. */
function datePacks(
  storeDirectory: string,
  made: readonly string[],
  { packs, loose }: PresentObjects,
  now: number,
): void {
  const youngest = [...packs.values(), ...loose.values()].reduce((latest, time) => Math.max(latest, time), 0);
  const seconds = Math.min(now, youngest) / 1000;
  const directory = packDirectory(storeDirectory);
  for (const name of namesIn(directory).filter((found) => made.includes(packOf(found))))
    utimesSync(join(directory, name), seconds, seconds);
}

/** The tips from which the packs hold all that is reachable, with no help of anything else. */
async function checkComplete(git: GitRunner, packs: readonly string[], scratch: string): Promise<ObjectId[]> {
  const directory = packDirectory(git.settings.storeDirectory);
  const indexes = indexesOf(directory, packs);
  // Refs that came since are looked at later.
  const held = (await tips(git)).filter((tip) => isIn(indexes, Buffer.from(tip, 'hex')));
  if (held.length === 0) return [];
  mkdirSync(join(scratch, 'pack'));
  for (const name of packs.flatMap((pack) => [`${pack}.pack`, `${pack}.idx`]))
    linkSync(join(directory, name), join(scratch, 'pack', name));
  const command: GitCommand = {
    args: ['rev-list', '--objects', '--quiet', '--stdin'],
    input: lines(held),
    objectDirectory: scratch,
  };
  const { exitCode, stderr } = await git.run(command);
  if (exitCode === 0) return held;
  throw damaged('the new pack is not complete', git.failure(command, exitCode, stderr));
}

interface KeptForAge {
  readonly made: readonly string[];
  /** Packs that are left as they are. */
  readonly whole: readonly string[];
  readonly looseStay: boolean;
}

/**
 * What nothing reaches and is young, with all that it reaches itself: who has one object of it may rely on the rest.
 * Where some of it cannot be read, all of it stays as it lies.
 */
async function keepYoung(
  git: GitRunner,
  present: PresentObjects,
  since: number,
  reachable: readonly string[],
): Promise<KeptForAge> {
  const directory = packDirectory(git.settings.storeDirectory);
  const indexes = indexesOf(directory, reachable);
  const isKept = (id: Buffer): boolean => isIn(indexes, id);
  const young = writtenSince(present, since, directory, isKept);
  const whole = young.unknown;
  if (young.ids.length === 0) return { made: [], whole, looseStay: false };
  try {
    const walk = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', '--stdin'];
    const found = (await git.output({ args: walk, input: lines(young.ids) })).toString('latin1').split('\n');
    const ids = found.filter((id) => id !== '' && !isKept(Buffer.from(id, 'hex')));
    return { made: await writePacks(git, ['--non-empty', '--delta-base-offset'], lines(ids)), whole, looseStay: false };
  } catch (error) {
    if (!isSnapError(error, 'GIT_FAILED')) throw error;
    return { made: [], whole: young.packs, looseStay: true };
  }
}

export async function tips(git: GitRunner): Promise<ObjectId[]> {
  return [...new Set((await listRefs(git, 'refs/')).map(({ oid }) => oid))];
}

export function indexesOf(directory: string, packs: readonly string[]): PackIndex[] {
  return packs.flatMap((pack) => readIndex(directory, pack) ?? []);
}

export function isIn(indexes: readonly PackIndex[], id: Buffer): boolean {
  return indexes.some((index) => index.has(id));
}

export function lines(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

/** Where refs may be lost, so may be what nothing seems to need. @throws SnapError STORE_DAMAGED */
export function refuseLostRefs(storeDirectory: string): void {
  const [problem] = packedRefsDamage(storeDirectory).problems;
  if (problem !== undefined) throw damaged(problem);
}

export function damaged(problem: string, cause?: unknown): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', `Garbage was not collected: ${problem}.`, { problem }, { cause });
}
