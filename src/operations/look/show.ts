import { type HostPath, parseEntryPath, pathFromJson } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import { type Manifest, type ManifestMount, type ObservedLine } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import type {
  MountSummary,
  ObservedOnlyEntry,
  ProtectedState,
  RepositoryState,
  ShowResult,
  StackInSnapshot,
} from '../../core/results.js';
import { mountSummary } from '../capture/capture-mounts.js';
import { summaryOfProtection, withProtection } from '../capture/protect-commits.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { stacksThen } from '../restore/rules-then.js';
import { readGitState, readManifest, readObserved } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, describeListed, know, pinned, resolveSnapshot } from '../snapshots.js';
import { describeState } from '../state/held-state.js';
import { withoutContentMessages } from '../without-content.js';

/** Everything that a snapshot says of itself. */
export async function show(context: Context, selector: string): Promise<ShowResult> {
  const { ref, siblings } = await resolveSnapshot(context, selector, () => chooseInstance(context));
  const known = know(ref);
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, known);
    const marks = { pinned: pinned(context), broken: await context.store.brokenSnapshots([ref.commit]) };
    const observedOnly: ObservedOnlyEntry[] = [];
    const mounts: MountSummary[] = [];
    for (const manifestMount of manifest.mounts) {
      const mount = manifestMount.name as MountName;
      observedOnly.push(...leftOut(mount, await readObserved(reader, known, mount)));
      mounts.push(withProtection(summaryOf(manifestMount), await protectedIn(reader, known, mount)));
    }
    const { sourceTool, phase, decision, resource } = known.record;
    const state = await describeState(context, reader, known, manifest);
    return {
      snapshot: describeListed(
        known,
        siblings.map(({ seq }) => seq),
        marks,
      ),
      mounts,
      policy: manifest.policy,
      stats: statsOf(manifest),
      observedOnly,
      stacks: manifest.mounts.flatMap((mount) => stacksIn(manifest, mount)),
      ...(state === undefined || state === 'damaged' ? {} : { state }),
      complete: manifest.complete,
      sourceTool,
      phase,
      decision,
      resource,
      meta: manifest.meta,
      messages: [
        ...withoutContentMessages(known, manifest),
        ...(state === 'damaged' ? ["What it holds of the session's state is damaged."] : []),
      ],
    };
  } finally {
    await reader.close();
    lock.release();
  }
}

async function protectedIn(
  reader: ObjectReader,
  known: KnownSnapshot,
  mount: MountName,
): Promise<ProtectedState | undefined> {
  const state = await readGitState(reader, known, mount);
  return state && summaryOfProtection(state);
}

function leftOut(mount: MountName, lines: readonly ObservedLine[]): ObservedOnlyEntry[] {
  return lines.flatMap(({ path, reason }) => {
    if (reason === 'absent') return [];
    return [{ mount, path, reason: reason === 'incomplete' ? 'unreadable' : reason }];
  });
}

function stacksIn(manifest: Manifest, mount: ManifestMount): StackInSnapshot[] {
  return stacksThen(manifest, mount).presets.map(({ name, detect, patterns }) => ({
    mount: mount.name as MountName,
    name,
    detect,
    patterns,
  }));
}

function statsOf({ stats }: Manifest): ShowResult['stats'] {
  return { filesStored: stats.files_stored, bytesStored: stats.bytes_stored, filesObserved: stats.files_observed };
}

function summaryOf(mount: ManifestMount): MountSummary {
  const nested = mount.nested.map(({ path, ...state }) => ({
    path: parseEntryPath(pathFromJson(path)),
    ...(state as RepositoryState),
  }));
  const named = { name: mount.name as MountName, path: pathFromJson(mount.path) as HostPath, kind: mount.kind, nested };
  return mountSummary(named, mount.repository as RepositoryState | null);
}
