import { type EntryPath, baseName, displayPath, pathFromJson } from '../../core/entry-path.js';
import {
  type GitState,
  type ProtectedObjects,
  decodeGitState,
  encodeGitState,
  isWholeGitState,
} from '../../core/git-state.js';
import type { InstanceName, MountName, ObjectId } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import { type Policy, storesContent, withOverrides } from '../../core/policy.js';
import type {
  InstanceRegistry,
  ObjectReader,
  ObjectWriter,
  PassesOver,
  SnapshotRef,
  TreeEntry,
} from '../../core/ports.js';
import type { SaveRequest } from '../../core/requests.js';
import type { MountSummary, ProtectedState } from '../../core/results.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context, KnownInStore } from '../context.js';
import { isFetched } from '../snapshots.js';
import { type CapturedMount, openRoot } from './capture-mounts.js';

/*
 * What only a mount's own repository holds, below `meta/mounts/<mount>/git` of the snapshot.
 */

/** The folder of one mount, written. */
export interface WrittenGitState {
  readonly tree: ObjectId | null;
  readonly summary: ProtectedState;
}

export type GitStatesByMount = ReadonlyMap<MountName, WrittenGitState>;

export interface ProtectMountsRequest {
  readonly record: InstanceRecord;
  readonly policy: Policy;
  readonly mounts: readonly CapturedMount[];
  readonly writer: ObjectWriter;
  /** The last snapshot, if it is known to be complete: what it holds need not be taken in again. */
  readonly last: SnapshotRef | null;
  /** Whatever the policy says. */
  readonly always?: boolean;
}

export async function protectMounts(context: Context, request: ProtectMountsRequest): Promise<GitStatesByMount> {
  const states = new Map<MountName, WrittenGitState>();
  const wanted = request.mounts.filter((mount) => request.always === true || isProtected(context, request, mount));
  if (wanted.length === 0) return states;
  const fetched = context.registry.fetched(request.record.name);
  // What somebody else's snapshot says that it holds is not believed.
  const last = request.last === null || isFetched(request.last, fetched) ? null : request.last;
  const reader = context.store.reader();
  try {
    for (const mount of wanted)
      if (mount.kind !== 'plain')
        states.set(mount.mount.name, await protectMount(context, { ...request, last }, mount, reader));
  } finally {
    await reader.close();
  }
  return states;
}

/** @throws SnapError INCOMPLETE_REFUSED under `strict` */
export async function protectForSave(
  context: Context,
  { strict, overrides = {} }: Pick<SaveRequest, 'strict' | 'overrides'>,
  request: Omit<ProtectMountsRequest, 'policy'>,
): Promise<GitStatesByMount> {
  const { policy } = request.record;
  // This level holds no content of anything.
  if (!storesContent(policy)) return new Map();
  const states = await protectMounts(context, { ...request, policy: withOverrides(policy, overrides) });
  if (strict !== true || isProtectionWhole(states)) return states;
  const [why = ''] = protectionNotes(states);
  throw new SnapError('INCOMPLETE_REFUSED', `Nothing was saved. ${why}`, { paths: [] });
}

function isProtected(
  { registry }: Pick<Context, 'registry'>,
  { policy, record }: ProtectMountsRequest,
  { kind, mount }: CapturedMount,
): boolean {
  if (policy.protect_commits !== 'auto') return policy.protect_commits === 'true';
  if (kind === 'plain') return false;
  const isIsolated = record.recovery?.mounts.some(({ name, isolation }) => name === mount.name && isolation !== null);
  return isIsolated === true || isOfRun(registry, record.name);
}

/** Whether `run --worktree` made it. Where that cannot be known, it is taken for one: better protected than lost. */
function isOfRun(registry: Pick<InstanceRegistry, 'findWorktree'>, name: InstanceName): boolean {
  try {
    return registry.findWorktree(name) !== undefined;
  } catch (error) {
    if (!isSnapError(error, 'CONFIGURATION_INVALID')) throw error;
    return true;
  }
}

const limits = { totalBytes: 512 * 1024 * 1024, objects: 2_000_000 } as const;
const stateAtMost = 1024 * 1024 * 1024;

async function protectMount(
  context: Context,
  request: ProtectMountsRequest,
  mount: CapturedMount,
  reader: ObjectReader,
): Promise<WrittenGitState> {
  const { policy, writer } = request;
  const before = await readBefore(request, mount.mount.name, reader);
  const root = openRoot(context, mount.mount);
  try {
    const protection = await context.gitStates.protect({
      directory: root,
      gitEntry: mount.kind === 'clone' ? 'directory' : 'file',
      writer,
      known: () => knownObjects(context, request, mount, before, reader),
      includeSecrets: policy.include_secrets,
      rootName: baseName(mount.mount.path as string as EntryPath),
      limits: { ...limits, fileBytes: policy.max_file_size },
      manner: `${String(policy.include_secrets)} ${String(policy.max_file_size)}`,
      isKnown: (fingerprint) => before?.state.fingerprint === fingerprint,
      pause: () => context.interruption.pause(),
    });
    if (protection.kind === 'unchanged' && before !== undefined)
      return { tree: before.tree, summary: summaryOfProtection(before.state) };
    if (protection.kind === 'protected')
      return {
        tree: writeState(writer, protection.state, protection.objects),
        summary: summaryOfProtection(protection.state),
      };
    const why = protection.kind === 'unprotected' ? protection.why : 'it is not known any more';
    return { tree: null, summary: { ...nothing, problems: [why] } };
  } finally {
    root.close();
  }
}

interface Before {
  readonly tree: ObjectId;
  readonly state: GitState;
}

/** What the last snapshot holds of it. Where that cannot be read, all is taken in anew. */
async function readBefore(
  { last }: ProtectMountsRequest,
  mount: MountName,
  reader: ObjectReader,
): Promise<Before | undefined> {
  if (last === null) return undefined;
  const folder = `${last.commit}:meta/mounts/${mount}/git`;
  try {
    const tree = await reader.find(folder, 'tree');
    const state = tree && (await reader.find(`${folder}/state.json`, 'blob', stateAtMost));
    return state && { tree: tree.oid, state: decodeGitState(state.content, last.ref) };
  } catch (error) {
    if (isSnapError(error, 'STORE_DAMAGED') || isSnapError(error, 'FORMAT_UNKNOWN')) return undefined;
    throw error;
  }
}

/** Asked for only where something changed. */
async function knownObjects(
  context: Context,
  { last, policy }: ProtectMountsRequest,
  { captured }: CapturedMount,
  before: Before | undefined,
  reader: ObjectReader,
): Promise<KnownInStore> {
  const files = filesOf(captured);
  const trees = new Set<ObjectId>();
  // What was taken in with secrets may hold some.
  const mayTakeOver = before !== undefined && (policy.include_secrets || !before.state.include_secrets);
  const folder = mayTakeOver ? await reader.find(`${before.tree}:trees`, 'tree') : undefined;
  if (folder === undefined || last === null) return { files, trees };
  for await (const { type, oid } of context.store.listTree(folder.oid, unlessIn(trees)))
    if (type === 'blob') files.add(oid);
  return { files, trees };
}

/** The blobs of all that was walked or taken over. */
function filesOf({ entries, grafted }: CapturedMount['captured']): Set<ObjectId> {
  const files = new Set<ObjectId>();
  for (const entry of entries.values()) if (entry.kind !== 'directory') files.add(entry.oid);
  for (const part of grafted.parts())
    for (const path of part.paths()) {
      const oid = part.find(path)?.oid;
      if (oid !== undefined) files.add(oid);
    }
  return files;
}

/** Passes over trees that were listed before, and notes the others. */
export function unlessIn(listed: Set<ObjectId>): PassesOver {
  return (_, tree) => {
    if (listed.has(tree)) return true;
    listed.add(tree);
    return false;
  };
}

function writeState(writer: ObjectWriter, state: GitState, objects: ProtectedObjects): ObjectId {
  const folders: readonly (readonly [string, number, Iterable<readonly [ObjectId, ObjectId]>])[] = [
    ['blobs', 0o100644, pairs(objects.blobs)],
    ['commits', 0o100644, objects.commits],
    ['raw-trees', 0o100644, objects.rawTrees],
    ['tags', 0o100644, objects.tags],
    ['trees', 0o40000, pairs(objects.trees)],
  ];
  const entries: TreeEntry[] = [{ mode: 0o100644, name: 'state.json', oid: writer.writeBlob(encodeGitState(state)) }];
  for (const [name, mode, kept] of folders) {
    const oid = writeFolder(writer, mode, kept);
    if (oid !== undefined) entries.push({ mode: 0o40000, name, oid });
  }
  return writer.writeTree(entries);
}

function pairs(ids: ReadonlySet<ObjectId>): [ObjectId, ObjectId][] {
  return [...ids].map((oid) => [oid, oid]);
}

/** By the first two digits, so that one object more changes little. */
function writeFolder(
  writer: ObjectWriter,
  mode: number,
  kept: Iterable<readonly [ObjectId, ObjectId]>,
): ObjectId | undefined {
  const folders = new Map<string, TreeEntry[]>();
  for (const [id, oid] of kept) {
    const first = id.slice(0, 2);
    const folder = folders.get(first) ?? [];
    folder.push({ mode, name: id.slice(2), oid });
    folders.set(first, folder);
  }
  if (folders.size === 0) return undefined;
  return writer.writeTree(
    [...folders].map(([name, entries]) => ({ mode: 0o40000, name, oid: writer.writeTree(entries) })),
  );
}

const nothing: ProtectedState = {
  complete: false,
  commits: 0,
  branches: 0,
  stashes: 0,
  staged: false,
  operation: null,
  missing: [],
  missingTotal: 0,
  problems: [],
};

export function summaryOfProtection(state: GitState): ProtectedState {
  return {
    complete: isWholeGitState(state),
    commits: state.commits,
    branches: state.branches.length,
    stashes: state.stashes.length,
    staged: state.index !== null,
    operation: state.operation,
    missing: state.missing.map(({ object, path, reason }) => ({
      object,
      path: path === null ? null : pathFromJson(path),
      reason,
    })),
    missingTotal: state.missing_total,
    problems: state.problems,
  };
}

/** What has to be said of what was not protected. */
export function protectionNotes(states: GitStatesByMount): string[] {
  return [...states].flatMap(([mount, { tree, summary }]) => [
    ...summary.problems.map((why) =>
      tree === null
        ? `The commits of mount ${mount} are not protected: ${why}.`
        : `Not all of mount ${mount}'s repository is protected: ${why}.`,
    ),
    ...missingNotes(mount, summary),
  ]);
}

const reasons: Readonly<Record<ProtectedState['missing'][number]['reason'], string>> = {
  secret: 'a secret by its name; --include-secrets takes it in',
  too_large: 'over the size limit',
  limit: 'more than is taken in for one mount',
  absent: 'not in the repository itself',
  damaged: 'damaged',
  too_deep: 'too deep',
};

function missingNotes(mount: MountName, { missing, missingTotal }: ProtectedState): string[] {
  const named = missing.slice(0, 5).map(({ object, path, reason }) => {
    const what = path === null || path === '' ? object.slice(0, 12) : displayPath(path);
    return `${what} (${reasons[reason]})`;
  });
  if (named.length === 0) return [];
  const more = missingTotal > named.length ? ` and ${String(missingTotal - named.length)} more` : '';
  return [
    `In the commits of mount ${mount} some content is not protected: ${named.join(', ')}${more}. ` +
      'What needs it can be restored only into a repository that has it.',
  ];
}

/** What should have been protected and is not. */
export function isProtectionWhole(states: GitStatesByMount): boolean {
  return [...states.values()].every(({ tree, summary }) => tree !== null && summary.complete);
}

export function withProtection(mount: MountSummary, state: ProtectedState | undefined): MountSummary {
  return state === undefined ? mount : { ...mount, protected: state };
}
