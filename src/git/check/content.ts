import type { Buffer } from 'node:buffer';

import type { ObjectId } from '../../core/ids.js';
import type { ContentCheck, ContentPart, ContentProgress } from '../../core/ports.js';
import { isSnapError } from '../../errors.js';
import { BatchReader } from '../objects.js';
import type { GitCommand, GitRunner } from '../run-git.js';
import { readCursor, writeCursor } from './cursor.js';
import { noteDamage, notedDamage } from './noted-damage.js';
import { ObjectIds } from './object-ids.js';

/** How many objects git is asked for ahead. */
const askedAhead = 256;

/**
 * Reads objects by their ids, in the order of these, and holds their content against them. A part begins after the
 * object that the part before it ended with, and goes on at the first one after the last. What is damaged is noted; what
 * was noted before stays so until it is read once more, or is gone from the store.
 */
export async function checkContent(
  git: GitRunner,
  part: ContentPart | null,
  onChecked: (done: ContentProgress) => void,
): Promise<ContentCheck> {
  const ids = await listObjects(git);
  const start = part === null ? 0 : ids.countUpTo(readCursor(git) ?? '');
  const of = part === null ? ids.size : Math.ceil((ids.size * part.percent) / 100);
  const unreadable = new Map<ObjectId, string>();
  const noted = new Set(notedDamage(git.settings.dataDir).filter((oid) => ids.has(oid)));
  const reader = new BatchReader(git);
  let [checked, bytes] = [0, 0];
  const at = (count: number): ObjectId => ids.at((start + count) % ids.size);
  try {
    while (checked < of) {
      if (checked % askedAhead === 0) reader.expect(range(checked, Math.min(checked + askedAhead, of)).map(at));
      const oid = at(checked);
      bytes += await sizeOf(reader, oid, unreadable);
      noted.delete(oid);
      checked += 1;
      onChecked({ objects: checked, bytes, of });
      if (part?.isOver() === true) break;
    }
  } finally {
    if (part !== null && checked > 0) writeCursor(git, at(checked - 1));
    noteDamage(git.settings.dataDir, [...noted, ...unreadable.keys()]);
    await reader.close();
  }
  return { checked, total: ids.size, unreadable };
}

async function sizeOf(reader: BatchReader, oid: ObjectId, unreadable: Map<ObjectId, string>): Promise<number> {
  try {
    return await reader.check(oid);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    unreadable.set(oid, error.data.problem);
    return 0;
  }
}

/** All that is in packs and loose, damaged or not: git goes by indexes and names. */
export async function listObjects(git: GitRunner): Promise<ObjectIds> {
  const command: GitCommand = { args: ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)', '--buffer'] };
  const running = await git.start(command);
  const ids = new ObjectIds();
  let rest = '';
  for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) ids.add(line as ObjectId);
  }
  const { exitCode, stderr } = await running.end;
  if (exitCode !== 0 || rest !== '') throw git.failure(command, exitCode, stderr);
  return ids;
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, offset) => start + offset);
}
