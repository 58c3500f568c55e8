import type { StoredEntry } from '../core/entry.js';
import {
  type EntryPath,
  ancestorsOf,
  joinPath,
  parentPath,
  parseEntryPath,
  pathFromJson,
  rootPath,
} from '../core/entry-path.js';
import { type GitState, decodeGitState } from '../core/git-state.js';
import type { MountName, ObjectId } from '../core/ids.js';
import { type InstanceRecord, recordFromJson } from '../core/instance-record.js';
import {
  type AttributeLine,
  type Manifest,
  type ManifestMount,
  type ObservedLine,
  decodeAttributes,
  decodeManifest,
  decodeObserved,
} from '../core/manifest.js';
import { unescapeName } from '../core/name-escape.js';
import { ObservedSet } from '../core/observed-set.js';
import type { ListedObject, ObjectReader, PassesOver, SnapshotRef, Store } from '../core/ports.js';
import { SnapError, isSnapError } from '../errors.js';
import type { KnownSnapshot } from './snapshots.js';

/*
 * Reads a snapshot back: tree, attributes and observations of each mount become entries as they were captured.
 */

/** The most that a manifest or a list may be: what is larger is no file of ours. */
const metaAtMost = 1024 * 1024 * 1024;

export interface MountContent {
  readonly name: MountName;
  readonly manifest: ManifestMount;
  /** By path in byte order; the root is ''. */
  readonly entries: ReadonlyMap<EntryPath, StoredEntry>;
  readonly observed: ObservedSet;
  readonly observedLines: readonly ObservedLine[];
  readonly scope: readonly EntryPath[] | null;
  /** Directories that were asked to be passed over: neither they nor what is below them is among the entries. */
  readonly passedOver: ReadonlySet<EntryPath>;
}

export async function readManifest(reader: ObjectReader, known: KnownSnapshot): Promise<Manifest> {
  const { content } = await reader.read(`${known.ref.commit}:meta/manifest.json`, 'blob', metaAtMost);
  return decodeManifest(content, `${known.ref.instance}/${String(known.ref.seq)}`);
}

/**
 * The record of the instance as it was when the snapshot was made.
 * @throws SnapError STORE_DAMAGED when it is none, or that of another instance
 */
export function embeddedRecord(manifest: Manifest, { ref }: KnownSnapshot): InstanceRecord {
  const snapshot = `${ref.instance}/${String(ref.seq)}`;
  let record: InstanceRecord;
  try {
    record = recordFromJson(manifest.instance_record);
  } catch {
    throw damaged(`${snapshot} has no record of its instance that this version can read`);
  }
  if (record.name !== ref.instance) throw damaged(`${snapshot} has the record of another instance, ${record.name}`);
  return record;
}

/**
 * Before git or anybody else lists or compares what is in them.
 * @throws SnapError STORE_DAMAGED for a snapshot that stands for more files than one can hold
 */
export async function refuseOversized(
  { store }: { readonly store: Pick<Store, 'oversizedSnapshots'> },
  refs: readonly SnapshotRef[],
): Promise<void> {
  const oversized = await store.oversizedSnapshots(refs.map(({ commit }) => commit));
  const found = refs.find(({ commit }) => oversized.has(commit));
  if (found === undefined) return;
  const problem = `snapshot ${found.instance}/${String(found.seq)} ${standsForTooMuch}`;
  throw new SnapError('STORE_DAMAGED', `The ${problem}: no save made it.`, { problem });
}

/** What is wrong with a snapshot that `oversizedSnapshots` names. */
export const standsForTooMuch = 'stands for more files than it can hold, since its trees name each other over and over';

/** @throws SnapError STORE_DAMAGED when anything in it is missing or not as this version writes it. */
export async function readMountContent(
  context: { readonly store: Pick<Store, 'listTree' | 'oversizedSnapshots'> },
  reader: ObjectReader,
  known: KnownSnapshot,
  manifest: Manifest,
  name: MountName,
  passesOver?: PassesOver<EntryPath>,
): Promise<MountContent> {
  const manifestMount = manifest.mounts.find((mount) => mount.name === name);
  if (manifestMount === undefined) throw damaged(`mount ${name} is not in the manifest`);
  await refuseOversized(context, [known.ref]);
  const observedLines = await readObserved(reader, known, name);
  const attributes = await readAttributes(reader, known, name);
  const passedOver = new Set<EntryPath>();
  const entries = new EntryBuilder(manifestMount, attributes, passedOver);
  const tree = `${known.ref.commit}:mounts/${name}`;
  for await (const object of context.store.listTree(tree, noting(passedOver, passesOver))) entries.add(object);
  const stored = entries.finish();
  const scope = scopeOf(manifest, name);
  const isDirectory = (path: EntryPath): boolean => stored.get(path)?.kind === 'directory';
  return {
    name,
    manifest: manifestMount,
    entries: stored,
    observed: new ObservedSet(observedLines, isDirectory, scope),
    observedLines,
    scope,
    passedOver,
  };
}

function noting(
  passedOver: Set<EntryPath>,
  passesOver: PassesOver<EntryPath> | undefined,
): ((stored: string, tree: ObjectId) => boolean) | undefined {
  if (passesOver === undefined) return undefined;
  return (stored, tree) => {
    const path = stored.split('/').map(unescapeName).join('/') as EntryPath;
    const isPassed = passesOver(path, tree);
    if (isPassed) passedOver.add(path);
    return isPassed;
  };
}

/** Exceptions from the mount's usual modes and owners, and what else trees do not say. */
export async function readAttributes(
  reader: ObjectReader,
  known: KnownSnapshot,
  name: MountName,
): Promise<AttributeLine[]> {
  const { content } = await reader.read(`${known.ref.commit}:meta/mounts/${name}/attributes`, 'blob', metaAtMost);
  return decodeAttributes(content);
}

export async function readObserved(
  reader: ObjectReader,
  known: KnownSnapshot,
  name: MountName,
): Promise<ObservedLine[]> {
  const { content } = await reader.read(`${known.ref.commit}:meta/mounts/${name}/observed`, 'blob', metaAtMost);
  return decodeObserved(content);
}

/** What the snapshot holds of a mount's repository beside its files; undefined where it was not asked to. */
export async function readGitState(
  reader: ObjectReader,
  known: KnownSnapshot,
  name: MountName,
): Promise<GitState | undefined> {
  const found = await reader.find(`${known.ref.commit}:meta/mounts/${name}/git/state.json`, 'blob', metaAtMost);
  return found && decodeGitState(found.content, `${known.ref.instance}/${String(known.ref.seq)}`);
}

/** @throws SnapError STORE_DAMAGED when a path of it is none */
export function scopeOf(manifest: Manifest, name: MountName): EntryPath[] | null {
  if (manifest.scope === null) return null;
  try {
    return manifest.scope.filter(({ mount }) => mount === name).map(({ path }) => parseEntryPath(pathFromJson(path)));
  } catch (error) {
    if (!isSnapError(error)) throw error;
    throw damaged('a limit of it is no path');
  }
}

function damaged(problem: string): SnapError {
  return new SnapError('STORE_DAMAGED', `A snapshot cannot be read: ${problem}.`, { problem });
}

/** Puts names back as they were and adds what the attributes say. */
class EntryBuilder {
  readonly #mount: ManifestMount;
  readonly #attributes: ReadonlyMap<EntryPath, AttributeLine>;
  readonly #passedOver: ReadonlySet<EntryPath>;
  readonly #entries = new Map<EntryPath, StoredEntry>();
  /** Stored directory paths and what they are called in the mount. */
  readonly #realPaths = new Map<string, EntryPath>([['', rootPath]]);

  constructor(mount: ManifestMount, attributes: readonly AttributeLine[], passedOver: ReadonlySet<EntryPath>) {
    this.#mount = mount;
    this.#passedOver = passedOver;
    this.#attributes = new Map(attributes.map((line) => [line.path, line]));
    this.#addDirectory(rootPath);
  }

  add(object: ListedObject): void {
    const cut = object.path.lastIndexOf('/');
    const parent = this.#realPaths.get(cut < 0 ? '' : object.path.slice(0, cut));
    if (parent === undefined) throw damaged('a tree is out of order');
    const path = joinPath(parent, unescapeName(object.path.slice(cut + 1)));
    parseEntryPath(path);
    if (this.#entries.has(path)) throw damaged('two entries have one name');
    if (object.type === 'tree') {
      this.#realPaths.set(object.path, path);
      this.#addDirectory(path);
    } else {
      this.#addBlob(path, object);
    }
  }

  /** In byte order, so that a directory stands before its content and a link group's first path before the others. */
  finish(): ReadonlyMap<EntryPath, StoredEntry> {
    for (const line of this.#attributes.values()) {
      if (line.bare === true && !this.#entries.has(line.path) && !this.#isPassedOver(line.path))
        this.#addDirectory(line.path);
    }
    for (const path of this.#entries.keys()) {
      if (path !== rootPath && this.#entries.get(parentPath(path))?.kind !== 'directory')
        throw damaged('an entry lies in no directory');
    }
    return new Map([...this.#entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  #isPassedOver(path: EntryPath): boolean {
    if (this.#passedOver.size === 0) return false;
    return this.#passedOver.has(path) || [...ancestorsOf(path)].some((above) => this.#passedOver.has(above));
  }

  #addDirectory(path: EntryPath): void {
    const line = this.#attributes.get(path);
    this.#entries.set(path, {
      kind: 'directory',
      path,
      mode: line?.mode ?? this.#mount.defaults.directory,
      ...this.#owner(line),
    });
  }

  #addBlob(path: EntryPath, object: ListedObject): void {
    const line = this.#attributes.get(path);
    const { oid } = object;
    const size = object.size ?? 0;
    if (object.mode === 0o120000) {
      this.#entries.set(path, { kind: 'symlink', path, oid, size, ...linkOf(line), ...this.#owner(line) });
      return;
    }
    this.#addFile(path, object, line);
  }

  #addFile(path: EntryPath, object: ListedObject, line: AttributeLine | undefined): void {
    const { executable, file } = this.#mount.defaults;
    const blobSize = object.size ?? 0;
    this.#entries.set(path, {
      kind: 'file',
      path,
      oid: object.oid,
      ...(line?.size === undefined ? { size: blobSize } : { size: line.size, byRanges: true, dataBytes: blobSize }),
      mode: line?.mode ?? (object.mode === 0o100755 ? executable : file),
      sparse: line?.sparse ?? false,
      ...linkOf(line),
      ...this.#owner(line),
    });
  }

  #owner(line: AttributeLine | undefined): { uid: number; gid: number } {
    return { uid: line?.uid ?? this.#mount.defaults.uid, gid: line?.gid ?? this.#mount.defaults.gid };
  }
}

function linkOf(line: AttributeLine | undefined): { linkedTo?: EntryPath } {
  return line?.linkedTo === undefined ? {} : { linkedTo: line.linkedTo };
}
