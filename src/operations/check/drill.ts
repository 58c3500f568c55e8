import { type HostPath, displayPath, hostPathBelow } from '../../core/entry-path.js';
import type { MountName } from '../../core/ids.js';
import { recordFromJson } from '../../core/instance-record.js';
import { defaultPolicy } from '../../core/policy.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { DrillRequest } from '../../core/requests.js';
import type { DrillResult, KeptPath } from '../../core/results.js';
import { type Kept, planRestore } from '../../core/restore-plan.js';
import { SnapError } from '../../errors.js';
import { captureMounts } from '../capture/capture-mounts.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { refuseOurs, restoreElsewhere } from '../restore/restore-elsewhere.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type MountContent, readManifest, readMountContent } from '../snapshot-content.js';
import { type KnownSnapshot, know, pointerTo, resolveSnapshot } from '../snapshots.js';

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

/** For nobody else to enter, whatever the modes of what is restored in it. Gone at the end. */
async function inPrivateFolder<Result>(
  context: Context,
  parent: HostPath,
  act: (folder: HostPath) => Promise<Result>,
): Promise<Result> {
  const name = `jackin-snap-drill-${context.newId()}`;
  const folder = hostPathBelow(parent, name);
  refuseOurs(context, folder);
  context.host.makeDirectory(folder);
  try {
    return await act(folder);
  } finally {
    removeFolder(context, parent, name);
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
  const written = await restoreElsewhere(
    context,
    { snapshot: known.ref.ref, confirm: () => Promise.resolve(true) },
    known,
    folder,
  );
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
  });
  // Whose files they are only a privileged user decides; that they could not be set is said.
  const changes = plan.changes.filter(({ reason }) => reason !== 'owner differs');
  // What could not be read back is not known to be right.
  return [...changes, ...plan.blocked];
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

/** Whatever modes its directories were given. */
function removeFolder(context: Context, parent: HostPath, name: string): void {
  const outer = context.host.openMount(parent);
  try {
    if (outer.stat(name) !== undefined) removeDirectory(outer, name);
  } finally {
    outer.close();
  }
}

function removeDirectory(outer: WritableDirectory, name: string): void {
  const stat = outer.stat(name);
  if (stat !== undefined) outer.setAttributes(name, stat, { uid: stat.uid, gid: stat.gid, mode: 0o700 });
  const directory = outer.enter(name);
  try {
    for (const inner of directory.list()) {
      if (directory.stat(inner)?.kind === 'directory') removeDirectory(directory, inner);
      else directory.unlink(inner);
    }
  } finally {
    directory.close();
  }
  outer.removeDirectory(name);
}
