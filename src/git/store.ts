import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { InstanceName, ObjectId, Seq } from '../core/ids.js';
import type {
  ContentCheck,
  ContentPart,
  ContentProgress,
  Damage,
  GatheredPacks,
  GitRequest,
  KeptObjects,
  ListedObject,
  ObjectReader,
  PassesOver,
  ObjectWriter,
  RefChange,
  RefValue,
  SnapshotRef,
  Store,
} from '../core/ports.js';
import { snapshotRefName } from '../core/snapshot-record.js';
import { Ahead } from './ahead.js';
import { showDiff, showLog } from './comparison.js';
import { brokenSnapshots, checkConnected, oversizedSnapshots } from './connectivity.js';
import { countPacks, gatherPacks, packRefs, removeGathered } from './consolidation.js';
import { checkContent, listObjects } from './check/content.js';
import { findDamage } from './check/damage.js';
import { allBut, damagedObjects, without } from './check/damaged-objects.js';
import { noteDamage, notedDamage } from './check/noted-damage.js';
import { checkStore } from './fsck.js';
import { bytesBelow, bytesOfObjects, bytesReachable } from './garbage/disk-usage.js';
import { nextLook, noteNextLook } from './garbage/next-look.js';
import { packKept } from './garbage/pack-kept.js';
import { removeRest } from './garbage/remove-rest.js';
import { hasLeftovers, sweep } from './garbage/sweep.js';
import { IntactCommits } from './intact-commits.js';
import { findCommits, putRefFile } from './lost-refs.js';
import { BatchReader } from './objects.js';
import { findAsWritten } from './pack/as-written.js';
import { KnownObjects } from './pack/known-objects.js';
import { PackWriter } from './pack/pack-writer.js';
import { type Environment, Programs } from './programs.js';
import { changeRefs, findSnapshotRef, listRefs, listSnapshotRefs, unreadableRefs } from './refs.js';
import { refNames, snapshotNumbers } from './ref-names.js';
import type { StoreUsage, UsageQuestion } from '../core/store-usage.js';
import type { FoundCommit, PackedRefsDamage } from '../core/lost-refs.js';
import { forgetLastPacked, noteLastPacked, packedRefsDamage, rewritePackedRefs } from './packed-refs.js';
import { missingParts, prepareRepository, repositoryExists } from './repository.js';
import { GitRunner, askVersion } from './run-git.js';
import { makeScratchObjects } from './scratch-objects.js';
import { listTree, listTreeInPart } from './tree-listing.js';
import { measureNothing, measureUsage } from './usage/measure.js';

export interface StoreOptions {
  readonly dataDir: string;
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  readonly heldLocks?: ReadonlySet<number>;
  /** False: not even git's version is noted down. */
  readonly remembers?: boolean;
  /** Directories, as bytes, whose programs are never run: the mounts. Asked for only when something is started. */
  readonly forbiddenProgramDirectories: () => readonly string[];
}

/** The store of a data directory. Opening it touches nothing; what each method guarantees is with its port. */
export function openStore(options: StoreOptions): Store {
  return new GitStore(options);
}

/** What a store goes on with that another began. */
interface Started {
  readonly git: GitRunner;
  readonly ahead: Ahead;
  readonly intact: IntactCommits;
}

/** Where the packs of a data directory's store lie. */
export function packDirectory(dataDir: string): string {
  return join(dataDir, 'store.git', 'objects', 'pack');
}

class GitStore implements Store {
  readonly #options: StoreOptions;
  readonly #dataDir: string;
  readonly #directory: string;
  readonly #git: GitRunner;
  readonly #ahead: Ahead | undefined;
  readonly #intact: IntactCommits;
  #isSound = false;

  constructor(options: StoreOptions, started?: Started) {
    this.#options = options;
    this.#dataDir = options.dataDir;
    this.#directory = join(options.dataDir, 'store.git');
    this.#git = started?.git ?? runnerFor(options, this.#directory);
    this.#ahead = started?.ahead;
    this.#intact = started?.intact ?? new IntactCommits(this.#git.settings);
  }

  async prepare(): Promise<void> {
    // First: without git nothing may be written.
    await this.#git.program();
    this.#ready();
  }

  exists(): boolean {
    return repositoryExists(this.#directory);
  }

  async snapshots(instance: InstanceName | null, newest?: number): Promise<SnapshotRef[]> {
    return this.exists() ? listSnapshotRefs(this.#ready(), instance, newest) : [];
  }

  snapshotNumbers(instance: InstanceName): Seq[] {
    return snapshotNumbers(this.#directory, instance);
  }

  async snapshot(instance: InstanceName, seq: Seq): Promise<SnapshotRef | undefined> {
    if (!this.exists()) return undefined;
    const git = this.#ready();
    return this.#reading((reader) => findSnapshotRef(git, snapshotRefName(instance, seq), reader));
  }

  async refs(prefix: string): Promise<RefValue[]> {
    return this.exists() ? listRefs(this.#ready(), prefix) : [];
  }

  refNames(prefix: string): string[] {
    return refNames(this.#directory, prefix);
  }

  async unreadableRefs(prefix: string): Promise<string[]> {
    return this.exists() ? unreadableRefs(this.#ready(), prefix) : [];
  }

  async changeRefs(changes: readonly RefChange[]): Promise<void> {
    const git = this.#ready();
    const deleted = changes.filter((change) => change.new === null).map(({ name }) => name);
    forgetLastPacked(this.#directory, deleted);
    await changeRefs(git, changes, { started: this.#ahead?.takeChange() });
  }

  startAhead(): ReturnType<Store['startAhead']> {
    const ahead = new Ahead(this.#ready());
    const started = { git: this.#git, ahead, intact: this.#intact };
    return { store: new GitStore(this.#options, started), end: () => ahead.end() };
  }

  dropRefLocks(names: readonly string[]): void {
    for (const name of names) rmSync(join(this.#directory, `${name}.lock`), { force: true });
  }

  newWriter(): ObjectWriter {
    const known = new KnownObjects(join(this.#directory, 'objects'));
    const noted = this.notedDamage();
    return this.#packWriter(noted.length === 0 ? known : without(known, new Set(noted)));
  }

  newMendingWriter(wanted: ReadonlySet<ObjectId>): ObjectWriter {
    return this.#packWriter(allBut(wanted));
  }

  #packWriter(known: Pick<KnownObjects, 'has'>): PackWriter {
    this.#ready();
    const [scratchParent, packs] = [join(this.#dataDir, 'tmp'), packDirectory(this.#dataDir)];
    return new PackWriter(known, { scratchParent, packDirectory: packs, durable: true });
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async newScratchWriter(): ReturnType<Store['newScratchWriter']> {
    this.#ready();
    return makeScratchObjects(join(this.#dataDir, 'tmp'), new KnownObjects(join(this.#directory, 'objects')));
  }

  reader(): ObjectReader {
    return new BatchReader(this.#ready());
  }

  listTree(tree: string, passesOver?: PassesOver, through?: ObjectReader): AsyncIterable<ListedObject> {
    if (passesOver === undefined) return listTree(this.#ready(), tree);
    if (through instanceof BatchReader) return listTreeInPart(through, tree, passesOver);
    return this.#listTreeInPart(tree, passesOver);
  }

  async *#listTreeInPart(tree: string, passesOver: PassesOver): AsyncGenerator<ListedObject> {
    const reader = new BatchReader(this.#ready());
    try {
      yield* listTreeInPart(reader, tree, passesOver);
    } finally {
      await reader.close();
    }
  }

  async checkConnected(commits: readonly ObjectId[], known: readonly ObjectId[]): Promise<void> {
    const git = this.#ready();
    // What is checked is about to be named.
    this.#ahead?.startChange();
    await this.#reading((reader) => checkConnected({ git, intact: this.#intact, reader }, commits, known));
  }

  async brokenSnapshots(commits: readonly ObjectId[]): Promise<Set<ObjectId>> {
    // Whoever asks of none may have no store: it is not made for that.
    return commits.length === 0 ? new Set() : brokenSnapshots(this.#ready(), this.#intact, commits);
  }

  async oversizedSnapshots(commits: readonly ObjectId[]): Promise<Set<ObjectId>> {
    return commits.length === 0 ? new Set() : oversizedSnapshots(this.#ready(), this.#intact, commits);
  }

  async findAsWritten(blobs: readonly ObjectId[], pause: () => Promise<void>): Promise<ReadonlySet<ObjectId>> {
    this.#ready();
    return findAsWritten(packDirectory(this.#dataDir), blobs, pause);
  }

  async fsck(full: boolean, onChecked: (done: ContentProgress) => void = () => undefined): Promise<string[]> {
    const found = await checkStore(this.#ready(), full, onChecked);
    return [...packedRefsDamage(this.#directory).problems, ...found];
  }

  async countObjects(): Promise<number> {
    return (await listObjects(this.#ready())).size;
  }

  async checkContent(part: ContentPart | null, onChecked: (done: ContentProgress) => void): Promise<ContentCheck> {
    return checkContent(this.#ready(), part, onChecked);
  }

  notedDamage(): readonly ObjectId[] {
    return notedDamage(this.#dataDir);
  }

  forgetDamage(): void {
    noteDamage(this.#dataDir, []);
  }

  async damagedObjects(commits: readonly ObjectId[]): Promise<ObjectId[]> {
    return damagedObjects(this.#ready(), commits);
  }

  async findDamage(
    commits: readonly ObjectId[],
    unreadable: ReadonlySet<ObjectId>,
    onSearched: (commits: number) => void,
  ): Promise<Map<ObjectId, Damage>> {
    return findDamage(new BatchReader(this.#ready()), { commits, unreadable }, onSearched);
  }

  async packKept(graceSeconds: number): Promise<KeptObjects> {
    return packKept(this.#ready(), graceSeconds);
  }

  nextLook(): number | undefined {
    return nextLook(this.#dataDir);
  }

  noteNextLook(bytes: number): void {
    noteNextLook(this.#dataDir, bytes);
  }

  async removeRest(kept: KeptObjects): Promise<void> {
    await removeRest(this.#ready(), kept);
  }

  async bytesReachable(commits: readonly ObjectId[]): Promise<number> {
    return bytesReachable(this.#ready(), commits);
  }

  async usage(question: UsageQuestion): Promise<StoreUsage> {
    if (!this.exists()) return measureNothing(question);
    const git = this.#ready();
    return measureUsage(git, new BatchReader(git), question);
  }

  bytesOfObjects(since?: number): number {
    return bytesOfObjects(join(this.#directory, 'objects'), since);
  }

  countPacks(): number {
    return countPacks(this.#directory);
  }

  async gatherPacks(): Promise<GatheredPacks | undefined> {
    return gatherPacks(this.#ready());
  }

  async removeGathered(packs: GatheredPacks): Promise<void> {
    await removeGathered(this.#ready(), packs);
  }

  async packRefs(): Promise<void> {
    await packRefs(this.#ready());
  }

  putRefFile(name: string, value: ObjectId | null): void {
    putRefFile(this.#directory, name, value);
  }

  packedRefsProblems(): readonly string[] {
    return packedRefsDamage(this.#directory).problems;
  }

  rewritePackedRefs(): PackedRefsDamage {
    return rewritePackedRefs(this.#directory);
  }

  noteLastPackedRef(): void {
    noteLastPacked(this.#directory);
  }

  async findCommits(): Promise<FoundCommit[]> {
    return findCommits(this.#ready());
  }

  missingParts(): string[] {
    return missingParts(this.#directory);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async sweep(): Promise<void> {
    sweep(this.#dataDir, this.#directory);
  }

  hasLeftovers(): boolean {
    return hasLeftovers(this.#dataDir, this.#directory);
  }

  async diff(from: string, to: string, request: GitRequest, scratch?: string): Promise<number> {
    return showDiff(this.#ready(), [from, to], request, scratch);
  }

  async log(refs: readonly string[], request: GitRequest): Promise<number> {
    return showLog(this.#ready(), refs, request);
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async sizeOnDisk(): Promise<number> {
    return bytesBelow(this.#directory);
  }

  async gitVersion(): Promise<string> {
    return (await this.#git.program()).version;
  }

  /** By the reader that was started ahead, or by one for this alone. */
  async #reading<Answer>(read: (reader: BatchReader) => Promise<Answer>): Promise<Answer> {
    if (this.#ahead !== undefined) return read(this.#ahead.reader);
    const reader = new BatchReader(this.#git);
    try {
      return await read(reader);
    } finally {
      await reader.close();
    }
  }

  /** Once before the first use: what lies on the disk is made sound, or refused. */
  #ready(): GitRunner {
    if (!this.#isSound) prepareRepository(this.#directory);
    this.#isSound = true;
    return this.#git;
  }
}

function runnerFor(options: StoreOptions, storeDirectory: string): GitRunner {
  const { dataDir, env, signal, heldLocks, remembers = true } = options;
  const programs = new Programs({ dataDir, env, remembers, forbiddenDirectories: options.forbiddenProgramDirectories });
  const settings = {
    dataDir,
    env,
    storeDirectory,
    searchPath: () => programs.searchPath,
    ...(heldLocks === undefined ? {} : { heldLocks }),
  };
  return new GitRunner(settings, () => programs.git((path) => askVersion(path, settings)), signal);
}
