import { type EntryPath, isWithin } from '../../core/entry-path.js';
import type { LeftOutReason } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import type { SnapError } from '../../errors.js';
import type { CapturedMount } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { pathNotFound } from '../not-stored.js';
import type { MountPath } from '../path-arguments.js';
import { readManifest, readMountContent } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';

/** One side of a comparison: where a path may be found. */
export interface Side {
  readonly called: string;
  readonly mounts: ReadonlyMap<MountName, MountPlace>;
}

interface MountPlace {
  readonly has: (path: EntryPath) => boolean;
  readonly leftOutAt: (path: EntryPath) => LeftOutReason | undefined;
}

/** The mounts of a snapshot in which any of the paths could lie. */
export async function sideOfSnapshot(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  paths: readonly MountPath[],
): Promise<Side> {
  const manifest = await readManifest(reader, known);
  const mounts = new Map<MountName, MountPlace>();
  for (const { name } of known.record.mounts.filter((mount) => paths.some((path) => path.mount === mount.name))) {
    const { entries, observed } = await readMountContent(context, reader, known, manifest, name);
    mounts.set(name, { has: (path) => entries.has(path), leftOutAt: (path) => observed.leftOutAt(path) });
  }
  return { called: `snapshot ${String(known.ref.seq)}`, mounts };
}

export function sideOfFolders(captured: readonly CapturedMount[]): Side {
  const places = captured.map(({ mount, captured: { entries, leftOut } }) => {
    const leftOutAt = (path: EntryPath): LeftOutReason | undefined =>
      leftOut.find((entry) => isWithin(path, entry.path))?.reason;
    return [mount.name, { has: (path: EntryPath) => entries.has(path), leftOutAt }] as const;
  });
  return { called: 'the folder as it is now', mounts: new Map(places) };
}

/** The paths that none of the sides has. */
export function missingFrom(sides: readonly Side[], paths: readonly MountPath[]): MountPath[] {
  return paths.filter(({ mount, path }) => !sides.some(({ mounts }) => mounts.get(mount)?.has(path)));
}

/** A path that is nowhere shows nothing, which looks as if it had not changed: that has to be said. */
export function notFound({ mount, path }: MountPath, sides: readonly Side[], nowhere: string): SnapError {
  const reason = sides.map(({ mounts }) => mounts.get(mount)?.leftOutAt(path)).find((found) => found !== undefined);
  return pathNotFound(mount, path, reason, nowhere);
}

/** @throws SnapError PATH_NOT_FOUND for a path that neither side has */
export function refuseMissing(sides: readonly [Side, Side], paths: readonly MountPath[]): void {
  const [missing] = missingFrom(sides, paths);
  if (missing === undefined) return;
  throw notFound(missing, sides, `is neither in ${sides[0].called} nor in ${sides[1].called}`);
}
