import { displayPath } from '../../core/entry-path.js';
import { type ObjectId } from '../../core/ids.js';
import type { Manifest } from '../../core/manifest.js';
import type { TreeEntry } from '../../core/ports.js';
import type { DiffRequest } from '../../core/requests.js';
import type { MountName } from '../../core/ids.js';
import { type CapturedMount, captureMounts } from '../capture/capture-mounts.js';
import { incompletePaths } from '../capture/incomplete.js';
import { withPresetsThatAreThere } from '../capture/stacks-in-force.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import type { MountPath } from '../path-arguments.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';
import { embeddedRecord, readManifest, readMountContent, refuseOversized, scopeOf } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, findSnapshot, know } from '../snapshots.js';
import type { MountContent } from '../snapshot-content.js';
import { withoutContentMessages } from '../without-content.js';
import { missingFrom, refuseMissing, sideOfFolders, sideOfSnapshot } from './known-paths.js';
import { limitsIn, mountNames, storedPaths } from './stored-paths.js';

/** git's diff between two snapshots, or between one and the live mounts; git's exit code. */
export async function diff(context: Context, request: DiffRequest): Promise<{ exitCode: number; messages: string[] }> {
  const from = know(await findSnapshot(context, request.from, () => chooseInstance(context)));
  const lock = await lockForReading(context);
  try {
    const limits = limitsIn(mountNames(from), request.paths ?? []);
    const gitRequest = { options: request.options ?? [], paths: storedPaths(limits), output: request.output };
    if (request.to === null) return await diffWithLive(context, from, limits, gitRequest);
    const to = know(await findSnapshot(context, request.to, () => from.ref.instance));
    await refuseOversized(context, [from.ref, to.ref]);
    if (limits.length > 0) await refuseInNeither(context, [from, to], limits);
    return { exitCode: await context.store.diff(mountsOf(from), mountsOf(to), gitRequest), messages: [] };
  } finally {
    lock.release();
  }
}

async function refuseInNeither(
  context: Context,
  [from, to]: readonly [KnownSnapshot, KnownSnapshot],
  limits: readonly MountPath[],
): Promise<void> {
  const reader = context.store.reader();
  try {
    const before = await sideOfSnapshot(context, reader, from, limits);
    if (missingFrom([before], limits).length === 0) return;
    refuseMissing([before, await sideOfSnapshot(context, reader, to, limits)], limits);
  } finally {
    await reader.close();
  }
}

function mountsOf(known: KnownSnapshot): string {
  return `${known.ref.commit}:mounts`;
}

/** The live state as trees in a scratch directory that no ref names and that is gone afterwards. */
async function diffWithLive(
  context: Context,
  from: KnownSnapshot,
  limits: readonly MountPath[],
  gitRequest: Parameters<Context['store']['diff']>[2],
): Promise<{ exitCode: number; messages: string[] }> {
  const scratch = await context.store.newScratchWriter();
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, from);
    const recorded = embeddedRecord(manifest, from);
    const record = context.registry.find(from.ref.instance) ?? recorded;
    const names = manifest.mounts.map(({ name }) => name as MountName);
    const contents = new Map<MountName, MountContent>();
    for (const name of names) contents.set(name, await readMountContent(context, reader, from, manifest, name));
    const captured = await captureMounts(context, {
      record,
      mounts: recorded.mounts.filter(({ name }) => names.includes(name)),
      policy: { ...(await withPresetsThatAreThere(context, manifest.policy)), max_total_size: null },
      writer: scratch.writer,
      full: false,
      graft: false,
      scope: (name) => scopeOf(manifest, name),
      forced: (name) => {
        const content = contents.get(name);
        return content === undefined
          ? null
          : { stored: content.entries, newRepositories: false, leftOut: content.observed.leftOut };
      },
      temporaryPrefix: pendingTemporaryPrefix(context, from.ref.instance),
    });
    if (limits.length > 0)
      refuseMissing([await sideOfSnapshot(context, reader, from, limits), sideOfFolders(captured)], limits);
    const trees: TreeEntry[] = captured.map(({ mount, captured: { tree } }) => ({
      mode: 0o40000,
      name: mount.name,
      oid: tree ?? scratch.writer.writeTree([]),
    }));
    trees.push(...(await stateAsItWas(context, from, manifest)));
    const live: ObjectId = scratch.writer.writeTree(trees);
    await scratch.writer.publish();
    const exitCode = await context.store.diff(mountsOf(from), live, gitRequest, scratch.directory);
    return { exitCode, messages: [...withoutContentMessages(from, manifest), ...notSeen(captured)] };
  } finally {
    await reader.close();
    await scratch.remove();
  }
}

/** State is not looked at: it is to show as the same, not as deleted. */
async function stateAsItWas({ store }: Context, from: KnownSnapshot, { state }: Manifest): Promise<TreeEntry[]> {
  if (state === undefined) return [];
  const found: TreeEntry[] = [];
  const passOver = (name: string, oid: ObjectId): boolean => {
    if (name === state.name) found.push({ mode: 0o40000, name, oid });
    return true;
  };
  // Only its id is wanted: nothing is listed.
  await store.listTree(mountsOf(from), passOver)[Symbol.asyncIterator]().next();
  return found;
}

/** What could not be read now shows as deleted: that has to be said. */
function notSeen(captured: readonly CapturedMount[]): string[] {
  const paths = incompletePaths(captured);
  if (paths.length === 0) return [];
  const names = paths
    .slice(0, 5)
    .map((path) => displayPath(path))
    .join(', ');
  return [`Not readable now, so that it may show as deleted (${String(paths.length)} in all): ${names}.`];
}
