import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectId } from '../../core/ids.js';
import { SnapError } from '../../errors.js';
import { entriesIn, namesIn } from '../names-in.js';
import type { GitRunner } from '../run-git.js';

/** The bytes that files below the directory take on the disk. */
export function bytesBelow(directory: string): number {
  let total = 0;
  for (const entry of entriesIn(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) total += bytesBelow(path);
    else total += bytesOf(path);
  }
  return total;
}

/** The bytes that a file takes on the disk; 0 where none is. */
export function bytesOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
}

/**
 * The bytes that packs and loose objects take on the disk, without what helps to find them.
 * @param since packs written after this moment, in milliseconds, are left out
 */
export function bytesOfObjects(objects: string, since?: number): number {
  const packs = namesIn(join(objects, 'pack'))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => lstatSync(join(objects, 'pack', name), { throwIfNoEntry: false }))
    .filter((stat) => stat !== undefined && stat.mtimeMs <= (since ?? Infinity));
  const loose = namesIn(objects).filter((name) => /^[0-9a-f]{2}$/.test(name));
  return (
    packs.reduce((sum, stat) => sum + (stat?.blocks ?? 0) * 512, 0) +
    loose.reduce((sum, name) => sum + bytesBelow(join(objects, name)), 0)
  );
}

/**
 * The bytes that the objects which these commits reach take as they lie in packs (each counted once, deltas as deltas)
 * or loose. One git process. @throws SnapError GIT_FAILED where one of them is missing
 */
export async function bytesReachable(git: GitRunner, commits: readonly ObjectId[]): Promise<number> {
  if (commits.length === 0) return 0;
  const input = commits.map((commit) => `${commit}\n`).join('');
  const told = await git.output({ args: ['rev-list', '--objects', '--disk-usage', '--stdin'], input });
  const bytes = Number(told.toString('latin1'));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new SnapError('INTERNAL', 'git told no size.', { what: 'git rev-list --disk-usage' });
}
