import type { EntryPath } from '../../core/entry-path.js';
import type { StoredEntry } from '../../core/entry.js';
import type { MountName } from '../../core/ids.js';
import type { PathArgument } from '../../core/requests.js';
import type { TreeLine } from '../../core/results.js';
import { isWithin } from '../../core/entry-path.js';
import type { SnapError } from '../../errors.js';
import type { ObjectReader } from '../../core/ports.js';
import type { Context } from '../context.js';
import { pathNotFound } from '../not-stored.js';
import { lockForReading } from '../locking.js';
import { resolvePath } from '../path-arguments.js';
import { type MountContent, readManifest, readMountContent } from '../snapshot-content.js';
import { chooseInstance } from '../session/choose-instance.js';
import { type KnownSnapshot, findSnapshot, know } from '../snapshots.js';
import { streamStored, withZeros } from '../stored-bytes.js';

/** One file's bytes, or a link's text, piece by piece. @throws SnapError PATH_NOT_FOUND */
export async function cat(
  context: Context,
  selector: string,
  argument: PathArgument,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<{ sizeBytes: number }> {
  return withSnapshot(context, selector, async (reader, known, names) => {
    const { mount, path } = resolvePath(names, argument);
    const content = await readOne(context, reader, known, mount);
    const entry = content.entries.get(path);
    if (entry === undefined || entry.kind === 'directory') throw notThere(content, path, entry);
    await streamStored(reader, entry, withZeros(write));
    return { sizeBytes: entry.size };
  });
}

/** The entries of a snapshot, or those at and below one path. */
export async function tree(
  context: Context,
  selector: string,
  argument: PathArgument | undefined,
): Promise<TreeLine[]> {
  return withSnapshot(context, selector, async (reader, known, names) => {
    const limit = argument === undefined ? undefined : resolvePath(names, argument);
    const lines: TreeLine[] = [];
    for (const mount of limit === undefined ? names : [limit.mount]) {
      const content = await readOne(context, reader, known, mount);
      const below = limit?.path ?? ('' as EntryPath);
      if (!content.entries.has(below)) throw notThere(content, below, undefined);
      for (const entry of content.entries.values()) {
        if (entry.path !== '' && isWithin(entry.path, below)) lines.push(await toLine(reader, mount, entry));
      }
    }
    return lines;
  });
}

async function toLine(reader: ObjectReader, mount: MountName, entry: StoredEntry): Promise<TreeLine> {
  const { path, kind } = entry;
  const target = kind === 'symlink' ? (await reader.read(entry.oid, 'blob', 65_536)).content.toString('latin1') : null;
  return {
    mount,
    path,
    kind,
    mode: kind === 'symlink' ? 0o777 : entry.mode,
    sizeBytes: kind === 'directory' ? null : entry.size,
    target,
  };
}

async function readOne(
  context: Context,
  reader: ObjectReader,
  known: KnownSnapshot,
  mount: MountName,
): Promise<MountContent> {
  return readMountContent(context, reader, known, await readManifest(reader, known), mount);
}

async function withSnapshot<T>(
  context: Context,
  selector: string,
  act: (reader: ObjectReader, known: KnownSnapshot, mounts: MountName[]) => Promise<T>,
): Promise<T> {
  const known = know(await findSnapshot(context, selector, () => chooseInstance(context)));
  const lock = await lockForReading(context);
  const reader = context.store.reader();
  try {
    return await act(
      reader,
      known,
      known.record.mounts.map(({ name }) => name),
    );
  } finally {
    await reader.close();
    lock.release();
  }
}

function notThere({ name, observed }: MountContent, path: EntryPath, entry: StoredEntry | undefined): SnapError {
  if (entry !== undefined) return pathNotFound(name, path, undefined, 'is a directory');
  return pathNotFound(name, path, observed.leftOutAt(path), 'is not in the snapshot');
}
