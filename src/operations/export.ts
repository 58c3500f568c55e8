import { type HostPath, displayPath } from '../core/entry-path.js';
import type { StoredEntry } from '../core/entry.js';
import type { MountName } from '../core/ids.js';
import type { ObjectReader } from '../core/ports.js';
import { TarWriter } from '../core/tar-format.js';
import { SnapError, systemCode } from '../errors.js';
import type { Context } from './context.js';
import { lockForReading } from './locking.js';
import { refuseOurs, restoreElsewhere } from './restore/restore-elsewhere.js';
import { readManifest, readMountContent } from './snapshot-content.js';
import { chooseInstance } from './session/choose-instance.js';
import { type KnownSnapshot, know, resolveSnapshot } from './snapshots.js';
import { streamStored, withZeros } from './stored-bytes.js';

export interface Exported {
  readonly files: number;
  readonly bytes: number;
  readonly messages: readonly string[];
}

const tarEnding = /\.(tar|tar\.gz|tgz)$/i;
const otherArchive = /\.(zip|7z|rar|gz|bz2|xz|zst|lz4?|lzma|z|tbz2?|txz|tzst|tlz)$/i;

/**
 * A snapshot as a new folder or, by the destination's ending, as a tar. Nothing that exists is overwritten.
 * @throws SnapError USAGE for the ending of an archive of another kind: a folder of that name is not what was meant
 */
export async function exportSnapshot(context: Context, selector: string, destination: HostPath): Promise<Exported> {
  const isTar = tarEnding.test(destination);
  if (!isTar && otherArchive.test(destination)) throw unknownArchive(destination);
  const known = know((await resolveSnapshot(context, selector, () => chooseInstance(context))).ref);
  if (isTar) return exportTar(context, known, destination);
  const request = { snapshot: known.ref.ref, confirm: () => Promise.resolve(true) };
  const result = await restoreElsewhere(context, request, known, destination);
  const messages = result.failed.map(({ path, reason }) => `${displayPath(path)} could not be written: ${reason}.`);
  return { files: result.restoredFiles, bytes: result.bytesWritten, messages: [...messages, ...result.messages] };
}

function unknownArchive(destination: HostPath): SnapError {
  const message = `${displayPath(destination)} names an archive of a kind that is not written; .tar, .tar.gz and .tgz are.`;
  return new SnapError('USAGE', message, { what: 'archive' });
}

async function exportTar(context: Context, known: KnownSnapshot, destination: HostPath): Promise<Exported> {
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    return await fillTar(context, known, reader, createNew(context, destination));
  } finally {
    await reader.close();
    lock.release();
  }
}

async function fillTar(
  context: Context,
  known: KnownSnapshot,
  reader: ObjectReader,
  output: ReturnType<Context['newArchive']>,
): Promise<Exported> {
  let finished = false;
  try {
    const counts = await writeTar(context, known, reader, new TarWriter((chunk) => output.write(chunk)));
    await output.finish();
    finished = true;
    return { ...counts, messages: [] };
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

async function writeTar(
  context: Context,
  known: KnownSnapshot,
  reader: ObjectReader,
  tar: TarWriter,
): Promise<{ files: number; bytes: number }> {
  const manifest = await readManifest(reader, known);
  let files = 0;
  let bytes = 0;
  for (const { name } of manifest.mounts) {
    const { entries } = await readMountContent(context, reader, known, manifest, name as MountName);
    const prefix = manifest.mounts.length === 1 ? '' : `${name}/`;
    for (const entry of entries.values()) {
      await context.interruption.pause();
      await addToTar(tar, reader, prefix, entry, known.record.createdAt);
      if (entry.kind === 'directory') continue;
      files += 1;
      bytes += entry.size;
      context.onProgress({
        phase: 'export',
        files,
        bytes,
        totalFiles: known.record.files,
        totalBytes: known.record.sizeBytes,
      });
    }
  }
  await tar.finish();
  return { files, bytes };
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
