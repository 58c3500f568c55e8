import type { ObjectId } from '../../core/ids.js';
import { isSnapError } from '../../errors.js';
import { BatchReader } from '../objects.js';
import type { KnownObjects } from '../pack/known-objects.js';
import type { GitRunner } from '../run-git.js';
import { listObjects } from './content.js';
import { noteDamage, notedDamage } from './noted-damage.js';

/** What these commits need and the store lacks, and what was noted as damaged and still is: that is noted anew. */
export async function damagedObjects(git: GitRunner, commits: readonly ObjectId[]): Promise<ObjectId[]> {
  const { dataDir } = git.settings;
  const noted = await stillDamaged(git, notedDamage(dataDir));
  noteDamage(dataDir, noted);
  return [...new Set([...noted, ...(await missingBelow(git, commits))])];
}

async function stillDamaged(git: GitRunner, noted: readonly ObjectId[]): Promise<ObjectId[]> {
  const there = await stillThere(git, noted);
  if (there.length === 0) return [];
  const reader = new BatchReader(git);
  const damaged: ObjectId[] = [];
  try {
    for (const oid of there) if (!(await isSound(reader, oid))) damaged.push(oid);
    return damaged;
  } finally {
    await reader.close();
  }
}

/** What was removed since is damaged no more; if something needs it, it is missing. */
async function stillThere(git: GitRunner, noted: readonly ObjectId[]): Promise<readonly ObjectId[]> {
  if (noted.length === 0) return [];
  try {
    const ids = await listObjects(git);
    return noted.filter((oid) => ids.has(oid));
  } catch (error) {
    // Where git cannot list what there is, each is asked for.
    if (!isSnapError(error, 'GIT_FAILED')) throw error;
    return noted;
  }
}

async function isSound(reader: BatchReader, oid: ObjectId): Promise<boolean> {
  try {
    await reader.check(oid);
    return true;
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    return false;
  }
}

/** Nothing where git cannot walk them to their ends. */
async function missingBelow(git: GitRunner, commits: readonly ObjectId[]): Promise<ObjectId[]> {
  if (commits.length === 0) return [];
  const input = commits.map((commit) => `${commit}\n`).join('');
  const command = { args: ['rev-list', '--objects', '--missing=print', '--quiet', '--stdin'], input };
  const { exitCode, stdout, stderr } = await git.run(command);
  if (exitCode > 128) throw git.failure(command, exitCode, stderr);
  return (stdout.toString('latin1').match(/(?<=^\?)[0-9a-f]{40}$/gm) ?? []) as ObjectId[];
}

/** For a writer that is to write also these, which are damaged, where it comes by their content. */
export function without(known: Pick<KnownObjects, 'has'>, damaged: ReadonlySet<ObjectId>): Pick<KnownObjects, 'has'> {
  return { has: (id) => known.has(id) && !damaged.has(id.toString('hex') as ObjectId) };
}

/** For a writer that is to write these objects alone, although the store has some of them: damaged. */
export function allBut(wanted: ReadonlySet<ObjectId>): Pick<KnownObjects, 'has'> {
  return { has: (id) => !wanted.has(id.toString('hex') as ObjectId) };
}
