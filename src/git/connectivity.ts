import { join } from 'node:path';

import type { ObjectId } from '../core/ids.js';
import { SnapError } from '../errors.js';
import { IntactCommits } from './intact-commits.js';
import { NewObjects } from './new-objects.js';
import { BatchReader } from './objects.js';
import { KnownObjects } from './pack/known-objects.js';
import type { GitRunner } from './run-git.js';
import { oversizedAmong } from './tree-sizes.js';

/**
 * Fails with STORE_DAMAGED unless every object that the commits reach is there. What `known` commits reach is not
 * walked again where those are remembered as intact; otherwise all is. A success is remembered (see `brokenSnapshots`).
 */
export async function checkConnected(
  { git, intact, reader }: { readonly git: GitRunner; readonly intact: IntactCommits; readonly reader: BatchReader },
  commits: readonly ObjectId[],
  known: readonly ObjectId[],
): Promise<void> {
  const before = intact.state();
  const found = intact.known(before);
  // What is built on a snapshot that was never checked, or has lost something since, proves nothing.
  const believed = known.filter((commit) => found.has(commit));
  if (believed.length > 0) await checkBeside(git, commits, believed, reader);
  else if (!(await areComplete(git, commits))) throw incomplete(commits.join(', '));
  intact.add(before, commits);
}

/**
 * Notes commits that were just found intact, after garbage was collected and their packs have other names. `before` are
 * those that were known to be; of the others only that all of them is there was found.
 */
export async function rememberAfterCollection(
  git: GitRunner,
  commits: readonly ObjectId[],
  before: ReadonlySet<string>,
): Promise<void> {
  const intact = new IntactCommits(git.settings);
  const state = intact.state();
  const oversized = await oversizedIn(
    git,
    commits.filter((commit) => !before.has(commit)),
  );
  intact.add(
    state,
    commits.filter((commit) => !oversized.has(commit)),
  );
}

/** The commits that are known to be intact, by what was found earlier. */
export function knownIntact(git: GitRunner): ReadonlySet<string> {
  const intact = new IntactCommits(git.settings);
  return intact.known(intact.state());
}

/** Whatever was found of them before. */
export async function oversizedIn(git: GitRunner, commits: readonly ObjectId[]): Promise<Set<ObjectId>> {
  if (commits.length === 0) return new Set();
  const reader = new BatchReader(git);
  try {
    return await oversizedAmong(reader, commits);
  } finally {
    await reader.close();
  }
}

/** What was found intact still is after an act that takes no object from the store, though packs go. */
export function keepingIntact(git: GitRunner, act: () => void): void {
  const intact = new IntactCommits(git.settings);
  const commits = [...intact.known(intact.state())] as ObjectId[];
  act();
  intact.add(intact.state(), commits);
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
 * The commits among these that miss an object, or stand for more files than a snapshot can hold. What was found intact is
 * not looked at again while nothing was taken from the object store: packs that were added since change nothing, a pack or
 * loose object that is gone does.
 */
export async function brokenSnapshots(
  git: GitRunner,
  intact: IntactCommits,
  commits: readonly ObjectId[],
): Promise<Set<ObjectId>> {
  const state = intact.state();
  const known = intact.known(state);
  const unknown = commits.filter((commit) => !known.has(commit));
  if (unknown.length === 0) return new Set();
  const broken = new Set(await brokenAmong(git, unknown));
  const whole = unknown.filter((commit) => !broken.has(commit));
  const oversized = await oversizedIn(git, whole);
  const found = whole.filter((commit) => !oversized.has(commit));
  if (found.length > 0) intact.add(state, found);
  return new Set([...broken, ...oversized]);
}

/** Those that stand for more files than a snapshot can hold. What was found intact is none and is not looked at again. */
export async function oversizedSnapshots(
  git: GitRunner,
  intact: IntactCommits,
  commits: readonly ObjectId[],
): Promise<Set<ObjectId>> {
  const known = intact.known(intact.state());
  return oversizedIn(
    git,
    commits.filter((commit) => !known.has(commit)),
  );
}

/** Those that miss an object: all at once; where something is missing, half by half. */
export async function brokenAmong(git: GitRunner, commits: readonly ObjectId[]): Promise<readonly ObjectId[]> {
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
