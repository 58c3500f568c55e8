import { type InstanceName, type MountName, isMountName } from '../../core/ids.js';
import type { InstanceRecord } from '../../core/instance-record.js';
import type { Manifest } from '../../core/manifest.js';
import type { ObjectReader, SnapshotRef } from '../../core/ports.js';
import type { RemoteSnapshot } from '../../core/remote/report.js';
import type { RemoteRefusal, RefusedSnapshot } from '../../core/remote/results.js';
import type { Quarantine, QuarantinedObjects } from '../../core/remote/remotes.js';
import { encodeCommit } from '../../core/snapshot-record.js';
import { SnapError, isSnapError } from '../../errors.js';
import type { Context } from '../context.js';
import { SharedTrees } from '../shared-trees.js';
import { embeddedRecord, readManifest } from '../snapshot-content.js';
import { withState } from '../state/held-state.js';
import { type KnownSnapshot, know } from '../snapshots.js';
import { GitStateExaminer } from './examine-git-state.js';

/*
 * What came from a remote is a stranger's: a snapshot is accepted that this program might have written, to the byte where
 * there is only one way to write it, and that a restore can read.
 */

export async function examine(
  context: Pick<Context, 'gitStates' | 'interruption' | 'onProgress' | 'registry'>,
  quarantine: Quarantine,
  { wanted, related }: { readonly wanted: readonly RemoteSnapshot[]; readonly related: ReadonlySet<InstanceName> },
): Promise<{ accepted: SnapshotRef[]; refused: RefusedSnapshot[] }> {
  const came = new Map((await quarantine.snapshots()).map((ref) => [ref.ref, ref]));
  const commits = [...came.values()].map(({ commit }) => commit);
  const incomplete = await quarantine.incomplete(commits);
  const objects = quarantine.open();
  // Of all at once: they share most of their trees.
  await objects.oversizedSnapshots(commits.filter((commit) => !incomplete.has(commit)));
  const isOther = ({ name, createdAt }: InstanceRecord): boolean =>
    !related.has(name) && (context.registry.find(name)?.createdAt ?? createdAt) !== createdAt;
  const examiner = new Examiner(context, objects, isOther);
  const accepted: SnapshotRef[] = [];
  const refused: RefusedSnapshot[] = [];
  try {
    for (const [at, snapshot] of wanted.entries()) {
      await context.interruption.pause();
      const ref = came.get(snapshot.ref);
      const isWhole = ref !== undefined && !incomplete.has(ref.commit);
      const problem = isWhole ? await examiner.problemOf(ref) : notWhole;
      if (ref !== undefined && problem === null) accepted.push(ref);
      else refused.push({ ...snapshot, ...(problem ?? notWhole) });
      context.onProgress({ phase: 'check', files: at + 1, bytes: 0, totalFiles: wanted.length, totalBytes: null });
    }
  } finally {
    await objects.reader.close();
  }
  return { accepted, refused };
}

const notWhole: Problem = { reason: 'incomplete', detail: '' };

interface Problem {
  readonly reason: RemoteRefusal;
  readonly detail: string;
}

class Examiner {
  readonly #isOther: (record: InstanceRecord) => boolean;
  readonly #objects: QuarantinedObjects;
  readonly #gitStates: GitStateExaminer;
  readonly #trees: SharedTrees;

  /** @param isOther whether an instance of that name here is another one */
  constructor(
    context: Pick<Context, 'gitStates' | 'interruption'>,
    objects: QuarantinedObjects,
    isOther: (record: InstanceRecord) => boolean,
  ) {
    this.#isOther = isOther;
    this.#objects = objects;
    this.#trees = new SharedTrees(objects);
    this.#gitStates = new GitStateExaminer(context, objects);
  }

  async problemOf(ref: SnapshotRef): Promise<Problem | null> {
    try {
      return await this.#examine(ref);
    } catch (error) {
      if (isSnapError(error, 'FORMAT_UNKNOWN')) return { reason: 'unknown_format', detail: error.message };
      if (isSnapError(error, 'STORE_DAMAGED')) return { reason: 'no_snapshot', detail: error.data.problem };
      // A path in it that leads elsewhere.
      if (isSnapError(error, 'USAGE')) return { reason: 'no_snapshot', detail: error.message };
      throw error;
    }
  }

  async #examine(ref: SnapshotRef): Promise<Problem | null> {
    const { reader } = this.#objects;
    const known = know(ref);
    await refuseOddCommit(reader, known);
    const manifest = await readManifest(reader, known);
    refuseOddManifest(known, manifest);
    const all = manifest.state === undefined ? manifest : withState(manifest);
    const names = all.mounts.map(({ name }) => name as MountName);
    await this.#refuseOddLayout(ref, names);
    for (const name of names) {
      await this.#trees.read(known, all, name);
      const gap = await this.#gitStates.gapIn(known, name);
      if (gap !== undefined) return { reason: 'incomplete', detail: gap };
    }
    // Of two instances of one name, neither is to have the snapshots of the other.
    return this.#isOther(embeddedRecord(manifest, known)) ? { reason: 'other_history', detail: '' } : null;
  }

  /** At the levels that are ours, nothing but what the format has. */
  async #refuseOddLayout({ tree }: SnapshotRef, names: readonly string[]): Promise<void> {
    const perMount = names.flatMap((name) => [
      ...[`mounts/${name}`, `meta/mounts/${name}`],
      ...['attributes', 'observed', 'git'].map((part) => `meta/mounts/${name}/${part}`),
    ]);
    const allowed = new Set(['meta', 'meta/manifest.json', 'meta/mounts', 'mounts', ...perMount]);
    const content = new Set(names.flatMap((name) => [`mounts/${name}`, `meta/mounts/${name}/git`]));
    const passed = new Set<string>();
    const passesOver = (path: string): boolean => {
      if (!allowed.has(path)) throw odd(`there is ${JSON.stringify(path)} in its tree`);
      if (content.has(path)) passed.add(path);
      return content.has(path);
    };
    for await (const { path, type } of this.#objects.listTree(tree, passesOver)) {
      const isPlain = /(?:^|\/)(?:manifest\.json|attributes|observed)$/.test(path);
      if (!allowed.has(path) || content.has(path) || isPlain !== (type === 'blob'))
        throw odd(`there is ${JSON.stringify(path)} in its tree`);
    }
    for (const name of names) if (!passed.has(`mounts/${name}`)) throw odd(`it has no tree for the mount ${name}`);
  }
}

/** No parent, no other header, no other identity: then its id follows from what its message says. */
async function refuseOddCommit(reader: ObjectReader, { ref, record }: KnownSnapshot): Promise<void> {
  const { content } = await reader.read(ref.commit, 'commit');
  const { tree, message } = ref;
  const expected = encodeCommit({ tree, parent: null, createdAt: record.createdAt, message });
  if (!expected.equals(content)) throw odd('its commit is not written as that of a snapshot');
}

function refuseOddManifest(known: KnownSnapshot, manifest: Manifest): void {
  const { record } = known;
  if (manifest.instance !== record.instance || manifest.seq !== record.seq || manifest.id !== record.id)
    throw odd('its manifest is that of another snapshot');
  const own = manifest.mounts.map(({ name }) => name);
  if (record.mounts.map(({ name }) => name).join(' ') !== own.join(' '))
    throw odd('its manifest has other mounts than its message');
  const names = manifest.state === undefined ? own : [...own, manifest.state.name];
  if (own.length === 0 || new Set(names).size !== names.length || !names.every(isMountName))
    throw odd('its mounts have no names of their own');
  embeddedRecord(manifest, known);
}

function odd(problem: string): SnapError<'STORE_DAMAGED'> {
  return new SnapError('STORE_DAMAGED', `This is no snapshot: ${problem}.`, { problem });
}
