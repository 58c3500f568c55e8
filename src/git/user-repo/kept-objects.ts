import type { Buffer } from 'node:buffer';

import { type EntryPath, pathToJson } from '../../core/entry-path.js';
import { type MissingObject, type MissingReason, type ProtectedObjects, missingListed } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import { escapeName } from '../../core/name-escape.js';
import type { ObjectType, ObjectWriter, TreeEntry } from '../../core/ports.js';
import { isWithinSecret } from '../../core/secrets.js';
import { directoryMode, hashObject } from '../pack/format.js';
import type { Reading } from './guarded-directory.js';
import { type UserTreeEntry, gitlink, parseUserTree } from './tree-content.js';

/*
 * Takes objects of a user's repository into the store. Commits and tags become blobs; a tree that git's checks could
 * question, or that needs what is not taken in, becomes a blob too; all other trees and files are taken in as they are.
 */

export interface KeepRequest {
  readonly read: (oid: ObjectId, type: ObjectType) => Reading<Buffer>;
  readonly writer: Pick<ObjectWriter, 'writeBlob' | 'writeTree' | 'has'>;
  /** What the store has by its own account, whatever the repository says of it: blobs, and trees with all below them. */
  readonly known: { readonly files: ReadonlySet<ObjectId>; readonly trees: ReadonlySet<ObjectId> };
  readonly includeSecrets: boolean;
  /** The base name of the folder that the repository's files lie in. */
  readonly rootName: string;
  readonly limits: KeepLimits;
  readonly pause: () => Promise<void>;
}

export interface KeepLimits {
  /** The largest file, bytes. */
  readonly fileBytes: number;
  /** All that is read from the repository, bytes. */
  readonly totalBytes: number;
  readonly objects: number;
}

/** `whole`: a tree of the store; `raw`: kept as a blob; `missing`: not taken in. */
type Kept = 'whole' | 'raw' | 'missing';

const depthLimit = 1000;
const fileModes: ReadonlySet<number> = new Set([0o100644, 0o100755, 0o120000]);
const oldFileModes: ReadonlySet<number> = new Set([...fileModes, 0o100664]);

type Ids = Map<ObjectId, ObjectId>;
type IdSet = Set<ObjectId>;

export class ObjectKeeper implements ProtectedObjects {
  readonly commits: Ids = new Map<ObjectId, ObjectId>();
  readonly tags: Ids = new Map<ObjectId, ObjectId>();
  readonly rawTrees: Ids = new Map<ObjectId, ObjectId>();
  readonly trees: IdSet = new Set<ObjectId>();
  readonly blobs: IdSet = new Set<ObjectId>();
  readonly missing: MissingObject[] = [];
  missingTotal = 0;
  bytes = 0;
  readonly #request: KeepRequest;
  readonly #outcomes = new Map<string, Kept>();
  /** Why files were not taken in; null for those that were. */
  readonly #files = new Map<ObjectId, MissingReason | null>();
  readonly #noted = new Set<string>();
  #objects = 0;

  constructor(request: KeepRequest) {
    this.#request = request;
  }

  get isFull(): boolean {
    const { totalBytes, objects } = this.#request.limits;
    return this.bytes >= totalBytes || this.#objects >= objects;
  }

  keepCommit(oid: ObjectId, content: Buffer): void {
    this.#count(content);
    this.commits.set(oid, this.#request.writer.writeBlob(content));
  }

  keepTag(oid: ObjectId, content: Buffer): void {
    this.#count(content);
    this.tags.set(oid, this.#request.writer.writeBlob(content));
  }

  /** A tree that nothing of ours lies above. */
  async keepRoot(oid: ObjectId): Promise<void> {
    const kept = await this.#keepTree({ oid, path: '', depth: 0 });
    if (kept === 'whole') this.trees.add(oid);
  }

  /** A tree that the repository need not have, such as that of the index; what lies below it was kept before. */
  async keepMadeTree(content: Buffer, path: string): Promise<ObjectId> {
    const oid = hashObject('tree', content);
    const kept = this.#known(oid, path) ?? (await this.#keepContent({ oid, path, depth: 0 }, content));
    if (kept === 'whole' && path === '') this.trees.add(oid);
    return oid;
  }

  /** A file that no tree names. */
  keepLooseFile(oid: ObjectId, path: string): void {
    if (this.#isSecret(path, 'file')) this.noteMissing(oid, 'blob', path, 'secret');
    else if (this.#keepFile(oid, path)) this.blobs.add(oid);
  }

  noteMissing(object: ObjectId, type: MissingObject['type'], path: string | null, reason: MissingReason): void {
    const key = `${object} ${path ?? ''}`;
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.missingTotal += 1;
    if (this.missing.length < missingListed)
      this.missing.push({ object, type, path: path === null ? null : pathToJson(path), reason });
  }

  async #keepTree(place: Place): Promise<Kept> {
    const { oid, path, depth } = place;
    const known = this.#known(oid, path);
    if (known !== undefined) return known;
    await this.#request.pause();
    if (this.isFull) return this.#lacking(place, 'limit');
    if (depth > depthLimit) return this.#lacking(place, 'too_deep');
    const reading = this.#request.read(oid, 'tree');
    if (reading.kind !== 'read') return this.#lacking(place, reading.kind === 'absent' ? 'absent' : 'damaged');
    this.#count(reading.value);
    return this.#keepContent(place, reading.value);
  }

  #known(oid: ObjectId, path: string): Kept | undefined {
    if (this.#request.known.trees.has(oid) && this.#request.writer.has(oid)) return 'whole';
    return this.#outcomes.get(this.#keyOf(oid, path));
  }

  #lacking({ oid, path }: Place, reason: MissingReason): Kept {
    this.noteMissing(oid, 'tree', path, reason);
    return this.#settle({ oid, path }, 'missing');
  }

  #settle({ oid, path }: Pick<Place, 'oid' | 'path'>, kept: Kept): Kept {
    this.#outcomes.set(this.#keyOf(oid, path), kept);
    return kept;
  }

  async #keepContent(place: Place, content: Buffer): Promise<Kept> {
    const entries = parseUserTree(content);
    if (entries === undefined) return this.#lacking(place, 'damaged');
    const wholeTrees: ObjectId[] = [];
    const files: ObjectId[] = [];
    let isWhole = true;
    for (const entry of entries) {
      const kept = await this.#keepEntry(place, entry);
      if (kept === 'whole') (entry.mode === directoryMode ? wholeTrees : files).push(entry.oid);
      else isWhole = false;
    }
    if (isWhole && isPlain(entries, content)) {
      this.#request.writer.writeTree(entries);
      return this.#settle(place, 'whole');
    }
    this.rawTrees.set(place.oid, this.#request.writer.writeBlob(content));
    for (const oid of wholeTrees) this.trees.add(oid);
    for (const oid of files) this.blobs.add(oid);
    return this.#settle(place, 'raw');
  }

  async #keepEntry(place: Place, { mode, name, oid }: UserTreeEntry): Promise<Kept> {
    const path = place.path === '' ? name : `${place.path}/${name}`;
    // What a submodule is at is another repository's.
    if (mode === gitlink) return 'raw';
    if (mode === directoryMode) return this.#keepTree({ oid, path, depth: place.depth + 1 });
    if (this.#isSecret(path, mode === 0o120000 ? 'symlink' : 'file')) {
      this.noteMissing(oid, 'blob', path, 'secret');
      return 'missing';
    }
    if (!oldFileModes.has(mode)) {
      this.noteMissing(oid, 'blob', path, 'damaged');
      return 'missing';
    }
    return this.#keepFile(oid, path) ? 'whole' : 'missing';
  }

  #isSecret(path: string, kind: 'file' | 'symlink' | 'directory'): boolean {
    return !this.#request.includeSecrets && isWithinSecret(path as EntryPath, kind, this.#request.rootName);
  }

  #keepFile(oid: ObjectId, path: string): boolean {
    const { writer, known } = this.#request;
    if (known.files.has(oid) && writer.has(oid)) return true;
    let reason = this.#files.get(oid);
    if (reason === undefined) this.#files.set(oid, (reason = this.#takeFile(oid)));
    if (reason !== null) this.noteMissing(oid, 'blob', path, reason);
    return reason === null;
  }

  /** @returns null, or why the file was not taken in */
  #takeFile(oid: ObjectId): MissingReason | null {
    if (this.isFull) return 'limit';
    const reading = this.#request.read(oid, 'blob');
    if (reading.kind !== 'read') return reading.kind === 'absent' ? 'absent' : 'damaged';
    const content = reading.value;
    this.#count(content);
    if (content.length > this.#request.limits.fileBytes) return 'too_large';
    this.#request.writer.writeBlob(content);
    return null;
  }

  /** What is secret in a tree depends on names alone: its own entries', and those of the directories that it lies in. */
  #keyOf(oid: ObjectId, path: string): string {
    if (this.#isSecret(path, 'directory')) return `${oid} secret`;
    return path === '' ? `${oid} root` : path.endsWith('.config') ? `${oid} config` : oid;
  }

  #count({ length }: Buffer): void {
    this.bytes += length;
    this.#objects += 1;
  }
}

interface Place {
  readonly oid: ObjectId;
  readonly path: string;
  readonly depth: number;
}

/** Whether git's checks find nothing to question, and we would write the very same bytes. */
function isPlain(entries: readonly UserTreeEntry[], content: Buffer): entries is readonly TreeEntry[] {
  const names = new Set(entries.map(({ name }) => name));
  const keys = entries.map(({ mode, name }) => (mode === directoryMode ? `${name}/` : name));
  const isInOrder = keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key);
  // Leading zeros of a mode show in the length.
  const length = entries.reduce((sum, { mode, name }) => sum + mode.toString(8).length + name.length + 22, 0);
  return names.size === entries.length && isInOrder && length === content.length && entries.every(isPlainEntry);
}

function isPlainEntry({ mode, name }: UserTreeEntry): boolean {
  if (mode === directoryMode) return isPlainName(name, 'directory');
  return fileModes.has(mode) && isPlainName(name, mode === 0o120000 ? 'symlink' : 'file');
}

function isPlainName(name: string, kind: 'file' | 'symlink' | 'directory'): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 255 || name.includes('/')) return false;
  return escapeName(name, { kind, size: Number.MAX_SAFE_INTEGER }) === name;
}
