import type { Buffer } from 'node:buffer';

import { pathFromJson } from '../../core/entry-path.js';
import type { GitState, ProtectedObjects, StagedEntry } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader } from '../../core/ports.js';
import { SnapError } from '../../errors.js';
import { directoryMode, hashObject } from '../pack/format.js';
import { largestObject } from './repository-objects.js';
import { type UserTreeEntry, gitlink, parseUserTree } from './tree-content.js';
import { linksOf } from './unpushed-commits.js';

/*
 * Whether a snapshot holds what its git state says that it holds, by itself: each object is the one that its id names, and
 * leads only to others that are held or that the state says are missing. That a ref's commit is held cannot be asked for:
 * a remote may have it.
 */

export interface GitStateCheckRequest {
  readonly reader: Pick<ObjectReader, 'read' | 'find'>;
  readonly pause: () => Promise<void>;
}

/** For one snapshot after the other: what they share is read once. */
export class GitStateCheck {
  readonly #request: GitStateCheckRequest;
  /** By both ids: what is another object is so in each snapshot. */
  readonly #commits = new Map<string, Links>();

  constructor(request: GitStateCheckRequest) {
    this.#request = request;
  }

  /**
   * What is lacking, in words; undefined where nothing is.
   * @param held of trees and blobs only those that the snapshot names one by one; all below such a tree is there
   * @throws SnapError STORE_DAMAGED where something is kept under the id of another object
   */
  async gapIn(state: GitState, held: ProtectedObjects): Promise<string | undefined> {
    return new StateCheck(state, held, this.#request, this.#commits).gap();
  }
}

type Links = ReturnType<typeof linksOf>;

class StateCheck {
  readonly #state: GitState;
  readonly #held: ProtectedObjects;
  readonly #request: GitStateCheckRequest;
  readonly #commits: Map<string, Links>;
  readonly #missing: ReadonlySet<ObjectId>;
  readonly #directories = new Map<ObjectId, ReadonlyMap<string, ObjectId>>();

  constructor(state: GitState, held: ProtectedObjects, request: GitStateCheckRequest, commits: Map<string, Links>) {
    this.#state = state;
    this.#held = held;
    this.#request = request;
    this.#commits = commits;
    this.#missing = new Set(state.missing.map(({ object }) => object));
  }

  async gap(): Promise<string | undefined> {
    return (
      this.#gapInNames() ??
      (await this.#gapInCommits()) ??
      (await this.#gapInTags()) ??
      (await this.#gapInRawTrees()) ??
      (await this.#gapInIndex())
    );
  }

  /** What is missing and was said to be. Of a longer list than is kept, anything may be. */
  #isNamed(oid: ObjectId): boolean {
    return this.#missing.has(oid) || this.#state.missing_total > this.#state.missing.length;
  }

  /** What is always kept where it is named at all. */
  #gapInNames(): string | undefined {
    const { head, branches, commits, remote_branches, shallow } = this.#state;
    const [at] =
      head === null
        ? []
        : 'commit' in head
          ? [head.commit]
          : branches.filter(({ name }) => pathFromJson(name) === pathFromJson(head.branch)).map(({ commit }) => commit);
    const named = [...(at === undefined ? [] : [at]), ...remote_branches.map(({ commit }) => commit), ...shallow];
    const lacking = named.find((oid) => !this.#held.commits.has(oid) && !this.#isNamed(oid));
    if (lacking !== undefined) return `commit ${lacking}`;
    const { size } = this.#held.commits;
    return size < commits ? `${String(commits - size)} of ${String(commits)} commits` : undefined;
  }

  async #gapInCommits(): Promise<string | undefined> {
    const { commits, trees, rawTrees } = this.#held;
    const shallow = new Set(this.#state.shallow);
    for (const [oid, raw] of commits) {
      const { tree, parents } = await this.#linksOf(oid, raw);
      if (tree === undefined ? !this.#isNamed(oid) : !(trees.has(tree) || rawTrees.has(tree) || this.#isNamed(tree)))
        return `tree ${tree ?? ''} of commit ${oid}`;
      const parent = shallow.has(oid) ? undefined : parents.find((id) => !commits.has(id) && !this.#isNamed(id));
      if (parent !== undefined) return `commit ${parent}`;
    }
    return undefined;
  }

  async #linksOf(oid: ObjectId, raw: ObjectId): Promise<Links> {
    const key = `${oid} ${raw}`;
    const known = this.#commits.get(key);
    if (known !== undefined) return known;
    const links = linksOf(await this.#content(oid, raw, 'commit'));
    this.#commits.set(key, links);
    return links;
  }

  async #gapInTags(): Promise<string | undefined> {
    const { commits, tags } = this.#held;
    const targets = new Map<ObjectId, string | undefined>();
    for (const [oid, raw] of tags) {
      const content = await this.#content(oid, raw, 'tag');
      targets.set(oid, /^object ([0-9a-f]{40})\n/.exec(content.toString('latin1', 0, 64))?.[1]);
    }
    const lacking = this.#state.tags.find(({ object }) => !commits.has((targets.get(object) ?? object) as ObjectId));
    return lacking && `tag ${lacking.object}`;
  }

  async #gapInRawTrees(): Promise<string | undefined> {
    const { trees, rawTrees, blobs } = this.#held;
    for (const oid of rawTrees.keys()) {
      const lacking = (await this.#entries(oid)).find((entry) => {
        if (entry.mode === gitlink || this.#isNamed(entry.oid)) return false;
        return entry.mode === directoryMode ? !trees.has(entry.oid) && !rawTrees.has(entry.oid) : !blobs.has(entry.oid);
      });
      if (lacking !== undefined) return `${lacking.mode === directoryMode ? 'tree' : 'file'} ${lacking.oid}`;
    }
    return undefined;
  }

  async #gapInIndex(): Promise<string | undefined> {
    const { index } = this.#state;
    if (index === null) return undefined;
    const { trees, rawTrees } = this.#held;
    if (!trees.has(index.tree) && !rawTrees.has(index.tree) && !this.#isNamed(index.tree)) return `tree ${index.tree}`;
    for (const entry of index.entries) if (!(await this.#hasStaged(index.tree, entry))) return `file ${entry.object}`;
    return undefined;
  }

  async #hasStaged(tree: ObjectId, { path, mode, object, flags, stage }: StagedEntry): Promise<boolean> {
    if (Number.parseInt(mode, 8) === gitlink || flags.includes('intent-to-add')) return true;
    if (this.#held.blobs.has(object) || this.#isNamed(object)) return true;
    return stage === 0 && (await this.#isAt(tree, pathFromJson(path).split('/'), object));
  }

  async #isAt(tree: ObjectId, [name = '', ...rest]: readonly string[], object: ObjectId): Promise<boolean> {
    const found = (await this.#directory(tree)).get(name);
    if (found === undefined || rest.length === 0) return found === object;
    return this.#isAt(found, rest, object);
  }

  async #directory(tree: ObjectId): Promise<ReadonlyMap<string, ObjectId>> {
    const known = this.#directories.get(tree);
    if (known !== undefined) return known;
    const directory = new Map((await this.#entries(tree)).map(({ name, oid }) => [name, oid]));
    this.#directories.set(tree, directory);
    return directory;
  }

  /** None of one that is not held: whoever looks for something in it finds that out. */
  async #entries(tree: ObjectId): Promise<readonly UserTreeEntry[]> {
    const raw = this.#held.rawTrees.get(tree);
    const content =
      raw === undefined
        ? (await this.#request.reader.find(tree, 'tree', largestObject))?.content
        : await this.#content(tree, raw, 'tree');
    const entries = content === undefined ? [] : parseUserTree(content);
    if (entries === undefined) throw damaged(`the tree ${tree} is none`);
    return entries;
  }

  /** What is kept as a blob. */
  async #content(oid: ObjectId, raw: ObjectId, type: 'commit' | 'tag' | 'tree'): Promise<Buffer> {
    await this.#request.pause();
    const { content } = await this.#request.reader.read(raw, 'blob', largestObject);
    if (hashObject(type, content) !== oid) throw damaged(`what is kept as ${type} ${oid} is another object`);
    return content;
  }
}

function damaged(problem: string): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', `In the snapshot, ${problem}.`, { problem });
}
