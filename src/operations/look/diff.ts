import { type EntryPath, baseName, displayPath } from '../../core/entry-path.js';
import { type ObjectId } from '../../core/ids.js';
import { escapeName } from '../../core/name-escape.js';
import type { TreeEntry } from '../../core/ports.js';
import type { DiffRequest, LogRequest, PathArgument } from '../../core/requests.js';
import type { MountName } from '../../core/ids.js';
import { SnapError } from '../../errors.js';
import { type CapturedMount, captureMounts } from '../capture/capture-mounts.js';
import { incompletePaths } from '../capture/incomplete.js';
import type { Context } from '../context.js';
import { lockForReading } from '../locking.js';
import { resolvePath } from '../path-arguments.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';
import { readManifest, readMountContent, scopeOf } from '../snapshot-content.js';
import { chooseInstance, chosenRecord } from '../session/choose-instance.js';
import { type KnownSnapshot, know, resolveSnapshot } from '../snapshots.js';
import { recordFromJson } from '../../core/instance-record.js';
import type { MountContent } from '../snapshot-content.js';

/** git's diff between two snapshots, or between one and the live mounts; git's exit code. */
export async function diff(context: Context, request: DiffRequest): Promise<{ exitCode: number; messages: string[] }> {
  const from = know((await resolveSnapshot(context, request.from, () => chooseInstance(context))).ref);
  const lock = await lockForReading(context);
  try {
    const paths = storedPaths(from, request.paths ?? []);
    const gitRequest = { options: request.options ?? [], paths, output: request.output };
    if (request.to === null) return await diffWithLive(context, from, gitRequest);
    const to = know((await resolveSnapshot(context, request.to, () => from.ref.instance)).ref);
    return { exitCode: await context.store.diff(mountsOf(from), mountsOf(to), gitRequest), messages: [] };
  } finally {
    lock.release();
  }
}

function mountsOf(known: KnownSnapshot): string {
  return `${known.ref.commit}:mounts`;
}

/** The live state as trees in a scratch directory that no ref names and that is gone afterwards. */
async function diffWithLive(
  context: Context,
  from: KnownSnapshot,
  gitRequest: Parameters<Context['store']['diff']>[2],
): Promise<{ exitCode: number; messages: string[] }> {
  const scratch = await context.store.newScratchWriter();
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, from);
    const record = context.registry.find(from.ref.instance) ?? recordFromJson(manifest.instance_record);
    const recorded = recordFromJson(manifest.instance_record);
    const names = manifest.mounts.map(({ name }) => name as MountName);
    const contents = new Map<MountName, MountContent>();
    for (const name of names) contents.set(name, await readMountContent(context, reader, from, manifest, name));
    const captured = await captureMounts(context, {
      record,
      mounts: recorded.mounts.filter(({ name }) => names.includes(name)),
      policy: { ...manifest.policy, max_total_size: null },
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
    const trees: TreeEntry[] = captured.map(({ mount, captured: { tree } }) => ({
      mode: 0o40000,
      name: mount.name,
      oid: tree ?? scratch.writer.writeTree([]),
    }));
    const live: ObjectId = scratch.writer.writeTree(trees);
    await scratch.writer.publish();
    const exitCode = await context.store.diff(mountsOf(from), live, gitRequest, scratch.directory);
    return { exitCode, messages: notSeen(captured) };
  } finally {
    await reader.close();
    await scratch.remove();
  }
}

/** What could not be read now shows as deleted: that has to be said. */
function notSeen(captured: readonly CapturedMount[]): string[] {
  const paths = incompletePaths(captured);
  if (paths.length === 0) return [];
  const names = paths
    .slice(0, 5)
    .map((path) => displayPath(path))
    .join(', ');
  return [`${String(paths.length)} paths could not be read now and may show as deleted: ${names}.`];
}

/** git's log over the instance's snapshots, newest first. */
export async function log(context: Context, request: LogRequest): Promise<{ exitCode: number }> {
  const instance = chooseInstance(context);
  const refs = context.store.exists() ? await context.store.snapshots(instance) : [];
  const newest = refs.at(-1);
  if (newest === undefined) {
    const { name } = chosenRecord(context);
    throw new SnapError('SNAPSHOT_NOT_FOUND', `Instance ${name} has no snapshots.`, {
      selector: 'latest',
      instance: name,
    });
  }
  const lock = await lockForReading(context);
  try {
    const paths = storedPaths(know(newest), request.paths ?? []);
    // The grafts join all of an instance's snapshots into one history, so that the newest leads to all.
    return {
      exitCode: await context.store.log([newest.ref], {
        options: request.options ?? [],
        paths,
        output: request.output,
      }),
    };
  } finally {
    lock.release();
  }
}

/** Path arguments as `<mount>/<path>` with names as they are stored, in every form that the path may have. */
function storedPaths(known: KnownSnapshot, paths: readonly PathArgument[]): string[] {
  const names = known.record.mounts.map(({ name }) => name);
  return paths.flatMap((argument) => {
    const { mount, path } = resolvePath(names, argument);
    return path === '' ? [mount] : storedForms(path).map((form) => `${mount}/${form}`);
  });
}

/** A name may be stored in one way as a file and in another as a link or directory: what it is, git will find. */
function storedForms(path: EntryPath): string[] {
  const folders = path.split('/').map((name) => escapeName(name, { kind: 'directory', size: 0 }));
  const above = folders.slice(0, -1).map((name) => `${name}/`);
  const kinds = ['file', 'symlink', 'directory'] as const;
  const forms = kinds.map((kind) => above.join('') + escapeName(baseName(path), { kind, size: 0 }));
  return [...new Set(forms)];
}
