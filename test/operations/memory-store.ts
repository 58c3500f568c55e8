/* eslint-disable @typescript-eslint/require-await -- the port is asynchronous, and what fails must reject */
import type { InstanceName, ObjectId } from '../../src/core/ids.js';
import { toSeq } from '../../src/core/ids.js';
import type {
  ObjectReader,
  ObjectType,
  ObjectWriter,
  RefChange,
  SnapshotRef,
  Store,
  TreeEntry,
} from '../../src/core/ports.js';
import { SnapError } from '../../src/errors.js';
import { encodeTree, hashObject } from '../../src/git/pack/format.js';

interface StoredObject {
  readonly type: 'blob' | 'tree' | 'commit';
  readonly content: Buffer;
  readonly entries?: readonly TreeEntry[];
}

/** Called ahead of every step, by the name of the port's method; it may throw. */
export type Step = (name: string) => void;

/** A store in memory. What it does not need for saves and lists fails. */
export class MemoryStore {
  readonly objects = new Map<string, StoredObject>();
  readonly refs = new Map<string, ObjectId>();
  readonly openWriters = new Set<ObjectWriter>();
  readonly openReaders = new Set<ObjectReader>();
  leftovers = false;
  readonly #step: Step;

  constructor(step: Step) {
    this.#step = step;
  }

  get port(): Store {
    const step = this.#step;
    const unused = (): never => {
      throw new Error('a store in memory cannot do that');
    };
    return {
      prepare: async () => step('prepare'),
      exists: () => true,
      snapshots: async (instance, newest = Infinity) => (step('snapshots'), this.#snapshots(instance).slice(-newest)),
      snapshotNumbers: (instance) => {
        step('snapshotNumbers');
        return this.#snapshots(instance).map(({ seq }) => seq);
      },
      snapshot: async (instance, seq) => {
        step('snapshot');
        return this.#snapshots(instance).find((ref) => ref.seq === seq);
      },
      refs: async (prefix) => {
        step('refs');
        return [...this.refs].filter(([name]) => name.startsWith(prefix)).map(([name, oid]) => ({ name, oid }));
      },
      refNames: (prefix) => [...this.refs.keys()].filter((name) => name.startsWith(prefix)),
      nextLook: () => undefined,
      noteNextLook: () => undefined,
      unreadableRefs: async () => [],
      putRefFile: unused,
      packedRefsProblems: () => [],
      rewritePackedRefs: unused,
      noteLastPackedRef: unused,
      findCommits: unused,
      missingParts: () => [],
      changeRefs: async (changes) => {
        step('changeRefs');
        this.#changeRefs(changes);
      },
      startAhead: () => ({ store: this.port, end: () => Promise.resolve() }),
      dropRefLocks: () => step('dropRefLocks'),
      newWriter: () => (step('newWriter'), this.#newWriter()),
      newScratchWriter: unused,
      reader: () => this.#newReader(),
      listTree: unused,
      checkConnected: async (commits) => {
        step('checkConnected');
        for (const oid of commits) this.#get(oid, 'commit');
      },
      brokenSnapshots: () => Promise.resolve(new Set()),
      oversizedSnapshots: () => Promise.resolve(new Set()),
      findAsWritten: () => Promise.resolve(new Set()),
      fsck: unused,
      countObjects: unused,
      checkContent: unused,
      findDamage: unused,
      notedDamage: () => [],
      forgetDamage: unused,
      damagedObjects: unused,
      newMendingWriter: unused,
      packKept: unused,
      removeRest: unused,
      bytesReachable: unused,
      usage: unused,
      bytesOfObjects: () => 0,
      countPacks: () => 0,
      gatherPacks: unused,
      removeGathered: unused,
      packRefs: unused,
      sweep: async () => {
        step('sweep');
        this.leftovers = false;
      },
      hasLeftovers: () => this.leftovers,
      diff: unused,
      log: unused,
      sizeOnDisk: unused,
      gitVersion: unused,
    };
  }

  #snapshots(instance: InstanceName | null): SnapshotRef[] {
    const found = [...this.refs].flatMap(([ref, commit]): SnapshotRef[] => {
      const [, name, number] = /^refs\/jackin\/([^/]+)\/(\d+)$/.exec(ref) ?? [];
      const seq = toSeq(number ?? '');
      if (name === undefined || seq === undefined || (instance !== null && name !== instance)) return [];
      const text = this.#get(commit, 'commit').content.toString('utf8');
      const tree = text.slice(5, 45) as ObjectId;
      return [
        { instance: name as InstanceName, seq, ref, commit, tree, message: text.slice(text.indexOf('\n\n') + 2) },
      ];
    });
    return found.sort((a, b) => a.seq - b.seq);
  }

  #changeRefs(changes: readonly RefChange[]): void {
    for (const { name, old } of changes)
      if ((this.refs.get(name) ?? null) !== old) throw new SnapError('REF_EXISTS', `${name} moved`, { ref: name });
    for (const { name, new: oid } of changes) {
      if (oid === null) this.refs.delete(name);
      else this.refs.set(name, oid);
    }
  }

  #newWriter(): ObjectWriter {
    const step = this.#step;
    const fresh = new Map<string, StoredObject>();
    let bytes = 0;
    const add = (object: StoredObject): ObjectId => {
      const oid = hashObject(object.type, object.content);
      fresh.set(oid, object);
      bytes += object.content.length;
      return oid;
    };
    const writer: ObjectWriter = {
      writeBlob: (content) => (step('writeBlob'), add({ type: 'blob', content: Buffer.from(content) })),
      writeLargeBlob: () => Promise.reject(new Error('nothing is that large')),
      writeTree: (entries) => (
        step('writeTree'),
        add({ type: 'tree', content: encodeTree(entries), entries: [...entries] })
      ),
      writeCommit: (content) => (step('writeCommit'), add({ type: 'commit', content: Buffer.from(content) })),
      has: (oid) => fresh.has(oid) || this.objects.has(oid),
      get bytesAdded() {
        return bytes;
      },
      publish: async () => {
        step('publish');
        for (const [oid, object] of fresh) this.objects.set(oid, object);
      },
      abandon: async () => {
        this.openWriters.delete(writer);
        return Promise.resolve();
      },
    };
    this.openWriters.add(writer);
    return writer;
  }

  #newReader(): ObjectReader {
    const reader: ObjectReader = {
      read: async (name, type) => {
        this.#step('read');
        return this.#resolve(name, type) ?? this.#missing(name);
      },
      find: async (name, type) => {
        this.#step('find');
        return this.#resolve(name, type);
      },
      expect: () => undefined,
      stream: () => Promise.reject(new Error('nothing is streamed')),
      close: async () => {
        this.openReaders.delete(reader);
        return Promise.resolve();
      },
    };
    this.openReaders.add(reader);
    return reader;
  }

  /** `<oid>` or `<commit>:<path>`. */
  #resolve(name: string, type: ObjectType): { oid: ObjectId; content: Buffer } | undefined {
    const [start = '', path] = name.split(':');
    let oid = start as ObjectId;
    if (path !== undefined) {
      oid = this.#get(oid, 'commit').content.toString('latin1', 5, 45) as ObjectId;
      for (const part of path.split('/')) {
        const entry = this.objects.get(oid)?.entries?.find((found) => found.name === part);
        if (entry === undefined) return undefined;
        oid = entry.oid;
      }
    }
    const object = this.objects.get(oid);
    return object?.type === type ? { oid, content: object.content } : undefined;
  }

  #get(oid: ObjectId, type: ObjectType): StoredObject {
    const object = this.objects.get(oid);
    return object?.type === type ? object : this.#missing(oid);
  }

  #missing(name: string): never {
    throw new SnapError('STORE_DAMAGED', `${name} is missing`, { problem: name });
  }
}
