import { type HostPath, displayPath, hostPathBelow } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import { recordFromJson } from '../../core/instance-record.js';
import { defaultPolicy } from '../../core/policy.js';
import type { ObjectReader } from '../../core/ports.js';
import type { DrillRequest } from '../../core/requests.js';
import type { DrillResult, KeptPath } from '../../core/results.js';
import { type Kept, planRestore } from '../../core/restore-plan.js';
import { SnapError } from '../../errors.js';
import { captureMounts } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { restoreElsewhereLocked } from '../restore/restore-elsewhere.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type MountContent, readManifest, readMountContent } from '../snapshot-content.js';
import { type KnownSnapshot, know, pointerTo, resolveSnapshot } from '../snapshots.js';
import { inPrivateFolder, sweepDrills } from './drill-folder.js';

/**
 * Restores a snapshot into a new folder, reads all of that back from the disk, compares it with the snapshot, and
 * removes the folder: what a restore would bring is then known, not believed. The mounts are not looked at.
 *
 * @throws SnapError NO_SPACE, STORE_DAMAGED for a snapshot that cannot be read so far
 */
export async function drill(context: Context, request: DrillRequest): Promise<DrillResult> {
  const known = know((await resolveSnapshot(context, request.snapshot, () => chooseInstance(context))).ref);
  const parent = context.host.realPath(request.in);
  if (parent === undefined) {
    const path = displayPath(request.in);
    throw new SnapError('USAGE', `${path} is no folder to write into.`, { what: 'destination' });
  }
  await sweepDrills(context);
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    return await inPrivateFolder(context, parent, (folder) =>
      drillIn(context, known, hostPathBelow(folder, 'restored'), reader),
    );
  } finally {
    lock.release();
    await reader.close();
  }
}

async function drillIn(
  context: Context,
  known: KnownSnapshot,
  folder: HostPath,
  reader: ObjectReader,
): Promise<DrillResult> {
  const contents = await readContents(context, known, reader);
  refuseLackOfSpace(context, folder, contents);
  const request = { snapshot: known.ref.ref, confirm: () => Promise.resolve(true) };
  const written = await restoreElsewhereLocked(context, request, known, folder, reader);
  const differences = [...written.failed];
  for (const content of contents) {
    const path = contents.length === 1 ? folder : hostPathBelow(folder, content.name);
    const found = await compare(context, known, content, path);
    differences.push(...found.map(({ path: at, reason }): KeptPath => ({ mount: content.name, path: at, reason })));
  }
  return {
    snapshot: pointerTo(known),
    ok: differences.length === 0,
    files: written.filesAffected,
    bytes: written.bytesWritten,
    differences,
    messages: written.messages,
  };
}

async function readContents(context: Context, known: KnownSnapshot, reader: ObjectReader): Promise<MountContent[]> {
  const manifest = await readManifest(reader, known);
  const contents: MountContent[] = [];
  for (const { name } of manifest.mounts)
    contents.push(await readMountContent(context, reader, known, manifest, name as MountName));
  return contents;
}

function refuseLackOfSpace(context: Context, folder: HostPath, contents: readonly MountContent[]): void {
  let needed = 0;
  for (const { entries } of contents)
    for (const entry of entries.values()) if (entry.kind === 'file') needed += entry.dataBytes ?? entry.size;
  const parent = folder.slice(0, folder.lastIndexOf('/')) || '/';
  if (needed <= context.host.freeBytes(parent as HostPath)) return;
  throw new SnapError('NO_SPACE', 'There is no space left for a restore of the snapshot beside it.', { path: parent });
}

/** What a restore into the folder would still have to change. */
async function compare(context: Context, known: KnownSnapshot, content: MountContent, path: HostPath): Promise<Kept[]> {
  const identity = context.host.identity(path) ?? { dev: 0n, ino: 0n };
  const mount = { name: content.name, path, dev: identity.dev, ino: identity.ino };
  const [live] = await captureMounts(context, {
    record: { ...recordOf(known, content), mounts: [mount] },
    mounts: [mount],
    policy: { ...everything, exclude: [], include: [] },
    writer: context.hasher,
    full: true,
    graft: false,
    scope: () => null,
    forced: () => ({ stored: content.entries, newRepositories: true }),
    temporaryPrefix: null,
  });
  if (live === undefined) return [];
  const plan = planRestore({
    wanted: content.entries,
    observedThen: content.observed,
    live: live.captured.entries,
    liveLeftOut: new Map(live.captured.leftOut.map((line) => [line.path, line.reason])),
    sharedElsewhere: () => false,
    scope: null,
    noDelete: false,
    deleteNewRepositories: true,
    returned: new Map(),
    protection: () => null,
    // Whose files they are only a privileged user decides; that they could not be set is said.
    maySetOwner: () => false,
  });
  // What could not be read back is not known to be right.
  return [...plan.changes, ...plan.blocked];
}

const everything = {
  ...defaultPolicy,
  gitignore: false,
  stacks: false,
  include_secrets: true,
  max_file_size: Number.MAX_SAFE_INTEGER,
};

function recordOf({ ref }: KnownSnapshot, content: MountContent) {
  return recordFromJson({
    format: '1',
    name: ref.instance,
    created_at: new Date(0).toISOString(),
    state: 'open',
    mounts: [{ name: content.name, path: content.manifest.path, device: '0', inode: '0' }],
    policy: {},
  });
}
