import { type HostPath, parseEntryPath, pathFromJson } from '../../core/entry-path.js';
import type { MountName, ObjectId } from '../../core/ids.js';
import { type Manifest, type ManifestMount, type ObservedLine } from '../../core/manifest.js';
import type { MountSummary, ObservedOnlyEntry, RepositoryState, ShowResult } from '../../core/results.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { readManifest, readObserved } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { describeListed, know, pinned, resolveSnapshot } from '../snapshots.js';

/** Everything that a snapshot says of itself. */
export async function show(context: Context, selector: string): Promise<ShowResult> {
  const { ref, siblings } = await resolveSnapshot(context, selector, () => chooseInstance(context));
  const known = know(ref);
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, known);
    const marks = { pinned: await pinned(context), broken: await context.store.brokenSnapshots([ref.commit]) };
    const observedOnly: ObservedOnlyEntry[] = [];
    for (const { name } of manifest.mounts) {
      const mount = name as MountName;
      observedOnly.push(...leftOut(mount, await readObserved(reader, known, mount)));
    }
    const { sourceTool, phase, decision, resource } = known.record;
    return {
      snapshot: describeListed(known, siblings, marks),
      mounts: manifest.mounts.map(mountSummary),
      policy: manifest.policy,
      stats: statsOf(manifest),
      observedOnly,
      complete: manifest.complete,
      sourceTool,
      phase,
      decision,
      resource,
      meta: manifest.meta,
      messages: [],
    };
  } finally {
    await reader.close();
    lock.release();
  }
}

function leftOut(mount: MountName, lines: readonly ObservedLine[]): ObservedOnlyEntry[] {
  return lines.flatMap(({ path, reason }) => {
    if (reason === 'absent') return [];
    return [{ mount, path, reason: reason === 'incomplete' ? 'unreadable' : reason }];
  });
}

function statsOf({ stats }: Manifest): ShowResult['stats'] {
  return { filesStored: stats.files_stored, bytesStored: stats.bytes_stored, filesObserved: stats.files_observed };
}

function mountSummary(mount: ManifestMount): MountSummary {
  const repository = mount.repository;
  return {
    name: mount.name as MountName,
    path: pathFromJson(mount.path) as HostPath,
    kind: mount.kind,
    baseCommit: (repository?.head ?? null) as ObjectId | null,
    branch: repository?.branch ?? null,
    dirty: repository?.dirty ?? null,
    upstream: repository?.upstream ?? null,
    operation: repository?.operation ?? null,
    unknown: repository?.unknown ?? [],
    nested: mount.nested.map(({ path, ...state }) => ({
      path: parseEntryPath(pathFromJson(path)),
      ...(state as RepositoryState),
    })),
  };
}
