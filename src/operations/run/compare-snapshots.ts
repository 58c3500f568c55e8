import { Buffer } from 'node:buffer';

import type { LeftOutReason } from '../../core/entry.js';
import { type EntryPath, Inherited } from '../../core/entry-path.js';
import type { MountName, ObjectId } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import type { ObservedOnlyEntry, SaveResult, Snapshot } from '../../core/results.js';
import type { ChangedFile, NoLongerStored, RunChanges, SelfRunningChange } from '../../core/run-results.js';
import { selfRunningKind } from '../../core/self-running.js';
import { type TreeChange, parseTreeChanges, treeChangeOptions } from '../../core/tree-changes.js';
import { isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import type { WatchedChange } from './watched.js';

/**
 * What is different in the second of two snapshots, and what of it runs by itself. What the second one left out is none of
 * it: that it is not stored any more says nothing about what became of it.
 */
export async function compareSnapshots(
  context: Context,
  before: Snapshot,
  after: Pick<SaveResult, 'snapshot' | 'observedOnly'>,
  watched: readonly WatchedChange[],
): Promise<RunChanges> {
  const chunks: Uint8Array[] = [];
  await context.store.diff(`${before.commit}:mounts`, `${after.snapshot.commit}:mounts`, {
    options: treeChangeOptions,
    paths: [],
    output: { kind: 'collect', onData: (chunk) => chunks.push(chunk) },
  });
  const { changes, noLongerStored } = apart(
    parseTreeChanges(Buffer.concat(chunks).toString('latin1')),
    after.observedOnly,
  );
  const reader = context.store.reader();
  try {
    return { ...summed(changes), noLongerStored, selfRunning: await selfRunningAmong(reader, changes, watched) };
  } finally {
    await reader.close();
  }
}

function apart(
  all: readonly TreeChange[],
  leftOut: readonly ObservedOnlyEntry[],
): { readonly changes: readonly TreeChange[]; readonly noLongerStored: readonly NoLongerStored[] } {
  const changes: TreeChange[] = [];
  const noLongerStored: NoLongerStored[] = [];
  const whyLeftOut = reasonsOf(leftOut);
  for (const change of all) {
    const { mount, path } = change;
    const reason = change.change === 'deleted' ? whyLeftOut(mount, path) : undefined;
    if (reason === undefined) changes.push(change);
    else noLongerStored.push({ mount, path, reason, selfRunning: selfRunningKind(path) });
  }
  return { changes, noLongerStored };
}

/** Why a path was left out, itself or with a directory above it. */
function reasonsOf(
  leftOut: readonly ObservedOnlyEntry[],
): (mount: MountName, path: EntryPath) => LeftOutReason | undefined {
  const own = new Map<MountName, Map<EntryPath, LeftOutReason>>();
  for (const { mount, path, reason } of leftOut) {
    const ofMount = own.get(mount) ?? new Map<EntryPath, LeftOutReason>();
    own.set(mount, ofMount.set(path, reason));
  }
  const inherited = new Map(
    [...own].map(([mount, reasons]) => [mount, new Inherited((path) => reasons.get(path))] as const),
  );
  return (mount, path) => inherited.get(mount)?.at(path);
}

function summed(changes: readonly TreeChange[]): Omit<RunChanges, 'selfRunning' | 'noLongerStored'> {
  const count = (kind: TreeChange['change']): number => changes.filter(({ change }) => change === kind).length;
  const files: ChangedFile[] = changes.map(({ mount, path, change, lines }) => ({ mount, path, change, lines }));
  return {
    added: count('added'),
    modified: count('modified'),
    deleted: count('deleted'),
    linesAdded: changes.reduce((sum, { lines }) => sum + (lines?.added ?? 0), 0),
    linesRemoved: changes.reduce((sum, { lines }) => sum + (lines?.removed ?? 0), 0),
    files,
    newExecutables: changes
      .filter(({ becameExecutable }) => becameExecutable)
      .map(({ mount, path }) => ({ mount, path })),
  };
}

async function selfRunningAmong(
  reader: ObjectReader,
  changes: readonly TreeChange[],
  watched: readonly WatchedChange[],
): Promise<SelfRunningChange[]> {
  const found: SelfRunningChange[] = [];
  for (const change of changes) {
    const kind = selfRunningKind(change.path);
    if (kind === null || (isPackage(change) && !(await hasOtherScripts(reader, change)))) continue;
    found.push({ mount: change.mount, path: change.path, kind, change: change.change, stored: true });
  }
  const isKnown = ({ mount, path }: WatchedChange): boolean =>
    changes.some((change) => change.mount === mount && change.path === path);
  for (const change of watched) {
    const kind = selfRunningKind(change.path);
    if (kind !== null && !isKnown(change)) found.push({ ...change, kind, stored: false });
  }
  return found;
}

function isPackage({ path }: TreeChange): boolean {
  return /(?:^|\/)package\.json$/.test(path);
}

/** Most changes of a package.json are of its dependencies. What cannot be read counts as other. */
async function hasOtherScripts(reader: ObjectReader, { before, after }: TreeChange): Promise<boolean> {
  const [then, now] = [await scriptsOf(reader, before), await scriptsOf(reader, after)];
  return then === undefined || now === undefined || then !== now;
}

const packageLimit = 4 * 1024 * 1024;

async function scriptsOf(reader: ObjectReader, blob: ObjectId | null): Promise<string | undefined> {
  if (blob === null) return '';
  try {
    const { content } = await reader.read(blob, 'blob', packageLimit);
    const parsed: unknown = JSON.parse(content.toString('utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const scripts = 'scripts' in parsed ? parsed.scripts : undefined;
    return scripts === undefined ? '' : JSON.stringify(scripts);
  } catch (error) {
    if (error instanceof SyntaxError || isSnapError(error, 'STORE_DAMAGED')) return undefined;
    throw error;
  }
}
