import type { EntryPath } from '../../core/entry-path.js';
import type { Manifest } from '../../core/manifest.js';
import { unescapeName } from '../../core/name-escape.js';
import type { ObjectReader, SnapshotRef } from '../../core/ports.js';
import { type SortedSnapshots, sortSnapshots } from '../../core/remote/histories.js';
import { type AdvertisedRef, type RemoteSnapshot, snapshotOfRef, toRemote } from '../../core/remote/report.js';
import { withoutSecrets } from '../../core/remote/address.js';
import type { LeftOutOfPush, PushRequest, PushResult, RefusedSnapshot } from '../../core/remote/results.js';
import type { PushAnswer, Remote, Remotes } from '../../core/remote/remotes.js';
import { isSecret } from '../../core/secrets.js';
import { SnapError, isSnapError, isTold } from '../../errors.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { chooseInstance } from '../session/choose-instance.js';
import { readManifest } from '../snapshot-content.js';
import { type KnownSnapshot, know, resolveSnapshot } from '../snapshots.js';
import { chooseRemote } from './choose-remote.js';

/**
 * Creates the refs of snapshots at a remote that lacks them, with all that they reach. None there is ever moved or removed.
 * What the remote says that it took is looked for once more. A crash leaves some of the refs, each with all of its
 * snapshot; pushing again goes on.
 * @throws SnapError INSTANCE_NOT_FOUND, SNAPSHOT_NOT_FOUND, REMOTE_REFUSED, REMOTE_FAILED
 */
export async function push(context: Context, request: PushRequest): Promise<PushResult> {
  const remotes = await context.remotes();
  const remote = chooseRemote(context, remotes, request);
  const lock = await lockForReading(context);
  try {
    const { ours, chosen } = await choose(context, request);
    const theirs = await snapshotsAt(remotes, remote);
    const sorted = sortSnapshots(chosen.map(toRemote), ours.map(toRemote), theirs);
    const { going, leftOut } = await leaveOut(context, request, bothIn(chosen, sorted.missing));
    const answer = {
      remote: remote.address.shown,
      dryRun: request.dryRun ?? false,
      present: sorted.present,
      leftOut,
      messages: [],
    };
    if (request.dryRun === true || going.length === 0) return { ...answer, pushed: going, refused: sorted.refused };
    const { pushed, refused, messages } = await send(context, remotes, remote, going);
    return { ...answer, messages, pushed, refused: [...sorted.refused, ...refused] };
  } finally {
    lock.release();
  }
}

function bothIn(refs: readonly SnapshotRef[], wanted: SortedSnapshots['missing']): SnapshotRef[] {
  const names = new Set(wanted.map(({ ref }) => ref));
  return refs.filter(({ ref }) => names.has(ref));
}

async function choose(
  context: Context,
  { all = false, snapshots = [] }: PushRequest,
): Promise<{ ours: readonly SnapshotRef[]; chosen: readonly SnapshotRef[] }> {
  if (snapshots.length > 0) {
    const found = await Promise.all(
      snapshots.map((name) => resolveSnapshot(context, name, () => chooseInstance(context))),
    );
    const byName = new Map(found.map(({ ref }) => [ref.ref, ref]));
    return { ours: found.flatMap(({ siblings }) => siblings), chosen: [...byName.values()] };
  }
  const instance = all ? null : chooseInstance(context);
  const ours = context.store.exists() ? await context.store.snapshots(instance) : [];
  if (ours.length === 0 && instance !== null && context.registry.find(instance) === undefined)
    throw new SnapError('INSTANCE_NOT_FOUND', `There is no instance ${instance}.`, { instance });
  return { ours, chosen: ours };
}

export async function snapshotsAt(remotes: Remotes, remote: Remote): Promise<RemoteSnapshot[]> {
  return (await remotes.list(remote)).flatMap((ref) => snapshotOfRef(ref) ?? []);
}

/** What goes, and what stays for what it holds, or cannot go whole. */
async function leaveOut(
  context: Context,
  request: PushRequest,
  refs: readonly SnapshotRef[],
): Promise<{ going: RemoteSnapshot[]; leftOut: PushResult['leftOut'] }> {
  const broken = await context.store.brokenSnapshots(refs.map(({ commit }) => commit));
  const going: RemoteSnapshot[] = [];
  const leftOut: (RemoteSnapshot & { readonly reason: LeftOutOfPush })[] = [];
  const reader = context.store.reader();
  try {
    for (const [at, ref] of refs.entries()) {
      await context.interruption.pause();
      const reason = broken.has(ref.commit) ? 'damaged' : await whyLeftOut(context, reader, request, ref);
      if (reason === null) going.push(toRemote(ref));
      else leftOut.push({ ...toRemote(ref), reason });
      context.onProgress({ phase: 'check', files: at + 1, bytes: 0, totalFiles: refs.length, totalBytes: null });
    }
  } finally {
    await reader.close();
  }
  return { going, leftOut };
}

async function whyLeftOut(
  context: Context,
  reader: ObjectReader,
  { state = false, includeSecrets = false }: PushRequest,
  ref: SnapshotRef,
): Promise<LeftOutOfPush | null> {
  try {
    const known = know(ref);
    const manifest = await readManifest(reader, known);
    if (manifest.state !== undefined && !state) return 'state';
    return !includeSecrets && (await mayHoldSecrets(context, known, manifest)) ? 'secrets' : null;
  } catch (error) {
    if (isSnapError(error, 'FORMAT_UNKNOWN')) return 'unknown_format';
    if (isSnapError(error, 'STORE_DAMAGED')) return 'damaged';
    throw error;
  }
}

async function mayHoldSecrets({ store }: Context, known: KnownSnapshot, { policy }: Manifest): Promise<boolean> {
  if (policy.include_secrets) return true;
  // An emergency snapshot holds whatever its restore was to overwrite or delete.
  if (known.record.trigger !== 'emergency') return false;
  const { commit } = known.ref;
  for await (const { path, type, mode } of store.listTree(`${commit}:mounts`)) {
    const names = path.split('/').slice(1).map(unescapeName);
    const kind = mode === 0o120000 ? 'symlink' : 'file';
    if (type === 'blob' && names.length > 0 && isSecret(names.join('/') as EntryPath, kind)) return true;
  }
  return false;
}

async function send(
  { onProgress }: Pick<Context, 'onProgress'>,
  remotes: Remotes,
  remote: Remote,
  going: readonly RemoteSnapshot[],
): Promise<{ pushed: RemoteSnapshot[]; refused: RefusedSnapshot[]; messages: readonly string[] }> {
  const answer = await remotes.push(remote, going.map(toRef), ({ objects, totalObjects, bytes }) => {
    onProgress({ phase: 'push', files: objects, bytes, totalFiles: totalObjects, totalBytes: null });
  });
  if (answer.failure !== null && answer.refs.size === 0) throw answer.failure;
  const { there, messages } = await lookAgain(remotes, remote);
  const pushed: RemoteSnapshot[] = [];
  const refused: RefusedSnapshot[] = [];
  for (const snapshot of going) {
    const detail = whyRejected(answer, snapshot, there);
    if (detail === null) pushed.push(snapshot);
    else refused.push({ ...snapshot, reason: 'rejected', detail: withoutSecrets(detail, remote.address) });
  }
  return { pushed, refused, messages };
}

/** What is there now, or why that is not known: no reason to keep back what the remote said. */
async function lookAgain(
  remotes: Remotes,
  remote: Remote,
): Promise<{ readonly there: ReadonlyMap<string, string> | null; readonly messages: readonly string[] }> {
  try {
    const there = new Map((await snapshotsAt(remotes, remote)).map(({ ref, commit }) => [ref, commit]));
    return { there, messages: [] };
  } catch (error) {
    if (!isTold(error)) throw error;
    const message = `What the remote took was not looked for there once more: ${withoutSecrets(error.message, remote.address)}`;
    return { there: null, messages: [message] };
  }
}

function toRef({ ref, commit }: RemoteSnapshot): AdvertisedRef {
  return { name: ref, oid: commit };
}

/** Null for a snapshot that is at the remote now. */
function whyRejected(
  { refs, failure }: PushAnswer,
  { ref, commit }: RemoteSnapshot,
  there: ReadonlyMap<string, string> | null,
): string | null {
  const said = refs.get(ref);
  if (said === undefined) return failure?.message ?? 'the remote said nothing of it';
  if (said.outcome === 'rejected') return said.said;
  if (there === null || there.get(ref) === commit) return null;
  return 'the remote took it, and does not have it';
}
