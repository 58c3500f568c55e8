import { pathFromJson } from '../../core/entry-path.js';
import type { GitChange } from '../../core/git-restore-plan.js';
import type { GitState } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectType } from '../../core/ports.js';
import { directoryMode } from '../pack/format.js';
import type { HeldCommit, HeldObjects } from './held-objects.js';

export interface NeededRequest {
  readonly objects: HeldObjects;
  readonly whole: ReadonlyMap<ObjectId, HeldCommit>;
  /** Annotated tags with what they name. */
  readonly tags: ReadonlyMap<ObjectId, ObjectId>;
  /** Whether the repository has it, with all that it needs. */
  readonly has: (oid: ObjectId) => boolean;
  readonly pause: () => Promise<void>;
  /** Takes down where histories end. */
  readonly cut: Set<ObjectId>;
}

/** The objects that changes need and the repository lacks. */
export class NeededObjects {
  readonly #request: NeededRequest;
  readonly #needed = new Map<ObjectId, ObjectType>();

  constructor(request: NeededRequest) {
    this.#request = request;
  }

  async of(changes: readonly GitChange[], state: GitState): Promise<(readonly [ObjectId, ObjectType])[]> {
    for (const tip of tipsIn(changes, state)) await this.#addHistory(tip);
    for (const change of changes) {
      if (change.kind !== 'index') continue;
      await this.#addTree(change.to.tree);
      for (const { object } of change.to.entries) this.#addFile(object);
    }
    return [...this.#needed].filter(([oid]) => !this.#request.has(oid));
  }

  async #addHistory(tip: ObjectId): Promise<void> {
    const { tags, whole, has, cut } = this.#request;
    const waiting = [tip];
    for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
      if (this.#needed.has(oid) || has(oid)) continue;
      const target = tags.get(oid);
      if (target !== undefined) {
        this.#needed.set(oid, 'tag');
        waiting.push(target);
      }
      const commit = whole.get(oid);
      if (commit === undefined) continue;
      this.#needed.set(oid, 'commit');
      if (commit.isCut) cut.add(oid);
      await this.#addTree(commit.tree);
      waiting.push(...commit.parents);
    }
  }

  async #addTree(tree: ObjectId): Promise<void> {
    const { objects, pause } = this.#request;
    if (this.#needed.has(tree) || objects.typeOf(tree) !== 'tree') return;
    this.#needed.set(tree, 'tree');
    await pause();
    for (const { mode, oid } of await objects.entries(tree))
      if (mode === directoryMode) await this.#addTree(oid);
      else this.#addFile(oid);
  }

  #addFile(oid: ObjectId): void {
    if (this.#request.objects.typeOf(oid) === 'blob') this.#needed.set(oid, 'blob');
  }
}

function tipsIn(changes: readonly GitChange[], { branches }: GitState): ObjectId[] {
  return changes.flatMap((change): ObjectId[] => {
    switch (change.kind) {
      case 'branch':
        return change.to === null ? [] : [change.to];
      case 'tag':
      case 'remote_branch':
        return [change.to];
      case 'stashes':
        return change.to.map(({ commit }) => commit);
      case 'head': {
        if ('commit' in change.to) return [change.to.commit];
        const name = pathFromJson(change.to.branch);
        return branches.flatMap((branch) => (pathFromJson(branch.name) === name ? [branch.commit] : []));
      }
      case 'repository':
      case 'index':
        return [];
    }
  });
}
