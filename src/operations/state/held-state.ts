import { type EntryPath, type HostPath, pathFromJson } from '../../core/entry-path.js';
import type { StoredEntry } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import { isCredential, stateGroupOf } from '../../core/jackin/state-paths.js';
import type { Manifest, ManifestMount, ObservedLine } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import type {
  StateGroup,
  StateInSnapshot,
  StateLeftOut,
  StateLeftOutReason,
  StateSize,
} from '../../core/state/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { readMountContent, readObserved } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';

/*
 * What a snapshot holds of a session's state.
 */

/**
 * The manifest with the state as one more of its mounts, so that it is read like these.
 * @throws SnapError STATE_ABSENT, STORE_DAMAGED
 */
export function withState(manifest: Manifest): Manifest & { readonly state: ManifestMount } {
  const { state, instance, seq } = manifest;
  const snapshot = `${instance}/${String(seq)}`;
  if (state === undefined)
    throw new SnapError('STATE_ABSENT', `Snapshot ${snapshot} holds no state of a session.`, { snapshot });
  if (!manifest.mounts.some(({ name }) => name === state.name))
    return { ...manifest, state, mounts: [...manifest.mounts, state] };
  const problem = `its state has the name of a mount, ${state.name}`;
  throw new SnapError('STORE_DAMAGED', `Snapshot ${snapshot} cannot be read: ${problem}.`, { problem });
}

/** What can be said of it; undefined where none was to be stored, `damaged` where it cannot be read. */
export async function describeState(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  manifest: Manifest,
): Promise<StateInSnapshot | 'damaged' | undefined> {
  return unlessDamaged(() => describe(context, reader, known, manifest));
}

/** State that is damaged takes nobody's view of the rest. */
async function unlessDamaged<T>(read: () => Promise<T>): Promise<T | 'damaged'> {
  try {
    return await read();
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED')) throw error;
    return 'damaged';
  }
}

async function describe(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  manifest: Manifest,
): Promise<StateInSnapshot | undefined> {
  const { state_missing: reason } = manifest;
  if (manifest.state === undefined) return reason === undefined ? undefined : { stored: false, reason };
  const all = withState(manifest);
  const name = all.state.name as MountName;
  const { entries } = await readMountContent(context, reader, known, all, name);
  const leftOut = (await readObserved(reader, known, name)).flatMap(leftOutOf);
  return { stored: true, ...sizeOf(all.state, entries), contents: groupsOf(entries), leftOut };
}

/** How much of it there is; `damaged` where it cannot be read. @throws SnapError STATE_ABSENT */
export async function measureState(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  manifest: Manifest,
): Promise<StateSize | 'damaged'> {
  return unlessDamaged(async () => {
    const all = withState(manifest);
    const { entries } = await readMountContent(context, reader, known, all, all.state.name as MountName);
    return sizeOf(all.state, entries);
  });
}

function sizeOf(state: ManifestMount, entries: ReadonlyMap<EntryPath, StoredEntry>): StateSize {
  const files = filesIn(entries);
  return {
    name: state.name as MountName,
    path: pathFromJson(state.path) as HostPath,
    files: files.length,
    sizeBytes: files.reduce((total, entry) => total + bytesOf(entry), 0),
  };
}

type StoredContent = Exclude<StoredEntry, { readonly kind: 'directory' }>;

function filesIn(entries: ReadonlyMap<EntryPath, StoredEntry>): StoredContent[] {
  return [...entries.values()].filter((entry) => entry.kind !== 'directory');
}

/** A link has no size of its own, as in the counts of a snapshot. */
function bytesOf(entry: StoredContent): number {
  return entry.kind === 'file' ? entry.size : 0;
}

function groupsOf(entries: ReadonlyMap<EntryPath, StoredEntry>): StateGroup[] {
  const groups = new Map<string, StateGroup>();
  for (const entry of filesIn(entries)) {
    const { agent, kind } = stateGroupOf(entry.path) ?? { agent: 'unknown', kind: 'unknown' };
    const key = `${agent}/${kind}`;
    const { files, sizeBytes } = groups.get(key) ?? { files: 0, sizeBytes: 0 };
    groups.set(key, { agent, kind, files: files + 1, sizeBytes: sizeBytes + bytesOf(entry) });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

function leftOutOf({ path, reason, directory }: ObservedLine): StateLeftOut[] {
  if (reason === 'absent') return [];
  return [{ path, reason: reason === 'incomplete' ? 'unreadable' : reasonFor(path, reason, directory) }];
}

/** A credential is one by its name; any other secret was found by looking. */
function reasonFor(path: EntryPath, reason: Exclude<StateLeftOutReason, 'credential'>, directory: boolean) {
  const isOne = reason === 'secret' && isCredential(path, directory ? 'directory' : 'file');
  return isOne ? ('credential' as const) : reason;
}
