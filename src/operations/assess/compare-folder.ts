import { Buffer } from 'node:buffer';

import { type FileChange, type Judgement, judgeFolder, withLoss } from '../../core/assessment.js';
import { displayPath } from '../../core/entry-path.js';
import type { InstanceRecord, MountRecord } from '../../core/instance-record.js';
import { type Manifest, encodeAttributes } from '../../core/manifest.js';
import type { ObjectReader } from '../../core/ports.js';
import type { SnapshotPointer } from '../../core/results.js';
import { parseTreeChanges, treeChangeOptions } from '../../core/tree-changes.js';
import { isSnapError } from '../../errors.js';
import { type CapturedMount, captureMounts } from '../capture/capture-mounts.js';
import { incompletePaths } from '../capture/incomplete.js';
import type { Context } from '../context.js';
import { pendingTemporaryPrefix } from '../restore/pending.js';
import { readManifest, readMountContent, scopeOf } from '../snapshot-content.js';
import { type KnownSnapshot, knowIfReadable, pointerTo } from '../snapshots.js';
import { lostRepository } from './lost-repository.js';

export interface ComparedFolder extends Judgement {
  readonly files: readonly FileChange[];
  readonly comparedWith: SnapshotPointer | null;
}

/**
 * How a folder stands to the last snapshot that holds all of it, under the settings of that snapshot, and whether it has lost
 * a repository. Needs the store's shared lock.
 */
export async function compareFolder(
  context: Context,
  record: InstanceRecord,
  mount: MountRecord,
): Promise<ComparedFolder> {
  if (!context.store.exists()) return noSnapshot;
  const reader = context.store.reader();
  try {
    const last = await lastWhole(context, reader, record, mount);
    return last === undefined ? noSnapshot : await compareWith(context, reader, last, record, mount);
  } finally {
    await reader.close();
  }
}

const noSnapshot: ComparedFolder = {
  ...judgeFolder(null, ['no snapshot holds it']),
  files: [],
  comparedWith: null,
};

interface Whole {
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
}

async function lastWhole(
  context: Context,
  reader: ObjectReader,
  record: InstanceRecord,
  { name }: MountRecord,
): Promise<Whole | undefined> {
  for (const ref of (await context.store.snapshots(record.name)).toReversed()) {
    const known = knowIfReadable(ref);
    const manifest = known === undefined ? undefined : await manifestOrNone(reader, known);
    if (known === undefined || manifest === undefined || scopeOf(manifest, name) !== null) continue;
    if (manifest.mounts.some((one) => one.name === name)) return { known, manifest };
  }
  return undefined;
}

async function manifestOrNone(reader: ObjectReader, known: KnownSnapshot): Promise<Manifest | undefined> {
  try {
    return await readManifest(reader, known);
  } catch (error) {
    if (!isSnapError(error, 'STORE_DAMAGED') && !isSnapError(error, 'FORMAT_UNKNOWN')) throw error;
    return undefined;
  }
}

async function compareWith(
  context: Context,
  reader: ObjectReader,
  { known, manifest }: Whole,
  record: InstanceRecord,
  mount: MountRecord,
): Promise<ComparedFolder> {
  const then = await readMountContent(context, reader, known, manifest, mount.name);
  const scratch = await context.store.newScratchWriter();
  try {
    const [captured] = await captureMounts(context, {
      record,
      mounts: [mount],
      policy: { ...manifest.policy, max_total_size: null },
      writer: scratch.writer,
      full: false,
      graft: false,
      scope: () => null,
      forced: () => ({ stored: then.entries, newRepositories: false, leftOut: then.observed.leftOut }),
      temporaryPrefix: pendingTemporaryPrefix(context, record.name),
    });
    if (captured === undefined) return noSnapshot;
    const files = await filesThatDiffer(context, known, captured, scratch);
    const isChanged = files.length > 0 || (await hasOtherAttributes(reader, known, manifest, captured));
    const lost = captured.kind === 'plain' ? await lostRepository(context, reader, record, mount) : null;
    const judgement = withLoss(judgeFolder(isChanged, unread(captured)), lost);
    return { ...judgement, files, comparedWith: pointerTo(known) };
  } finally {
    await scratch.remove();
  }
}

async function filesThatDiffer(
  context: Context,
  known: KnownSnapshot,
  { mount, captured }: CapturedMount,
  { writer, directory }: Awaited<ReturnType<Context['store']['newScratchWriter']>>,
): Promise<FileChange[]> {
  const tree = captured.tree ?? writer.writeTree([]);
  const live = writer.writeTree([{ mode: 0o40000, name: mount.name, oid: tree }]);
  await writer.publish();
  const chunks: Uint8Array[] = [];
  const output = { kind: 'collect', onData: (chunk: Uint8Array) => chunks.push(chunk) } as const;
  const request = { options: treeChangeOptions, paths: [], output };
  await context.store.diff(`${known.ref.commit}:mounts`, live, request, directory);
  return parseTreeChanges(Buffer.concat(chunks).toString('latin1'))
    .filter((change) => change.mount === mount.name)
    .map(({ path, change }) => ({ path, status: letters[change] }));
}

const letters = { added: '??', modified: ' M', deleted: ' D' } as const;

/** Modes, owners, hard links and empty directories, which trees do not say. */
async function hasOtherAttributes(
  reader: ObjectReader,
  known: KnownSnapshot,
  { mounts }: Manifest,
  { mount, attributes }: CapturedMount,
): Promise<boolean> {
  const before = mounts.find(({ name }) => name === mount.name)?.defaults;
  const keys = ['file', 'executable', 'directory', 'uid', 'gid'] as const;
  if (before === undefined || keys.some((key) => before[key] !== attributes.defaults[key])) return true;
  const blob = await reader.find(`${known.ref.commit}:meta/mounts/${mount.name}/attributes`, 'blob');
  return blob?.content.equals(encodeAttributes(attributes.lines)) !== true;
}

function unread(captured: CapturedMount): string[] {
  const paths = incompletePaths([captured]);
  if (paths.length === 0) return [];
  const named = paths.slice(0, 5).map((path) => displayPath(path === '' ? '.' : path));
  return [`${named.join(', ')}${paths.length > 5 ? ` and ${String(paths.length - 5)} more` : ''}`];
}
