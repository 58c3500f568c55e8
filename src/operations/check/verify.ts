import type { EntryPath } from '../../core/entry-path.js';
import { isMountName } from '../../core/ids.js';
import { unescapeName } from '../../core/name-escape.js';
import type { ContentCheck, ContentProgress, Damage, SnapshotRef } from '../../core/ports.js';
import type { VerifyRequest } from '../../core/requests.js';
import type { CheckResult, DamagedPath, DamagedSnapshot, SnapshotPointer } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { lostStore } from '../lost-store.js';
import { standsForTooMuch } from '../snapshot-content.js';
import { knowIfReadable, pointerTo } from '../snapshots.js';
import { ReadBack } from './read-back.js';

/**
 * Whether git finds the store sound, and every snapshot is complete and readable in the way that a restore reads it.
 * `full` hashes all content again, `percent` and `maxDurationSeconds` a part of it. Where anything is wrong, each
 * snapshot that cannot be read back is named, with the paths that it lost.
 * @throws SnapError USAGE for a part that is none
 */
export async function verify(context: Context, request: VerifyRequest): Promise<CheckResult> {
  refuseOdd(request);
  if (!context.store.exists()) return withoutStore(context);
  const lock = await lockForReading(context);
  try {
    const refs = await context.store.snapshots(null);
    const unreadable = await unreadableSnapshots(context, refs, request.full ?? false);
    const found = await context.store.fsck(request.full ?? false, hashing(context));
    const content = await checkContent(context, request, unreadable.size === 0 && found.length === 0);
    const problems = [...found, ...untold(content, found)];
    const isSound = unreadable.size === 0 && problems.length === 0;
    const damaged = isSound ? [] : await damagedSnapshots(context, refs, unreadable, content);
    return { ok: isSound, snapshotsChecked: refs.length, damaged, problems, content: extentOf(content) };
  } finally {
    lock.release();
  }
}

function withoutStore(context: Context): CheckResult {
  const lost = lostStore(context);
  const problems = lost === null ? [] : [lost];
  return { ok: lost === null, snapshotsChecked: 0, damaged: [], problems, content: null };
}

function refuseOdd({ full, percent, maxDurationSeconds }: VerifyRequest): void {
  const problem =
    percent !== undefined && !(percent >= 1 && percent <= 100)
      ? `${String(percent)} is no percentage: from 1 to 100.`
      : maxDurationSeconds !== undefined && !(maxDurationSeconds > 0)
        ? `${String(maxDurationSeconds)} is no duration: more than 0 seconds.`
        : full === true && (percent ?? maxDurationSeconds) !== undefined
          ? 'All content or a part of it is hashed, not both.'
          : undefined;
  if (problem !== undefined) throw new SnapError('USAGE', problem, { what: 'part of the content' });
}

/** Those that cannot be read as a restore would, and why. */
async function unreadableSnapshots(
  context: Context,
  refs: readonly SnapshotRef[],
  full: boolean,
): Promise<Map<SnapshotRef, string>> {
  const broken = await context.store.brokenSnapshots(refs.map(({ commit }) => commit));
  const oversized = await context.store.oversizedSnapshots([...broken]);
  const unreadable = new Map<SnapshotRef, string>();
  const readBack = new ReadBack(context, full);
  try {
    for (const [at, ref] of refs.entries()) {
      await context.interruption.pause();
      const problem = oversized.has(ref.commit)
        ? `it ${standsForTooMuch}`
        : broken.has(ref.commit)
          ? 'objects are missing or damaged'
          : await readBack.problemOf(ref);
      if (problem !== null) unreadable.set(ref, problem);
      context.onProgress({ phase: 'check', files: at + 1, bytes: 0, totalFiles: refs.length, totalBytes: null });
    }
  } finally {
    await readBack.close();
  }
  return unreadable;
}

/** Null where no content was asked for. git's full check has hashed all: only damage makes us read all once more. */
async function checkContent(context: Context, request: VerifyRequest, isSound: boolean): Promise<ContentCheck | null> {
  const { full, percent, maxDurationSeconds } = request;
  const isPart = percent !== undefined || maxDurationSeconds !== undefined;
  if (!isPart && full !== true) return null;
  if (!isPart && isSound) {
    context.store.forgetDamage();
    const total = await context.store.countObjects();
    return { checked: total, total, unreadable: new Map() };
  }
  const part = isPart ? { percent: percent ?? 100, isOver: alarm(context, maxDurationSeconds) } : null;
  return context.store.checkContent(part, hashing(context));
}

function hashing(context: Context): (done: ContentProgress) => void {
  return ({ objects, bytes, of }) => {
    context.onProgress({ phase: 'verify', files: objects, bytes, totalFiles: of, totalBytes: null });
  };
}

function alarm(context: Context, seconds = Infinity): () => boolean {
  const end = context.now().getTime() + seconds * 1000;
  return () => context.now().getTime() >= end;
}

/** A line for each object that git has not told of. */
function untold(content: ContentCheck | null, told: readonly string[]): string[] {
  if (content === null || content.unreadable.size === 0) return [];
  const known = new Set(told.flatMap((line) => line.match(/\b[0-9a-f]{40}\b/g) ?? []));
  return [...content.unreadable].filter(([oid]) => !known.has(oid)).map(([, problem]) => problem);
}

async function damagedSnapshots(
  context: Context,
  refs: readonly SnapshotRef[],
  unreadable: ReadonlyMap<SnapshotRef, string>,
  content: ContentCheck | null,
): Promise<DamagedSnapshot[]> {
  const commits = refs.map(({ commit }) => commit);
  const lost = await context.store.findDamage(commits, new Set(content?.unreadable.keys()), (searched) => {
    context.onProgress({ phase: 'check', files: searched, bytes: 0, totalFiles: refs.length, totalBytes: null });
  });
  return refs.flatMap((ref) => {
    const damage = lost.get(ref.commit);
    const problem = unreadable.get(ref) ?? (damage === undefined ? undefined : 'objects are damaged');
    if (problem === undefined) return [];
    return [{ snapshot: pointerOf(ref), problem, paths: pathsOf(damage), pathsTotal: damage?.total ?? 0 }];
  });
}

function pointerOf(ref: SnapshotRef): SnapshotPointer {
  const known = knowIfReadable(ref);
  if (known !== undefined) return pointerTo(known);
  return { instance: ref.instance, seq: ref.seq, id: '0'.repeat(26) as SnapshotPointer['id'], ref: ref.ref };
}

function pathsOf(damage: Damage | undefined): DamagedPath[] {
  return (damage?.paths ?? []).map(({ path, kind }) => {
    const [top, mount = '', ...names] = path.split('/');
    return top === 'mounts' && isMountName(mount)
      ? { mount, path: names.map(nameOf).join('/') as EntryPath, kind }
      : { mount: null, path: path as EntryPath, kind };
  });
}

function nameOf(stored: string): string {
  try {
    return unescapeName(stored);
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED')) return stored;
    throw error;
  }
}

function extentOf(content: ContentCheck | null): CheckResult['content'] {
  return content === null ? null : { objectsChecked: content.checked, objectsTotal: content.total };
}
