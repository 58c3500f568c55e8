import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../core/ids.js';
import { SnapError, systemCode } from '../errors.js';
import { makeDirectoryDurably, writeCache } from '../fs/durable.js';
import { NewObjects } from './new-objects.js';
import type { BatchReader } from './objects.js';
import { KnownObjects } from './pack/known-objects.js';
import type { GitRunner } from './run-git.js';
import { namesIn } from './names-in.js';

/**
 * Fails with STORE_DAMAGED unless every object that the commits reach is there. What `known` commits reach is not
 * walked again where those are remembered as intact; otherwise all is. A success is remembered (see `brokenSnapshots`).
 */
export async function checkConnected(
  git: GitRunner,
  commits: readonly ObjectId[],
  known: readonly ObjectId[],
  reader: BatchReader,
): Promise<void> {
  const before = objectStoreState(git.settings.storeDirectory);
  const intact = intactCommits(git, before);
  // What is built on a snapshot that was never checked, or has lost something since, proves nothing.
  const believed = known.filter((commit) => intact.has(commit));
  if (believed.length > 0) await checkBeside(git, commits, believed, reader);
  else if (!(await areComplete(git, commits))) throw incomplete(commits.join(', '));
  rememberIntact(git, before, commits);
}

/** Notes commits that were just found intact, after garbage was collected and their packs have other names. */
export function rememberAfterCollection(git: GitRunner, commits: readonly ObjectId[]): void {
  rememberIntact(git, objectStoreState(git.settings.storeDirectory), commits);
}

/** What was found intact still is after an act that takes no object from the store, though packs go. */
export function keepingIntact(git: GitRunner, act: () => void): void {
  const intact = intactCommits(git, objectStoreState(git.settings.storeDirectory));
  act();
  rememberIntact(git, objectStoreState(git.settings.storeDirectory), [...intact] as ObjectId[]);
}

async function checkBeside(
  git: GitRunner,
  commits: readonly ObjectId[],
  known: readonly ObjectId[],
  reader: BatchReader,
): Promise<void> {
  const objects = new NewObjects(reader, new KnownObjects(join(git.settings.storeDirectory, 'objects')));
  for (const commit of commits) {
    const missing = await objects.missingBelow(commit, known);
    if (missing !== undefined) throw incomplete(missing);
  }
}

function incomplete(what: string): SnapError<'STORE_DAMAGED'> {
  const problem = `an object is missing: ${what}`;
  return new SnapError('STORE_DAMAGED', `The store lacks an object that the snapshot needs (${what}).`, { problem });
}

/**
 * The commits among these that miss an object. What was found intact is not looked at again while nothing was taken
 * from the object store: packs that were added since change nothing, a pack or loose object that is gone does.
 */
export async function brokenSnapshots(git: GitRunner, commits: readonly ObjectId[]): Promise<Set<ObjectId>> {
  const state = objectStoreState(git.settings.storeDirectory);
  const intact = intactCommits(git, state);
  const unknown = commits.filter((commit) => !intact.has(commit));
  const broken = new Set(await brokenAmong(git, unknown));
  if (unknown.length > broken.size)
    rememberIntact(
      git,
      state,
      unknown.filter((commit) => !broken.has(commit)),
    );
  return broken;
}

/** All at once; where something is missing, half by half. */
async function brokenAmong(git: GitRunner, commits: readonly ObjectId[]): Promise<readonly ObjectId[]> {
  if (commits.length === 0 || (await areComplete(git, commits))) return [];
  if (commits.length === 1) return commits;
  const middle = commits.length >>> 1;
  return [...(await brokenAmong(git, commits.slice(0, middle))), ...(await brokenAmong(git, commits.slice(middle)))];
}

async function areComplete(git: GitRunner, commits: readonly ObjectId[]): Promise<boolean> {
  const input = commits.map((commit) => `${commit}\n`).join('');
  const command = { args: ['rev-list', '--objects', '--missing=print', '--quiet', '--stdin'], input };
  const { exitCode, stdout, stderr } = await git.run(command);
  // 128 is how git fails over what it reads; beyond, it was stopped and has not looked.
  if (exitCode > 128) throw git.failure(command, exitCode, stderr);
  return exitCode === 0 && stdout.length === 0;
}

/** Where objects lie: packs by name, size and time; loose ones by the times of their directories. */
type ObjectStoreState = Readonly<Record<string, string>>;

interface Verified {
  readonly state: ObjectStoreState;
  readonly intact: readonly string[];
}

function intactCommits(git: GitRunner, present: ObjectStoreState): ReadonlySet<string> {
  const verified = readVerified(recordPath(git));
  return new Set(verified !== undefined && stillHolds(verified.state, present) ? verified.intact : []);
}

function stillHolds(then: ObjectStoreState, now: ObjectStoreState): boolean {
  return Object.entries(then).every(([place, state]) => now[place] === state);
}

/**
 * `state` is how things were before the check. A record that two processes write at once loses one's findings; that
 * costs a check and is never wrong.
 */
function rememberIntact(git: GitRunner, state: ObjectStoreState, commits: readonly ObjectId[]): void {
  const earlier = intactCommits(git, state);
  const verified: Verified = { state, intact: [...new Set([...earlier, ...commits])] };
  try {
    makeDirectoryDurably(join(git.settings.dataDir, 'cache'));
    writeCache(recordPath(git), JSON.stringify(verified));
  } catch (error) {
    // A cache: without it the next check takes longer.
    if (!(error instanceof SnapError) && systemCode(error) === undefined) throw error;
  }
}

function recordPath(git: GitRunner): string {
  return join(git.settings.dataDir, 'cache', 'verified.json');
}

function readVerified(path: string): Verified | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isVerified(value) ? value : undefined;
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function isVerified(value: unknown): value is Verified {
  if (typeof value !== 'object' || value === null || !('state' in value) || !('intact' in value)) return false;
  return typeof value.state === 'object' && value.state !== null && Array.isArray(value.intact);
}

function objectStoreState(storeDirectory: string): ObjectStoreState {
  const objects = join(storeDirectory, 'objects');
  const state: Record<string, string> = {};
  for (const name of namesIn(join(objects, 'pack'))) {
    if (name.endsWith('.pack') || name.endsWith('.idx')) noteState(state, objects, `pack/${name}`);
  }
  for (const name of namesIn(objects)) if (/^[0-9a-f]{2}$/.test(name)) noteState(state, objects, name);
  return state;
}

function noteState(state: Record<string, string>, objects: string, place: string): void {
  const stat = lstatSync(join(objects, place), { bigint: true, throwIfNoEntry: false });
  if (stat !== undefined) state[place] = `${String(stat.size)} ${String(stat.mtimeNs)} ${String(stat.ino)}`;
}
