import type { InstanceName } from '../../core/ids.js';
import type { SnapshotRef } from '../../core/ports.js';
import { sortSnapshots } from '../../core/remote/histories.js';
import { type RemoteSnapshot, snapshotOfRef, toRemote } from '../../core/remote/report.js';
import type { FetchRequest, FetchResult, RefusedSnapshot } from '../../core/remote/results.js';
import type { Remote, Remotes } from '../../core/remote/remotes.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading, lockForSnapshot, sweepIfAlone } from '../locking.js';
import { noteLostStore } from '../lost-store.js';
import { chooseInstance } from '../session/choose-instance.js';
import { isFetched } from '../snapshots.js';
import { addSnapshots } from './add-snapshots.js';
import { chooseRemote } from './choose-remote.js';
import { examine } from './examine.js';

/** So many refs of a remote are borne. */
const refsAtMost = 100_000;
/** A number beyond leaves no numbers for saves. */
const seqAtMost = 1_000_000_000;
const usualBytes = 10 * 1024 ** 3;

/**
 * Brings snapshots of a remote that are not here, after all of what came was checked. None that is here is changed. Killed
 * anywhere, each instance has its old snapshots or these too; what came in vain is garbage.
 * @throws SnapError REMOTE_REFUSED, REMOTE_FAILED, REMOTE_TOO_LARGE, NO_SPACE, BUSY
 */
export async function fetchSnapshots(context: Context, request: FetchRequest): Promise<FetchResult> {
  const remotes = await context.remotes();
  const remote = chooseRemote(context, remotes, request);
  const instance = request.all === true ? null : instanceToFetch(context);
  const { theirs, messages } = await listed(remotes, remote, instance);
  const { missing, present, refused } = sortSnapshots(theirs, theirs, await snapshotsHere(context, instance));
  const answer = { remote: remote.address.shown, dryRun: request.dryRun ?? false, present, messages };
  if (request.dryRun === true || missing.length === 0) return { ...answer, fetched: missing, refused };
  const source = { remotes, remote, maxBytes: request.maxBytes ?? usualBytes };
  const related = new Set(present.map((snapshot) => snapshot.instance));
  const lost = noteLostStore(context);
  const taken = await takeIn(context, source, { wanted: missing, related });
  const published = await publish(context, taken.accepted);
  return {
    ...answer,
    messages: [...lost, ...messages],
    present: [...present, ...published.present],
    fetched: published.fetched,
    refused: [...refused, ...taken.refused, ...published.refused],
  };
}

/** @throws SnapError INSTANCE_NOT_FOUND that says what else may be meant: here there may be no instance yet */
function instanceToFetch(context: Context): InstanceName {
  try {
    return chooseInstance(context);
  } catch (error) {
    if (!isSnapError(error, 'INSTANCE_NOT_FOUND')) throw error;
    const message = `${error.message} Name one with -i, or fetch --all.`;
    throw new SnapError('INSTANCE_NOT_FOUND', message, error.data, { cause: error });
  }
}

async function snapshotsHere({ store }: Context, instance: InstanceName | null): Promise<SnapshotRef[]> {
  return store.exists() ? store.snapshots(instance) : [];
}

async function listed(
  remotes: Remotes,
  remote: Remote,
  instance: InstanceName | null,
): Promise<{ theirs: RemoteSnapshot[]; messages: string[] }> {
  const refs = await remotes.list(remote);
  const { shown } = remote.address;
  if (refs.length > refsAtMost) {
    const message = `The remote ${JSON.stringify(shown)} has ${String(refs.length)} refs, and ${String(refsAtMost)} are borne.`;
    throw new SnapError('REMOTE_TOO_LARGE', message, { remote: shown, limit: refsAtMost, what: 'refs' });
  }
  const snapshots = refs.flatMap((ref) => snapshotOfRef(ref) ?? []).filter(({ seq }) => seq <= seqAtMost);
  const odd = refs.length - snapshots.length;
  const theirs = snapshots
    .filter((snapshot) => instance === null || snapshot.instance === instance)
    .sort((a, b) => a.seq - b.seq);
  return {
    theirs,
    messages: [
      ...(odd === 0
        ? []
        : [`The remote has ${String(odd)} refs below refs/jackin with names or numbers that no snapshot has.`]),
      ...(theirs.length > 0 ? [] : [`The remote has no snapshots${instance === null ? '' : ` of ${instance}`}.`]),
    ],
  };
}

interface Source {
  readonly remotes: Remotes;
  readonly remote: Remote;
  readonly maxBytes: number;
}

/** Objects of what is accepted become part of the store. The lock keeps away who would sweep what has just come. */
async function takeIn(
  context: Context,
  { remotes, remote, maxBytes }: Source,
  asked: Parameters<typeof examine>[2],
): Promise<{ accepted: SnapshotRef[]; refused: RefusedSnapshot[] }> {
  await context.store.prepare();
  await sweepIfAlone(context);
  const lock = await lockForReading(context);
  try {
    const names = asked.wanted.map(({ ref }) => ref);
    const onBytes = (bytes: number): void => {
      context.onProgress({ phase: 'fetch', files: 0, bytes, totalFiles: null, totalBytes: null });
    };
    const quarantine = await remotes.fetch(remote, names, { bytes: maxBytes, onBytes });
    try {
      const examined = await examine(context, quarantine, asked);
      if (examined.accepted.length > 0) await quarantine.adopt(examined.accepted.map(({ commit }) => commit));
      return examined;
    } finally {
      quarantine.remove();
    }
  } finally {
    lock.release();
  }
}

interface Published {
  readonly fetched: RemoteSnapshot[];
  readonly present: RemoteSnapshot[];
  readonly refused: RefusedSnapshot[];
}

async function publish(context: Context, accepted: readonly SnapshotRef[]): Promise<Published> {
  const published: Published = { fetched: [], present: [], refused: [] };
  for (const instance of new Set(accepted.map((ref) => ref.instance))) {
    const own = accepted.filter((ref) => ref.instance === instance);
    const { fetched, present, refused } = await publishInstance(context, instance, own);
    published.fetched.push(...fetched);
    published.present.push(...present);
    published.refused.push(...refused);
  }
  return published;
}

/** In one transaction. What was used by others meanwhile is theirs. */
async function publishInstance(
  context: Context,
  instance: InstanceName,
  accepted: readonly SnapshotRef[],
): Promise<Published> {
  const locks = await lockForSnapshot(context, instance);
  try {
    const here = await context.store.snapshots(instance);
    const { missing, present, refused } = sortSnapshots(accepted.map(toRemote), accepted.map(toRemote), here);
    const names = new Set(missing.map(({ ref }) => ref));
    const added = accepted.filter(({ ref }) => names.has(ref));
    if (added.length > 0) {
      // Before the refs: else a crash would leave somebody else's snapshots as ours.
      const before = context.registry.fetched(instance);
      context.registry.recordFetched(instance, [...here.filter((ref) => isFetched(ref, before)), ...added]);
      await name(context, here, added);
    }
    return { fetched: [...missing], present: [...present], refused: [...refused] };
  } finally {
    locks.release();
  }
}

async function name(context: Context, here: readonly SnapshotRef[], added: readonly SnapshotRef[]): Promise<void> {
  // Since the objects came, others may have removed what they rest on.
  await context.store.checkConnected(
    added.map(({ commit }) => commit),
    [],
  );
  const all = [...here, ...added].sort((a, b) => a.seq - b.seq);
  try {
    await addSnapshots(context, all, added);
  } catch (error) {
    if (!isSnapError(error, 'BUSY')) throw error;
    // A git that was killed may have left its locks on these refs; nobody else uses them.
    context.store.dropRefLocks(added.map(({ ref }) => ref));
    await addSnapshots(context, all, added);
  }
}
