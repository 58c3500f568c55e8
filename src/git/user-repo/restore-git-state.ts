import { Buffer } from 'node:buffer';

import { parseEntryPath, pathFromJson } from '../../core/entry-path.js';
import { type GitChange, type GitRestorePlan, pathOfChange, planGitRestore } from '../../core/git-restore-plan.js';
import type { GitState, IndexState, ProtectedObjects } from '../../core/git-state.js';
import type { ObjectId } from '../../core/ids.js';
import type { ObjectReader, ObjectType } from '../../core/ports.js';
import { SnapError, isSnapError } from '../../errors.js';
import { directoryMode, hashObject } from '../pack/format.js';
import { KnownObjects } from '../pack/known-objects.js';
import { PackWriter } from '../pack/pack-writer.js';
import type { WrittenEntry } from './encode-index.js';
import { removeFileIfThere, syncDirectory } from './entries-of-directory.js';
import { type GitTarget, type TargetRequest, openTarget, unfinishedMark } from './git-target.js';
import { GuardedDirectory } from './guarded-directory.js';
import { enterOrMake, replaceLocked, writeNew } from './guarded-writing.js';
import { type HeldCommit, HeldObjects } from './held-objects.js';
import { NeededObjects } from './needed-objects.js';
import { type ReflogNote, configText, moveHead, moveRef, writeIndex, writeStashes } from './repository-writing.js';
import { isBeyondIndex } from './staged-size.js';

/*
 * Brings a repository to a snapshot's git state: first all objects, durably, then refs, index, stashes and HEAD, each
 * under git's own lock. Killed anywhere, the same again leads to the same end.
 */

export interface GitRestoreRequest extends TargetRequest {
  readonly state: GitState;
  readonly held: ProtectedObjects;
  readonly reader: Pick<ObjectReader, 'read'>;
  readonly madeBefore: ReadonlyMap<string, ObjectId>;
  readonly pause: () => Promise<void>;
}

export interface GitRestoreFailure {
  readonly path: string;
  readonly reason: string;
}

/** A repository that was looked at, with what leads it to a snapshot's state. Holds it open. */
export interface PreparedGitRestore {
  readonly plan: GitRestorePlan;
  apply(note: ReflogNote): Promise<readonly GitRestoreFailure[]>;
  close(): void;
}

export async function prepareGitRestore(
  request: GitRestoreRequest,
): Promise<PreparedGitRestore | { readonly refused: string }> {
  const target = await openTarget(request);
  if ('refused' in target) return target;
  const { operation } = target.live;
  if (operation !== null) {
    target.close();
    return { refused: `a ${operation} is in progress: finish or abort it first` };
  }
  const restore = new GitRestore(request, target);
  try {
    await restore.prepare();
    return restore;
  } catch (error) {
    target.close();
    throw error;
  }
}

const suppliedAtMost = 64 * 1024 * 1024;
const headIsDetached = 'its branch could not be made: it is detached at the commit';

class GitRestore implements PreparedGitRestore {
  plan: GitRestorePlan = { changes: [], kept: [] };
  readonly #request: GitRestoreRequest;
  readonly #target: GitTarget;
  readonly #objects: HeldObjects;
  #whole: ReadonlyMap<ObjectId, HeldCommit> = new Map();
  #tags = new Map<ObjectId, ObjectId>();
  /** Branches that were to be made and are not. */
  readonly #unmade = new Set<string>();

  constructor(request: GitRestoreRequest, target: GitTarget) {
    this.#request = request;
    this.#target = target;
    this.#objects = new HeldObjects(request.held, request.reader, target.objects);
  }

  #has(oid: ObjectId): boolean {
    return this.#target.objects?.has(oid) ?? false;
  }

  async prepare(): Promise<void> {
    const { state, held, madeBefore } = this.#request;
    this.#supplyFromFiles();
    this.#whole = await this.#objects.wholeCommits(new Set(state.shallow));
    for (const tag of held.tags.keys()) {
      const commit = await this.#objects.targetOf(tag);
      if (commit !== undefined) this.#tags.set(tag, commit);
    }
    this.plan = planGitRestore({
      wanted: state,
      live: this.#target.live,
      isObtainable: (oid) => this.#has(oid) || this.#whole.has(this.#tags.get(oid) ?? oid),
      isPushed: (oid) => !held.commits.has(oid) && !state.missing.some(({ object }) => object === oid),
      isIndexObtainable: state.index !== null && (await this.#isIndexObtainable(state.index)),
      madeBefore,
    });
  }

  /** Secrets are left out of snapshots, and stay where they are: the folder's own file may be just what is missing. */
  #supplyFromFiles(): void {
    // What is only intended to be added stands for an empty file, which no tree need hold.
    const empty = Buffer.alloc(0);
    this.#objects.supply(hashObject('blob', empty), empty);
    const folder = GuardedDirectory.open(`${this.#request.directory.descriptorPath}/.`);
    if (folder.kind !== 'read') return;
    try {
      for (const { object, type, path, reason } of this.#request.state.missing) {
        if (type !== 'blob' || reason !== 'secret' || path === null) continue;
        const file = folder.value.read(pathFromJson(path), suppliedAtMost);
        if (file.kind === 'read' && hashObject('blob', file.value) === object) this.#objects.supply(object, file.value);
      }
    } finally {
      folder.value.close();
    }
  }

  async #isIndexObtainable({ tree, entries }: IndexState): Promise<boolean> {
    if (await this.#objects.isTreeLacking(tree)) return false;
    if (this.#objects.typeOf(tree) === undefined) return false;
    const files = entries.filter(({ mode, flags }) => mode !== '160000' && !flags.includes('intent-to-add'));
    return files.every(({ object }) => !this.#objects.isFileLacking(object));
  }

  async apply(note: ReflogNote): Promise<readonly GitRestoreFailure[]> {
    const { changes } = this.plan;
    const failures: GitRestoreFailure[] = [];
    const repository = this.#openRepository();
    try {
      const cut = await this.#writeObjects(repository);
      this.#writeShallow(repository.commonDir, cut);
      for (const change of changes) {
        await this.#request.pause();
        await this.#make(repository, change, note, failures);
      }
      if (this.#target.live.kind === 'none') finishRepository(repository.gitDir);
      return failures;
    } finally {
      repository.close();
    }
  }

  close(): void {
    this.#target.close();
  }

  async #make(
    repository: Repository,
    change: GitChange,
    note: ReflogNote,
    failures: GitRestoreFailure[],
  ): Promise<void> {
    const made = this.#possible(change);
    try {
      await this.#makeChange(repository, made, note);
      if (made !== change) failures.push({ path: pathOfChange(change), reason: headIsDetached });
    } catch (error) {
      // What moved on since, or is in somebody's hands, stays as it is and is told.
      if (!isSnapError(error, 'GIT_STATE_REFUSED') && !isSnapError(error, 'BUSY')) throw error;
      if (change.kind === 'branch' && change.from === null) this.#unmade.add(change.name);
      failures.push({ path: pathOfChange(change), reason: error.message });
    }
  }

  /** HEAD never names a branch that could not be made: there would be nothing, and its commit would be nobody's. */
  #possible(change: GitChange): GitChange {
    if (change.kind !== 'head' || !('branch' in change.to)) return change;
    const commit = this.#unmade.has(pathFromJson(change.to.branch)) ? this.#commitAt(change.to) : null;
    return commit === null ? change : { ...change, to: { commit } };
  }

  async #makeChange({ gitDir, commonDir }: Repository, change: GitChange, note: ReflogNote): Promise<void> {
    switch (change.kind) {
      case 'repository':
        return;
      case 'branch':
        moveRef(commonDir, `refs/heads/${change.name}`, change, note);
        return;
      case 'tag':
        moveRef(commonDir, `refs/tags/${change.name}`, { from: null, to: change.to }, note);
        return;
      case 'remote_branch':
        moveRef(commonDir, `refs/remotes/${change.name}`, { from: null, to: change.to }, note);
        return;
      case 'stashes':
        writeStashes(commonDir, change.to);
        return;
      case 'index':
        writeIndex(gitDir, await this.#indexEntries(change.to));
        return;
      case 'head':
        moveHead(
          gitDir,
          { ...change, commits: { from: this.#commitAt(change.from), to: this.#commitAt(change.to) } },
          note,
        );
        return;
    }
  }

  #commitAt(head: GitState['head']): ObjectId | null {
    if (head === null) return null;
    if ('commit' in head) return head.commit;
    const name = pathFromJson(head.branch);
    const wanted = this.#request.state.branches.find((branch) => pathFromJson(branch.name) === name);
    return this.#target.live.branches.get(name) ?? wanted?.commit ?? null;
  }

  /** All that the new refs and the index need and the repository lacks. @returns where histories end */
  async #writeObjects(repository: Repository): Promise<Set<ObjectId>> {
    const cut = new Set<ObjectId>();
    const missing = await this.#missing(cut);
    if (missing.length === 0) return cut;
    const objects = enterOrMake(repository.commonDir, 'objects');
    const pack = enterOrMake(objects, 'pack');
    const scratch = enterOrMake(objects, 'tmp_jackin-snap');
    const writer = new PackWriter(new KnownObjects(`${scratch.descriptorPath}/none`), {
      scratchParent: scratch.descriptorPath,
      packDirectory: pack.descriptorPath,
      durable: true,
    });
    try {
      for (const [oid, type] of missing) {
        await this.#request.pause();
        writer.writeObject(type, await this.#objects.read(oid, type));
      }
      await writer.publish();
    } finally {
      await writer.abandon();
      for (const each of [scratch, pack, objects]) each.close();
    }
    return cut;
  }

  #missing(cut: Set<ObjectId>): Promise<readonly (readonly [ObjectId, ObjectType])[]> {
    const { state, pause } = this.#request;
    const [objects, whole, tags] = [this.#objects, this.#whole, this.#tags];
    const has = (oid: ObjectId): boolean => this.#has(oid);
    return new NeededObjects({ objects, whole, tags, has, pause, cut }).of(this.plan.changes, state);
  }

  /** A history that ends where its parents are on record must say so. */
  #writeShallow(commonDir: GuardedDirectory, cut: ReadonlySet<ObjectId>): void {
    if (cut.size === 0) return;
    const before = commonDir.read('shallow', 64 * 1024 * 1024);
    const lines =
      before.kind === 'read'
        ? before.value
            .toString('latin1')
            .split('\n')
            .filter((line) => line !== '')
        : [];
    const all = new Set([...lines, ...cut]);
    if (all.size > lines.length) replaceLocked(commonDir, 'shallow', `${[...all].sort().join('\n')}\n`);
  }

  async #indexEntries({ tree, entries }: IndexState): Promise<WrittenEntry[]> {
    if (await isBeyondIndex(this.#objects, tree)) {
      const problem = `the index stands for more files than it can hold, since the trees below ${tree} name each other over and over`;
      throw new SnapError('STORE_DAMAGED', `In the snapshot, ${problem}.`, { problem });
    }
    const written = new Map<string, WrittenEntry>();
    await this.#addStaged(tree, '', written);
    for (const { path, mode, object, stage, flags } of entries) {
      const name = parseEntryPath(pathFromJson(path));
      written.set(`${name}\0${String(stage)}`, {
        path: name,
        mode: Number.parseInt(mode, 8),
        oid: object,
        stage,
        flags,
      });
    }
    return [...written.values()];
  }

  async #addStaged(tree: ObjectId, prefix: string, written: Map<string, WrittenEntry>): Promise<void> {
    for (const { mode, name, oid } of await this.#objects.entries(tree)) {
      const path = parseEntryPath(prefix + name);
      if (mode === directoryMode) await this.#addStaged(oid, `${path}/`, written);
      else written.set(`${path}\x000`, { path, mode, oid, stage: 0, flags: [] });
    }
  }

  #openRepository(): Repository {
    const { location } = this.#target;
    if (location !== null) return { gitDir: location.gitDir, commonDir: location.commonDir, close: () => undefined };
    const gitDir = makeRepository(this.#request, this.#request.state);
    return { gitDir, commonDir: gitDir, close: () => gitDir.close() };
  }
}

interface Repository {
  readonly gitDir: GuardedDirectory;
  readonly commonDir: GuardedDirectory;
  close(): void;
}

/** A repository without a HEAD, which git takes for none. */
function makeRepository({ directory }: TargetRequest, state: GitState): GuardedDirectory {
  const folder = GuardedDirectory.open(`${directory.descriptorPath}/.`);
  if (folder.kind !== 'read')
    throw new SnapError('GIT_STATE_REFUSED', 'The folder cannot be opened: no repository was made.', {
      path: '.git',
      why: folder.kind === 'unreadable' ? folder.why : 'it is gone',
    });
  try {
    const gitDir = enterOrMake(folder.value, '.git');
    if (!gitDir.exists(unfinishedMark)) writeNew(gitDir, unfinishedMark, '');
    for (const name of ['objects', 'refs', 'info']) enterOrMake(gitDir, name).close();
    const refs = enterOrMake(gitDir, 'refs');
    for (const name of ['heads', 'tags']) enterOrMake(refs, name).close();
    refs.close();
    replaceLocked(gitDir, 'config', configText(state));
    return gitDir;
  } finally {
    folder.value.close();
  }
}

function finishRepository(gitDir: GuardedDirectory): void {
  removeFileIfThere(gitDir, unfinishedMark);
  syncDirectory(gitDir);
}
