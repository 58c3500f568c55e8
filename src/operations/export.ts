import { type EntryPath, type HostPath, displayPath } from '../core/entry-path.js';
import type { StoredEntry } from '../core/entry.js';
import { holdsState } from '../core/state/holds-state.js';
import type { MountName } from '../core/ids.js';
import type { Manifest } from '../core/manifest.js';
import type { ObjectReader } from '../core/ports.js';
import type { ExportRequest, ExportResult } from '../core/requests.js';
import type { ExportedState } from '../core/state/results.js';
import { TarWriter } from '../core/tar-format.js';
import { SnapError, systemCode } from '../errors.js';
import type { Context } from './context.js';
import { lockForReading } from './locking.js';
import { refuseOurs, restoreElsewhere } from './restore/restore-elsewhere.js';
import { readManifest } from './snapshot-content.js';
import { chooseInstance } from './session/choose-instance.js';
import { type KnownSnapshot, know, resolveSnapshot } from './snapshots.js';
import { measureState } from './state/held-state.js';
import { contentToLeave, manifestToLeave } from './state/state-to-leave.js';
import { streamStored, withZeros } from './stored-bytes.js';

const tarEnding = /\.(tar|tar\.gz|tgz)$/i;
const otherArchive = /\.(zip|7z|rar|gz|bz2|xz|zst|lz4?|lzma|z|tbz2?|txz|tzst|tlz)$/i;

/**
 * A snapshot as a new folder or, by the destination's ending, as a tar. Nothing that exists is overwritten.
 * @throws SnapError USAGE for the ending of an archive of another kind: a folder of that name is not what was meant
 */
export async function exportSnapshot(
  context: Context,
  selector: string,
  destination: HostPath,
  { state = false }: ExportRequest = {},
): Promise<ExportResult> {
  const isTar = tarEnding.test(destination);
  if (!isTar && otherArchive.test(destination)) throw unknownArchive(destination);
  const known = know((await resolveSnapshot(context, selector, () => chooseInstance(context))).ref);
  const held = await stateIn(context, known, state);
  return withStateNoted(await (isTar ? exportTar : exportFolder)(context, known, destination, state), held);
}

type Written = Omit<ExportResult, 'state'>;

async function exportFolder(
  context: Context,
  known: KnownSnapshot,
  destination: HostPath,
  state: boolean,
): Promise<Written> {
  const request = { snapshot: known.ref.ref, state, confirm: () => Promise.resolve(true) };
  const { failed, restoredFiles, bytesWritten, messages } = await restoreElsewhere(
    context,
    request,
    known,
    destination,
  );
  return { files: restoredFiles, bytes: bytesWritten, messages: [...failed.map(notWritten), ...messages] };
}

function notWritten({ path, reason }: { readonly path: EntryPath; readonly reason: string }): string {
  return `${displayPath(path)} was not written: ${reason}.`;
}

/** What the snapshot holds of a session's state, be it exported or not. */
async function stateIn(
  context: Context,
  known: KnownSnapshot,
  included: boolean,
): Promise<ExportedState | 'damaged' | undefined> {
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    const manifest = await readManifest(reader, known);
    if (!holdsState(manifest)) return undefined;
    const size = await measureState(context, reader, known, manifest);
    return size === 'damaged' ? size : { ...size, included };
  } finally {
    await reader.close();
    lock.release();
  }
}

function withStateNoted({ messages, ...written }: Written, state: ExportedState | 'damaged' | undefined): ExportResult {
  if (state === undefined) return { ...written, messages };
  const left = "The session's state is left out";
  if (state === 'damaged') return { ...written, messages: [...messages, `${left}; it is damaged.`] };
  return { ...written, state, messages: state.included ? messages : [...messages, `${left}; --state takes it in.`] };
}

function unknownArchive(destination: HostPath): SnapError {
  const message = `${displayPath(destination)} names an archive of a kind that is not written; .tar, .tar.gz and .tgz are.`;
  return new SnapError('USAGE', message, { what: 'archive' });
}

async function exportTar(
  context: Context,
  known: KnownSnapshot,
  destination: HostPath,
  state: boolean,
): Promise<Written> {
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    const manifest = await manifestToLeave(context, reader, known, { destination, state });
    return await fillTar(context, { known, reader, manifest }, createNew(context, destination));
  } finally {
    await reader.close();
    lock.release();
  }
}

interface TarWork {
  readonly known: KnownSnapshot;
  readonly reader: ObjectReader;
  readonly manifest: Manifest;
}

async function fillTar(context: Context, work: TarWork, output: ReturnType<Context['newArchive']>): Promise<Written> {
  let finished = false;
  try {
    const written = await writeTar(context, work, new TarWriter((chunk) => output.write(chunk)));
    await output.finish();
    finished = true;
    return written;
  } finally {
    if (!finished) await output.abandon();
  }
}

function createNew(context: Context, destination: HostPath): ReturnType<Context['newArchive']> {
  refuseOurs(context, destination);
  if (context.host.identity(destination) === undefined) return newArchive(context, destination);
  throw new SnapError('DESTINATION_EXISTS', `${displayPath(destination)} exists: nothing was written.`, {
    path: displayPath(destination),
  });
}

function newArchive(context: Context, destination: HostPath): ReturnType<Context['newArchive']> {
  try {
    return context.newArchive(destination, !/\.tar$/i.test(destination));
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw error;
    const shown = displayPath(destination);
    const message = `${shown} cannot be made (${code}): nothing was written.`;
    throw new SnapError('PATH_NOT_FOUND', message, { path: shown, where: 'host' }, { cause: error });
  }
}

/** A single mount's content stands at the top, several mounts (or a mount and state) in one folder each. */
async function writeTar(context: Context, { known, reader, manifest }: TarWork, tar: TarWriter): Promise<Written> {
  const { files: totalFiles, sizeBytes: totalBytes, createdAt } = known.record;
  const messages: string[] = [];
  let files = 0;
  let bytes = 0;
  for (const { name } of manifest.mounts) {
    const { entries, withheld } = await contentToLeave(context, reader, known, manifest, name as MountName);
    messages.push(...withheld.map(notWritten));
    const prefix = manifest.mounts.length === 1 ? '' : `${name}/`;
    for (const entry of entries.values()) {
      await context.interruption.pause();
      await addToTar(tar, reader, prefix, entry, createdAt);
      if (entry.kind === 'directory') continue;
      files += 1;
      bytes += entry.size;
      context.onProgress({ phase: 'export', files, bytes, totalFiles, totalBytes });
    }
  }
  await tar.finish();
  return { files, bytes, messages };
}

async function addToTar(
  tar: TarWriter,
  reader: ObjectReader,
  prefix: string,
  entry: StoredEntry,
  modified: Date,
): Promise<void> {
  const { uid, gid } = entry;
  const name = entry.path === '' && prefix === '' ? './' : prefix + entry.path;
  const base = { name, uid, gid, modified };
  if (entry.kind === 'directory') return tar.add({ ...base, type: 'directory', mode: entry.mode });
  if (entry.kind === 'symlink') {
    const { content } = await reader.read(entry.oid, 'blob', 65_536);
    return tar.add({ ...base, type: 'symlink', mode: 0o777, target: content.toString('latin1') });
  }
  if (entry.linkedTo !== undefined && entry.linkedTo !== entry.path) {
    return tar.add({ ...base, type: 'link', mode: entry.mode, target: `${prefix}${entry.linkedTo}` });
  }
  await tar.add({ ...base, type: 'file', mode: entry.mode, size: entry.size });
  await streamStored(
    reader,
    entry,
    withZeros((chunk) => tar.content(chunk)),
  );
  await tar.endContent(entry.size);
}
