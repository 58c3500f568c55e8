import { type EntryPath, type HostPath, hostPathBelow, pathFromJson } from '../../core/entry-path.js';
import type { GitChange } from '../../core/git-restore-plan.js';
import type { GitState, HeadState, ProtectedObjects } from '../../core/git-state.js';
import type { InstanceName, MountName, ObjectId, Seq } from '../../core/ids.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader, WritableDirectory } from '../../core/ports.js';
import type { KeptPath, PlannedChange } from '../../core/results.js';
import { SnapError, isTold } from '../../errors.js';
import { openRoot } from '../capture/capture-mounts.js';
import { type GitStatesByMount, unlessIn } from '../capture/protect-commits.js';
import type { Context, PreparedGitRestore } from '../context.js';
import { readGitState } from '../snapshot-content.js';
import { type KnownSnapshot, know, pointerTo } from '../snapshots.js';

/*
 * The part of a restore that changes the mounts' repositories: asked for, never by itself.
 */

export interface GitMount {
  readonly name: MountName;
  readonly path: HostPath;
}

export interface GitRestoreJob {
  readonly known: KnownSnapshot;
  readonly manifest: Manifest;
  readonly reader: ObjectReader;
  readonly mounts: readonly GitMount[];
  /** The folders are new ones: each gets a repository of its own. */
  readonly elsewhere?: true;
}

/** What was found and will be done, mount by mount. Holds repositories open until it is closed. */
export class GitRestores {
  readonly changes: PlannedChange[] = [];
  readonly kept: KeptPath[] = [];
  readonly failed: KeptPath[] = [];
  readonly #prepared = new Map<MountName, PreparedGitRestore>();
  readonly #roots: WritableDirectory[] = [];

  /** @throws SnapError GIT_STATE_ABSENT when the snapshot holds none for any of the mounts */
  static async prepare(context: Context, job: GitRestoreJob): Promise<GitRestores> {
    const restores = new GitRestores();
    let states = 0;
    try {
      for (const mount of job.mounts) {
        const state = await readGitState(job.reader, job.known, mount.name);
        if (state === undefined) continue;
        states += 1;
        await restores.#prepareMount(context, job, mount, state);
      }
    } catch (error) {
      restores.close();
      throw error;
    }
    if (states === 0) throw absent(job.known);
    return restores;
  }

  async #prepareMount(context: Context, job: GitRestoreJob, mount: GitMount, state: GitState): Promise<void> {
    const root = openRoot(context, mount);
    this.#roots.push(root);
    if (isWorktreeWithoutLink(job, mount, root)) {
      const reason = 'its .git file is not there: restore the files first, then this again';
      this.failed.push({ mount: mount.name, path: gitPath(''), reason });
      return;
    }
    const held = await heldObjects(context, job, mount.name);
    const madeBefore = await madeByRestoreOf(context, job, mount.name);
    const { reader } = job;
    const pause = (): Promise<void> => context.interruption.pause();
    const request = { directory: root, path: mount.path, state, held, reader, madeBefore, pause };
    const prepared = await context.gitStates.prepareRestore(request);
    if ('refused' in prepared) {
      this.failed.push({ mount: mount.name, path: gitPath(''), reason: prepared.refused });
      return;
    }
    this.#prepared.set(mount.name, prepared);
    for (const { path, reason, failed } of prepared.plan.kept)
      (failed ? this.failed : this.kept).push({ mount: mount.name, path: gitPath(path), reason });
    this.changes.push(...prepared.plan.changes.map((change) => toPlanned(mount, change)));
  }

  /** The mounts whose repositories are there and will be changed. */
  get mounts(): ReadonlySet<MountName> {
    return new Set(this.changes.map(({ mount }) => mount));
  }

  /**
   * What is there now must be in the emergency snapshot in full: else nothing of it may be moved.
   * @throws SnapError GIT_STATE_REFUSED
   */
  refuseUnprotected(states: GitStatesByMount): void {
    for (const name of this.mounts) {
      const summary = states.get(name)?.summary;
      if (summary === undefined || summary.complete) continue;
      const [why = 'not all of its content could be taken in'] = summary.problems;
      throw new SnapError(
        'GIT_STATE_REFUSED',
        `What the repository of mount ${name} has now cannot be saved in full, so that it must not be changed: ${why}.`,
        { path: '.git', why },
      );
    }
  }

  /** Changes the repositories, and looks at each once more. @returns what is not as in the snapshot */
  async apply(context: Context, job: GitRestoreJob): Promise<KeptPath[]> {
    const failed: KeptPath[] = [];
    const { instance, seq } = pointerTo(job.known);
    const note = {
      seconds: Math.floor(context.now().getTime() / 1000),
      message: `restore: snapshot ${instance}/${String(seq)}`,
    };
    for (const [mount, prepared] of this.#prepared) {
      if (prepared.plan.changes.length === 0) continue;
      try {
        for (const { path, reason } of await prepared.apply(note)) failed.push({ mount, path: gitPath(path), reason });
      } catch (error) {
        // The files are done by then, and what is to be said of them is not kept back.
        if (!isTold(error)) throw error;
        failed.push({ mount, path: gitPath(''), reason: error.message });
      }
    }
    const { mounts } = this;
    this.close();
    try {
      return [...failed, ...(await notAsWanted(context, job, failed))];
    } catch (error) {
      if (!isTold(error)) throw error;
      const reason = `it could not be looked at once more: ${error.message}`;
      return [...failed, ...[...mounts].map((mount) => ({ mount, path: gitPath(''), reason }))];
    }
  }

  close(): void {
    for (const prepared of this.#prepared.values()) prepared.close();
    for (const root of this.#roots) root.close();
    this.#prepared.clear();
    this.#roots.length = 0;
  }
}

/** What was a worktree is never given a repository of its own in its place. */
function isWorktreeWithoutLink(
  { manifest, elsewhere }: GitRestoreJob,
  mount: GitMount,
  root: WritableDirectory,
): boolean {
  if (elsewhere === true || root.stat('.git') !== undefined) return false;
  return manifest.mounts.some(({ name, kind }) => name === mount.name && kind === 'worktree');
}

/** @throws SnapError GIT_STATE_ABSENT */
export async function refuseWithoutGitState(job: Pick<GitRestoreJob, 'known' | 'reader' | 'mounts'>): Promise<void> {
  for (const { name } of job.mounts) if ((await readGitState(job.reader, job.known, name)) !== undefined) return;
  throw absent(job.known);
}

async function notAsWanted(context: Context, job: GitRestoreJob, failed: readonly KeptPath[]): Promise<KeptPath[]> {
  const again = await GitRestores.prepare(context, job);
  try {
    const known = new Set(failed.map(({ mount, path }) => `${mount} ${path}`));
    return again.changes
      .filter(({ mount, path }) => !known.has(`${mount} ${path}`))
      .map(({ mount, path }) => ({ mount, path, reason: 'verification_failed' }));
  } finally {
    again.close();
  }
}

function absent(known: KnownSnapshot): SnapError<'GIT_STATE_ABSENT'> {
  const snapshot = `${known.ref.instance}/${String(known.ref.seq)}`;
  return new SnapError(
    'GIT_STATE_ABSENT',
    `Snapshot ${snapshot} holds no git state: it was made without --protect-commits, or of folders without a repository.`,
    { snapshot },
  );
}

/** All objects that the snapshot holds for a mount's repository. */
async function heldObjects(
  context: Context,
  { known, reader }: Pick<GitRestoreJob, 'known' | 'reader'>,
  mount: MountName,
): Promise<ProtectedObjects> {
  const folder = `${known.ref.commit}:meta/mounts/${mount}/git`;
  const trees = new Set<ObjectId>();
  const blobs = new Set<ObjectId>();
  const found = await reader.find(`${folder}/trees`, 'tree');
  if (found !== undefined)
    for await (const { type, oid } of context.store.listTree(found.oid, unlessIn(trees)))
      if (type === 'blob') blobs.add(oid);
  for (const oid of (await named(context, reader, `${folder}/blobs`)).keys()) blobs.add(oid);
  const [commits, tags, rawTrees] = [
    await named(context, reader, `${folder}/commits`),
    await named(context, reader, `${folder}/tags`),
    await named(context, reader, `${folder}/raw-trees`),
  ];
  return { commits, tags, rawTrees, trees, blobs };
}

/** A folder of objects by their ids: two digits, then the others. */
async function named(context: Context, reader: ObjectReader, folder: string): Promise<Map<ObjectId, ObjectId>> {
  const objects = new Map<ObjectId, ObjectId>();
  const found = await reader.find(folder, 'tree');
  if (found === undefined) return objects;
  // No deeper than the two parts of an id, whatever lies there.
  const passesOver = (path: string): boolean => !/^[0-9a-f]{2}$/.test(path);
  for await (const { type, path, oid } of context.store.listTree(found.oid, passesOver))
    if (type === 'blob' && /^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(path))
      objects.set(path.replace('/', '') as ObjectId, oid);
  return objects;
}

/** What is restored may be the state before another restore: the branches that one made are taken back. */
async function madeByRestoreOf(
  context: Context,
  { manifest, reader }: GitRestoreJob,
  mount: MountName,
): Promise<ReadonlyMap<string, ObjectId>> {
  const { recovery } = manifest;
  if (recovery?.git_state !== true) return new Map();
  const ref = await context.store.snapshot(recovery.instance as InstanceName, recovery.seq as Seq);
  const state = ref && (await readGitState(reader, know(ref), mount));
  return new Map(state?.branches.map(({ name, commit }) => [pathFromJson(name), commit]));
}

function gitPath(path: string): EntryPath {
  return (path === '' ? '.git' : `.git/${path}`) as EntryPath;
}

function toPlanned({ name, path: root }: GitMount, change: GitChange): PlannedChange {
  const { path, action, reason } = described(change);
  const full = gitPath(path);
  const hostPath = hostPathBelow(root, full);
  return { mount: name, path: full, hostPath, action, reason, from: 'git state', to: 'git state', bytes: 0 };
}

function described(change: GitChange): Pick<PlannedChange, 'action' | 'reason'> & { readonly path: string } {
  switch (change.kind) {
    case 'repository':
      return { path: '', action: 'create', reason: 'a repository is made anew' };
    case 'branch':
      return { path: `refs/heads/${change.name}`, ...moved(change) };
    case 'tag':
      return { path: `refs/tags/${change.name}`, ...moved({ from: null, to: change.to }) };
    case 'remote_branch':
      return { path: `refs/remotes/${change.name}`, ...moved({ from: null, to: change.to }) };
    case 'stashes': {
      const reason = `${String(change.from.length)} to ${String(change.to.length)} stashes`;
      return { path: 'refs/stash', action: change.from.length === 0 ? 'create' : 'overwrite', reason };
    }
    case 'index':
      return { path: 'index', action: 'overwrite', reason: 'what is staged' };
    case 'head':
      return { path: 'HEAD', action: 'overwrite', reason: `${headText(change.from)} to ${headText(change.to)}` };
  }
}

function moved({ from, to }: { readonly from: ObjectId | null; readonly to: ObjectId | null }): {
  action: PlannedChange['action'];
  reason: string;
} {
  const short = (oid: ObjectId | null): string => oid?.slice(0, 12) ?? 'nothing';
  const action = from === null ? 'create' : to === null ? 'delete' : 'overwrite';
  return { action, reason: `${short(from)} to ${short(to)}` };
}

function headText(head: HeadState | null): string {
  if (head === null) return 'nothing';
  return 'branch' in head ? pathFromJson(head.branch) : head.commit.slice(0, 12);
}
