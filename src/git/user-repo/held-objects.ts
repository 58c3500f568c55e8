import type { ProtectedObjects } from '../../core/git-state.js';
import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';

import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader, ObjectType } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import { directoryMode, objectHeader } from '../pack/format.js';
import type { RepositoryObjects } from './repository-objects.js';
import { gitlink, parseUserTree } from './tree-content.js';
import { linksOf } from './unpushed-commits.js';

/*
 * A user's objects as a snapshot holds them, and what of their history is whole together with what a repository has.
 */

export interface HeldEntry {
  readonly mode: number;
  readonly name: string;
  readonly oid: ObjectId;
}

export class HeldObjects {
  readonly #listing: ProtectedObjects;
  readonly #reader: Pick<ObjectReader, 'read'>;
  readonly #repository: Pick<RepositoryObjects, 'has' | 'read'> | null;
  readonly #lacking = new Map<ObjectId, boolean>();
  readonly #supplied = new Map<ObjectId, Buffer>();

  /** @param repository what is in it is taken to have all that it needs */
  constructor(
    listing: ProtectedObjects,
    reader: Pick<ObjectReader, 'read'>,
    repository: Pick<RepositoryObjects, 'has' | 'read'> | null,
  ) {
    this.#listing = listing;
    this.#reader = reader;
    this.#repository = repository;
  }

  #has(oid: ObjectId): boolean {
    return this.#repository?.has(oid) ?? false;
  }

  /** A file that the snapshot left out and that turned up elsewhere. */
  supply(oid: ObjectId, content: Buffer): void {
    this.#supplied.set(oid, content);
  }

  typeOf(oid: ObjectId): ObjectType | undefined {
    const { commits, tags, rawTrees, trees, blobs } = this.#listing;
    if (commits.has(oid)) return 'commit';
    if (rawTrees.has(oid) || trees.has(oid)) return 'tree';
    if (blobs.has(oid) || this.#supplied.has(oid)) return 'blob';
    return tags.has(oid) ? 'tag' : undefined;
  }

  /** @throws SnapError STORE_DAMAGED when it is not what its id says */
  async read(oid: ObjectId, type: ObjectType): Promise<Buffer> {
    const supplied = this.#supplied.get(oid);
    if (supplied !== undefined) return supplied;
    const { commits, tags, rawTrees } = this.#listing;
    const raw = { commit: commits, tag: tags, tree: rawTrees, blob: undefined }[type]?.get(oid);
    if (raw === undefined) return (await this.#reader.read(oid, type)).content;
    const { content } = await this.#reader.read(raw, 'blob');
    const hash = createHash('sha1').update(objectHeader(type, content.length)).update(content).digest('hex');
    if (hash === oid) return content;
    const problem = `what is kept as ${type} ${oid} is another object`;
    throw new SnapError('STORE_DAMAGED', `In the snapshot, ${problem}.`, { problem });
  }

  async entries(tree: ObjectId): Promise<readonly HeldEntry[]> {
    const elsewhere = this.typeOf(tree) === undefined ? this.#repository?.read(tree, 'tree') : undefined;
    const entries = parseUserTree(elsewhere?.kind === 'read' ? elsewhere.value : await this.read(tree, 'tree'));
    if (entries !== undefined) return entries;
    throw new SnapError('STORE_DAMAGED', `The tree ${tree} in the snapshot is damaged.`, { problem: `tree ${tree}` });
  }

  /** Whether something below the tree is neither held nor in the repository. */
  async isTreeLacking(tree: ObjectId): Promise<boolean> {
    if (this.#listing.trees.has(tree)) return false;
    if (!this.#listing.rawTrees.has(tree)) return !this.#has(tree);
    const known = this.#lacking.get(tree);
    if (known !== undefined) return known;
    let lacking = false;
    for (const { mode, oid } of await this.entries(tree)) {
      if (mode === gitlink) continue;
      if (mode === directoryMode) lacking ||= await this.isTreeLacking(oid);
      else lacking ||= this.isFileLacking(oid);
    }
    this.#lacking.set(tree, lacking);
    return lacking;
  }

  isFileLacking(oid: ObjectId): boolean {
    return !this.#listing.blobs.has(oid) && !this.#supplied.has(oid) && !this.#has(oid);
  }

  /** The commits of which the snapshot and the repository together have all; the others cannot be restored. */
  async wholeCommits(shallow: ReadonlySet<ObjectId>): Promise<ReadonlyMap<ObjectId, HeldCommit>> {
    const whole = new Map<ObjectId, HeldCommit>();
    const broken: ObjectId[] = [];
    for (const oid of this.#listing.commits.keys()) {
      const commit = await this.#commit(oid, shallow.has(oid));
      if (commit === undefined) broken.push(oid);
      else whole.set(oid, commit);
    }
    const children = childrenOf(whole);
    for (let oid = broken.pop(); oid !== undefined; oid = broken.pop()) {
      whole.delete(oid);
      if (!this.#has(oid)) broken.push(...(children.get(oid) ?? []).filter((child) => whole.has(child)));
    }
    return whole;
  }

  /** Undefined when something that it needs itself is nowhere. */
  async #commit(oid: ObjectId, isShallow: boolean): Promise<HeldCommit | undefined> {
    const { tree, parents } = linksOf(await this.read(oid, 'commit'));
    const isCut = !parents.every((parent) => this.#isKnown(parent));
    if (tree === undefined || (isCut && !isShallow) || (await this.isTreeLacking(tree))) return undefined;
    return { tree, parents: isCut ? [] : parents, isCut };
  }

  #isKnown(commit: ObjectId): boolean {
    return this.#listing.commits.has(commit) || this.#has(commit);
  }

  /** What an annotated tag names. */
  async targetOf(tag: ObjectId): Promise<ObjectId | undefined> {
    const content = await this.read(tag, 'tag');
    return /^object ([0-9a-f]{40})\n/.exec(content.toString('latin1', 0, 64))?.[1] as ObjectId | undefined;
  }
}

export interface HeldCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** Its parents are nowhere: the history ends here. */
  readonly isCut: boolean;
}

function childrenOf(commits: ReadonlyMap<ObjectId, HeldCommit>): ReadonlyMap<ObjectId, ObjectId[]> {
  const children = new Map<ObjectId, ObjectId[]>();
  for (const [oid, { parents }] of commits)
    for (const parent of parents) {
      const known = children.get(parent);
      if (known === undefined) children.set(parent, [oid]);
      else known.push(oid);
    }
  return children;
}
