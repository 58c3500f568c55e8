import {
  type EntryStat,
  type LeftOutReason,
  type ObservedOnly,
  type StoredFile,
  type StoredSymlink,
  isSettled,
} from '../../core/entry.js';
import { type EntryPath, joinPath, rootPath } from '../../core/entry-path.js';
import type { ObjectId } from '../../core/ids.js';
import { escapeName } from '../../core/name-escape.js';
import type {
  Directory,
  ObjectWriter,
  RecordedDirectory,
  RecordedSubtree,
  StatCache,
  StatCacheRecorder,
} from '../../core/ports.js';
import { systemCode } from '../../errors.js';
import type { Interruption } from '../interruption.js';
import { asOwnFailure, endedByOwnFailures, ownWriter } from '../own-failures.js';
import {
  type CaptureStats,
  type Captured,
  type DirectoryRules,
  type Level,
  addRecordedFiles,
  addTree,
  dependsOnStat,
  fileMode,
  noStats,
  noteSettled,
} from './level.js';
import { type Grafts, TakenOver, pathsByRanges } from './grafts.js';
import { LinkGroups } from './link-groups.js';
import { absentIn, isInScope } from './scope.js';
import { type ContentForm, type ReadFile, readStable } from './read-stable.js';
import { isDenied } from './walk-failures.js';

/*
 * The walk: every entry of a mount once, in byte order, through held descriptors. What is to be stored goes to the
 * object writer, trees after their content; what is not is noted with its reason. The mount is only read.
 */

export interface CaptureRequest {
  readonly root: Directory;
  readonly rules: DirectoryRules;
  readonly writer: Pick<ObjectWriter, 'writeBlob' | 'writeLargeBlob' | 'writeTree' | 'has'>;
  readonly cache: StatCache | undefined;
  readonly recorder: StatCacheRecorder | undefined;
  /** What is taken over from the last walk in the place of walking it. */
  readonly grafts: Grafts | undefined;
  /** When the capture began, nanoseconds since the epoch. */
  readonly momentNs: bigint;
  /** Only these paths and what lies below them; null for all. */
  readonly scope: readonly EntryPath[] | null;
  /** Tells whether so many more bytes may be stored. */
  readonly hasRoom: (bytes: number) => boolean;
  readonly interruption: Interruption;
  readonly onFile: (bytes: number) => void;
  /** How a file that the cache does not know is read; default: stably, in full. */
  readonly read?: ReadFile | undefined;
}

export interface CapturedTree {
  /** The mount's own tree; undefined when nothing at all is stored. */
  readonly tree: ObjectId | undefined;
  /** What was walked, by path, directories before their content. The root is ''. */
  readonly entries: ReadonlyMap<EntryPath, Captured>;
  /** What was taken over unwalked: nothing of it is in `entries` and `bare`. */
  readonly grafted: TakenOver;
  readonly leftOut: readonly ObservedOnly[];
  /** Directories that were entered and not listed to their end. */
  readonly incomplete: readonly EntryPath[];
  /** Directories that no tree shows, since nothing below them is stored. */
  readonly bare: readonly EntryPath[];
  /** Limits of the scope where nothing is. */
  readonly absent: readonly EntryPath[];
  readonly stats: CaptureStats;
}

/** A failure of the writer ends the walk, whatever it is; one of an entry only leaves that entry out. */
export async function capture(request: CaptureRequest): Promise<CapturedTree> {
  const [writer, onFile] = [ownWriter(request.writer), asOwnFailure(request.onFile)];
  return endedByOwnFailures(() => new Walk({ ...request, writer, onFile }).run());
}

class Walk {
  readonly #request: CaptureRequest;
  readonly #entries = new Map<EntryPath, Captured>();
  readonly #grafted = new TakenOver();
  readonly #leftOut: ObservedOnly[] = [];
  readonly #incomplete: EntryPath[] = [];
  readonly #bare: EntryPath[] = [];
  readonly #links = new LinkGroups();
  readonly #levels: Level[] = [];
  /** Files whose blobs, as recorded, hold data ranges. */
  readonly #knownByRanges: ReadonlySet<EntryPath>;
  readonly #stats: CaptureStats = noStats();
  #tree: ObjectId | undefined;

  constructor(request: CaptureRequest) {
    this.#request = request;
    this.#knownByRanges = pathsByRanges(request.cache?.notes);
  }

  async run(): Promise<CapturedTree> {
    const { root, grafts, rules } = this.#request;
    const whole = grafts?.at(rootPath, rules.key);
    try {
      if (whole === undefined) await this.#enter(rootPath, '', root, root.statSelf());
      else this.#tree = this.#adopt(whole);
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        await this.#request.interruption.pause();
        const name = level.names[level.next++];
        if (name === undefined) this.#leave(level);
        else await this.#visit(level, name, 0);
      }
    } finally {
      for (const level of this.#levels.reverse()) if (level.directory !== root) level.directory.close();
    }
    this.#links.join(this.#entries);
    return {
      tree: this.#tree,
      entries: this.#entries,
      grafted: this.#grafted,
      leftOut: grafts === undefined ? this.#leftOut : grafts.withLeftOut(this.#leftOut, this.#grafted),
      incomplete: this.#incomplete,
      bare: this.#bare,
      absent: absentIn(this.#request.scope, this.#entries, this.#leftOut),
      stats: grafts === undefined ? this.#stats : grafts.withTallies(this.#stats, this.#grafted),
    };
  }

  async #enter(path: EntryPath, name: string, directory: Directory, stat: EntryStat): Promise<void> {
    const { cache, rules } = this.#request;
    const outer = this.#levels.at(-1)?.rules ?? rules;
    const names = this.#namesIn(path, directory);
    if (names === undefined) return;
    this.#request.recorder?.enter(path, stat, outer.recordedKey);
    const recorded = this.#request.grafts?.in(path, outer.key, stat);
    const level: Level = {
      path,
      name,
      directory,
      stat,
      names,
      rules: await outer.enter(path, directory, names),
      cached: cache?.directory(path) ?? (() => undefined),
      tree: [],
      settled: [],
      firm: isSettled(stat, this.#request.momentNs),
      next: 0,
      adopted: recorded,
    };
    this.#levels.push(level);
    if (recorded !== undefined) this.#adoptOwn(level, recorded);
    this.#entries.set(path, { kind: 'directory', path, mode: stat.mode, uid: stat.uid, gid: stat.gid, stat });
  }

  /** Undefined when the directory may not be listed. */
  #namesIn(path: EntryPath, directory: Directory): string[] | undefined {
    try {
      return directory.list();
    } catch (error) {
      if (path === rootPath || !isDenied(error)) throw error;
      directory.close();
      this.#noteLeftOut(path, 'unreadable', true);
      return undefined;
    }
  }

  #leave(level: Level): void {
    this.#levels.pop();
    const parent = this.#levels.at(-1);
    const oid = level.tree.length > 0 ? this.#request.writer.writeTree(level.tree) : undefined;
    this.#request.recorder?.leave(level.settled, oid, level.firm, level.adopted);
    if (parent === undefined) this.#tree = oid;
    else {
      if (oid === undefined) this.#bare.push(level.path);
      else addTree(parent, level.name, oid);
      level.directory.close();
    }
  }

  /** Takes a subtree over as it is recorded. @returns its tree */
  #adopt(subtree: RecordedSubtree): ObjectId | undefined {
    this.#grafted.addSubtree(subtree);
    this.#request.recorder?.adopt(subtree);
    return subtree.tree;
  }

  /** Takes over all of a directory but the subdirectories in which something changed. */
  #adoptOwn(level: Level, recorded: RecordedDirectory): void {
    level.names = recorded.subdirectories.filter((name) => !this.#isGrafted(level, name, joinPath(level.path, name)));
    this.#grafted.addDirectory(
      recorded,
      level.names.map((name) => joinPath(level.path, name)),
    );
    addRecordedFiles(level, recorded);
  }

  #isGrafted(level: Level, name: string, path: EntryPath): boolean {
    const subtree = this.#request.grafts?.at(path, level.rules.key);
    if (subtree === undefined) return false;
    const oid = this.#adopt(subtree);
    if (oid !== undefined) addTree(level, name, oid);
    return true;
  }

  async #visit(level: Level, name: string, attempt: number): Promise<void> {
    const path = joinPath(level.path, name);
    const stat = this.#statOf(level, name, path);
    if (stat === undefined) level.firm = false;
    if (stat === undefined || !isInScope(this.#request.scope, path, stat)) return;
    if (stat.kind !== 'directory' && attempt === 0) this.#stats.filesObserved += 1;
    const reason = level.rules.leaveOut(path, name, stat);
    if (reason !== null) this.#noteLeftOut(path, reason, stat.kind === 'directory');
    else if (attempt >= 3) this.#noteLeftOut(path, 'unstable', stat.kind === 'directory');
    else if (!(await this.#store(level, name, path, stat))) await this.#visit(level, name, attempt + 1);
  }

  #statOf(level: Level, name: string, path: EntryPath): EntryStat | undefined {
    try {
      return level.directory.stat(name);
    } catch (error) {
      if (!isDenied(error)) throw error;
      this.#noteLeftOut(path, 'unreadable', false);
      return undefined;
    }
  }

  /** False when the entry was another one by the time it was opened: it is looked at anew. */
  async #store(level: Level, name: string, path: EntryPath, stat: EntryStat): Promise<boolean> {
    try {
      if (stat.kind === 'directory') return await this.#storeDirectory(level, name, path, stat);
      if (stat.kind === 'symlink') return this.#storeSymlink(level, name, path, stat);
      return await this.#storeFile(level, name, path, stat);
    } catch (error) {
      level.firm = false;
      const code = systemCode(error);
      if (code === 'ENOENT') return true;
      if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENXIO' || code === 'EINVAL') return false;
      if (!isDenied(error)) throw error;
      this.#noteLeftOut(path, 'unreadable', stat.kind === 'directory');
      return true;
    }
  }

  async #storeDirectory(level: Level, name: string, path: EntryPath, stat: EntryStat): Promise<boolean> {
    if (this.#isGrafted(level, name, path)) return true;
    const directory = level.directory.enter(name);
    if (directory.identity.ino !== stat.ino || directory.identity.dev !== stat.dev) {
      directory.close();
      return false;
    }
    await this.#enter(path, name, directory, stat);
    return true;
  }

  #storeSymlink(level: Level, name: string, path: EntryPath, stat: EntryStat): boolean {
    const target = level.directory.readLink(name);
    const after = level.directory.stat(name);
    if (after?.ino !== stat.ino || after.ctimeNs !== stat.ctimeNs) return false;
    const oid = this.#request.writer.writeBlob(Buffer.from(target, 'latin1'));
    this.#links.note(path, stat);
    noteSettled(level, { name, stat, oid }, isSettled(stat, this.#request.momentNs));
    this.#add(level, name, 0o120000, {
      kind: 'symlink',
      path,
      oid,
      size: target.length,
      uid: stat.uid,
      gid: stat.gid,
      stat,
    });
    return true;
  }

  async #storeFile(level: Level, name: string, path: EntryPath, stat: EntryStat): Promise<boolean> {
    if (!this.#request.hasRoom(stat.size)) {
      this.#noteLeftOut(path, 'too_large', false);
      return true;
    }
    const known = level.cached(name, stat);
    if (known !== undefined && this.#request.writer.has(known)) {
      this.#stats.filesReused += 1;
      const form = this.#knownByRanges.has(path) ? 'by_ranges' : 'as_is';
      this.#addFile(level, name, path, { stat, oid: known, form }, true);
      return true;
    }
    const read = await (this.#request.read ?? readStable)(level.directory, name, this.#request.writer);
    if (read === 'unstable') this.#noteLeftOut(path, 'unstable', false);
    else if (read === 'another') return false;
    else {
      this.#stats.filesRead += 1;
      this.#stats.bytesRead += read.bytesRead;
      this.#addFile(level, name, path, read, isSettled(read.stat, this.#request.momentNs));
    }
    return true;
  }

  #addFile(
    level: Level,
    name: string,
    path: EntryPath,
    { stat, oid, form }: { readonly stat: EntryStat; readonly oid: ObjectId; readonly form: ContentForm },
    settled: boolean,
  ): void {
    noteSettled(level, { name, stat, oid }, settled);
    this.#links.note(path, stat);
    this.#stats.bytesStored += stat.size;
    this.#request.onFile(stat.size);
    const { mode, uid, gid, size, sparse } = stat;
    this.#add(level, name, fileMode(mode), {
      kind: 'file',
      path,
      mode,
      oid,
      size,
      sparse,
      ...(form === 'by_ranges' ? { byRanges: true } : {}),
      uid,
      gid,
      stat,
    });
  }

  #add(level: Level, name: string, treeMode: number, entry: Captured & (StoredFile | StoredSymlink)): void {
    this.#stats.filesStored += 1;
    this.#entries.set(entry.path, entry);
    level.tree.push({ mode: treeMode, name: escapeName(name, { kind: entry.kind, size: entry.size }), oid: entry.oid });
  }

  #noteLeftOut(path: EntryPath, reason: LeftOutReason, directory: boolean): void {
    const level = this.#levels.at(-1);
    if (level !== undefined && dependsOnStat.has(reason)) level.firm = false;
    this.#leftOut.push({ path, reason, directory });
  }
}
