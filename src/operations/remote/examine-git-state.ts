import type { ProtectedObjects } from '../../core/git-state.js';
import type { MountName, ObjectId } from '../../core/ids.js';
import type { QuarantinedObjects } from '../../core/remote/remotes.js';
import { SnapError } from '../../errors.js';
import type { Context, GitStateCheck } from '../context.js';
import { readGitState } from '../snapshot-content.js';
import type { KnownSnapshot } from '../snapshots.js';

/*
 * What a fetched snapshot holds of a mount's repository: laid out as a save does it, and all that it says that it is.
 */

export class GitStateExaminer {
  readonly #objects: QuarantinedObjects;
  readonly #newCheck: () => Promise<GitStateCheck>;
  #check: Promise<GitStateCheck> | undefined;
  /** Folders in which nothing is lacking: snapshots share most of theirs. */
  readonly #sound = new Set<ObjectId>();

  constructor({ gitStates, interruption }: Pick<Context, 'gitStates' | 'interruption'>, objects: QuarantinedObjects) {
    this.#objects = objects;
    this.#newCheck = () => gitStates.newCheck({ reader: objects.reader, pause: () => interruption.pause() });
  }

  /**
   * What is lacking, in words; undefined where nothing is, or nothing is protected.
   * @throws SnapError STORE_DAMAGED, FORMAT_UNKNOWN
   */
  async gapIn(known: KnownSnapshot, mount: MountName): Promise<string | undefined> {
    const { reader } = this.#objects;
    const folder = await reader.find(`${known.ref.commit}:meta/mounts/${mount}/git`, 'tree');
    if (folder === undefined || this.#sound.has(folder.oid)) return undefined;
    const state = await readGitState(reader, known, mount);
    if (state === undefined) throw odd('there is no state.json in it');
    const check = await (this.#check ??= this.#newCheck());
    const gap = await check.gapIn(state, await this.#listed(folder.oid));
    if (gap === undefined) this.#sound.add(folder.oid);
    return gap && `of the protected commits of mount ${mount}, ${gap} is not in it`;
  }

  async #listed(folder: ObjectId): Promise<ProtectedObjects> {
    const [commits, tags, rawTrees] = [newIds(), newIds(), newIds()];
    const [trees, blobs] = [new Set<ObjectId>(), new Set<ObjectId>()];
    const raw = new Map(Object.entries({ commits, tags, 'raw-trees': rawTrees }));
    const plain = new Map(Object.entries({ trees, blobs }));
    // False for what has no place here. A tree is noted when it is passed over, since no listing has it then.
    const noted = (path: string, oid: ObjectId): boolean => {
      const [, kind = '', first = '', rest = ''] = /^([a-z-]+)\/([0-9a-f]{2})\/([0-9a-f]{38})$/.exec(path) ?? [];
      const id = (first + rest) as ObjectId;
      raw.get(kind)?.set(id, oid);
      if (id === oid) plain.get(kind)?.add(oid);
      return raw.has(kind) || (plain.has(kind) && id === oid);
    };
    const passesOver = (path: string, oid: ObjectId): boolean => path.startsWith('trees/') && noted(path, oid);
    for await (const { path, type, oid } of this.#objects.listTree(folder, passesOver)) {
      const isFolder = type === 'tree' && /^(?:commits|tags|raw-trees|trees|blobs)(?:\/[0-9a-f]{2})?$/.test(path);
      const isObject = type === 'blob' && !path.startsWith('trees/') && (path === 'state.json' || noted(path, oid));
      if (!isFolder && !isObject) throw odd(`there is ${JSON.stringify(path)} in it`);
    }
    return { commits, tags, rawTrees, trees, blobs };
  }
}

function newIds(): Map<ObjectId, ObjectId> {
  return new Map();
}

function odd(what: string): SnapError<'STORE_DAMAGED'> {
  const problem = `its git state is not as a snapshot has it: ${what}`;
  return new SnapError('STORE_DAMAGED', `This is no snapshot: ${problem}.`, { problem });
}
