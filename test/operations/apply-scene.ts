import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lchownSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { StoredEntry } from '../../src/core/entry.js';
import type { EntryPath, HostPath } from '../../src/core/entry-path.js';
import type { ObjectId } from '../../src/core/ids.js';
import { inverse } from '../../src/core/journal-record.js';
import { ObservedSet } from '../../src/core/observed-set.js';
import type { NewFile, ObjectReader, WritableDirectory } from '../../src/core/ports.js';
import { type Change, planRestore } from '../../src/core/restore-plan.js';
import { openMount } from '../../src/fs/held-directory.js';
import { hasher } from '../../src/git/pack/hasher.js';
import { Interruption } from '../../src/operations/interruption.js';
import { type Applied, type ApplyRequest, applyChanges } from '../../src/operations/restore/apply.js';
import { buildTree } from '../support/build-tree.js';
import { compareTrees } from '../support/compare.js';
import { reach } from '../support/reach.js';
import { removeTree } from '../support/remove-tree.js';
import { tempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { type TreeEntry, walkTree } from '../support/walk.js';

/** Who owns what a scene holds, when not the caller. */
export const nobody = { uid: 65_534, gid: 65_534 };

const prefix = '.jackin-TEST-';

/** A folder as it was and as it is, on a real disk, and the changes that lead from one to the other. */
export class ApplyScene {
  readonly area = tempDir('apply');
  readonly mount: string = join(this.area, 'mount');
  readonly then: TreeSpec;
  readonly now: TreeSpec;
  readonly owner: typeof nobody | undefined;
  wasThen: readonly TreeEntry[] = [];
  wasNow: readonly TreeEntry[] = [];
  changes: readonly Change[] = [];
  readonly lent = new Map<EntryPath, number>();
  /** How often the file system was synced, when files are synced together; null when one by one. */
  syncs: number | null = null;
  readonly #contents = new Map<string, Buffer>();

  private constructor(then: TreeSpec, now: TreeSpec, owner: typeof nobody | undefined) {
    this.then = then;
    this.now = now;
    this.owner = owner;
  }

  static async make(then: TreeSpec, now: TreeSpec, owner?: typeof nobody): Promise<ApplyScene> {
    const scene = new ApplyScene(then, now, owner);
    if (owner !== undefined) chownSync(scene.area, owner.uid, owner.gid);
    await scene.build(then);
    scene.wasThen = scene.look();
    const wanted = scene.#entries();
    await scene.build(now);
    scene.wasNow = scene.look();
    scene.changes = changesBetween(wanted, scene.#entries(), scene.wasNow);
    return scene;
  }

  /** Makes the mount anew, as the tree says. */
  async build(tree: TreeSpec): Promise<void> {
    removeTree(this.mount);
    await buildTree(this.mount, tree);
    const { owner } = this;
    if (owner === undefined) return;
    for (const { path, mode, type } of walkTree(this.mount, { withRoot: true }))
      reach(this.mount, path, (hostPath) => chown(hostPath, owner, mode, type === 'symlink'));
  }

  look(): TreeEntry[] {
    return walkTree(this.mount, { withRoot: true, lendModes: true });
  }

  unlikeThen(): string[] {
    return compareTrees(this.wasThen, this.look());
  }

  unlikeNow(): string[] {
    return compareTrees(this.wasNow, this.look());
  }

  get inverses(): Change[] {
    return this.changes.map(inverse);
  }

  async apply(more: Partial<ApplyRequest> = {}): Promise<Applied> {
    const root = openMount(this.mount as HostPath);
    try {
      return await applyChanges({
        root,
        changes: this.changes,
        temporaryPrefix: prefix,
        reader: this.reader,
        hasher,
        remembered: () => undefined,
        onLend: (path, mode) => {
          if (!this.lent.has(path)) this.lent.set(path, mode);
        },
        lentBefore: new Map(),
        interruption: new Interruption(undefined),
        onFile: () => undefined,
        syncedTogetherFrom: this.syncs === null ? Infinity : 1,
        syncFileSystem: () => {
          if (this.syncs !== null) this.syncs += 1;
          return Promise.resolve(true);
        },
        ...more,
      });
    } finally {
      root.close();
    }
  }

  /** Applies until the step with this number, which and all after it fail as if the process were gone. */
  async applyUntilKilled(step: number, changes: readonly Change[] = this.changes): Promise<'killed' | 'done'> {
    const root = openMount(this.mount as HostPath);
    const life = { steps: step };
    try {
      await this.apply({ root: mortal(root, life), changes });
      return 'done';
    } catch (error) {
      if (error instanceof Killed) return 'killed';
      throw error;
    } finally {
      root.close();
    }
  }

  /** As a resumed restore begins: without the temporary files of the one that was killed. */
  removeTemporaries(): void {
    for (const { path } of this.look())
      if (path.slice(path.lastIndexOf('/') + 1).startsWith(prefix))
        reach(this.mount, path, (hostPath) => rmSync(hostPath, { recursive: true, force: true }));
  }

  temporaries(): string[] {
    return this.look().flatMap(({ path }) => (path.includes(prefix) ? [path] : []));
  }

  readonly reader: Pick<ObjectReader, 'stream' | 'read' | 'expect'> = {
    expect: () => undefined,
    stream: async (oid, onChunk) => {
      const content = this.#content(oid);
      const half = Math.ceil(content.length / 2);
      for (const chunk of [content.subarray(0, half), content.subarray(half)]) await onChunk(chunk);
    },
    read: (oid) => Promise.resolve({ oid: oid as ObjectId, content: this.#content(oid) }),
  };

  #content(oid: string): Buffer {
    const content = this.#contents.get(oid);
    if (content === undefined) throw new Error(`nobody stored ${oid}`);
    return content;
  }

  #entries(): Map<EntryPath, StoredEntry> {
    const entries = this.look().map((found) => [found.path as EntryPath, this.#toEntry(found)] as const);
    return new Map(entries);
  }

  #toEntry(found: TreeEntry): StoredEntry {
    const { uid, gid, mode } = found;
    const base = { path: found.path as EntryPath, uid, gid };
    if (found.type === 'directory') return { kind: 'directory', mode, ...base };
    const link = found.linkGroup === null ? {} : { linkedTo: found.linkGroup as EntryPath };
    const content = found.target === null ? this.#read(found.path) : Buffer.from(found.target, 'latin1');
    const oid = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex') as ObjectId;
    this.#contents.set(oid, content);
    const stored = { oid, size: content.length, ...link, ...base };
    if (found.type === 'symlink') return { kind: 'symlink', ...stored };
    return { kind: 'file', mode, sparse: found.blocks * 512 + 65_536 <= found.size, ...stored };
  }

  #read(path: string): Buffer {
    return reach(this.mount, path, (hostPath) => readFileSync(hostPath));
  }
}

function chown(hostPath: Buffer, { uid, gid }: typeof nobody, mode: number, link: boolean): void {
  lchownSync(hostPath, uid, gid);
  // Being given away clears set-id bits.
  if (!link) chmodSync(hostPath, mode);
}

function changesBetween(
  wanted: ReadonlyMap<EntryPath, StoredEntry>,
  live: ReadonlyMap<EntryPath, StoredEntry>,
  found: readonly TreeEntry[],
): readonly Change[] {
  const groupOf = (entry: StoredEntry | undefined): EntryPath | undefined =>
    entry === undefined || entry.kind === 'directory' ? undefined : entry.linkedTo;
  const sharedElsewhere = (path: EntryPath): boolean => {
    const group = groupOf(live.get(path));
    const own = groupOf(wanted.get(path));
    const members = found.filter(({ path: other }) => groupOf(live.get(other as EntryPath)) === group);
    return (
      group !== undefined &&
      members.some(({ path: other }) => own === undefined || groupOf(wanted.get(other as EntryPath)) !== own)
    );
  };
  return planRestore({
    wanted,
    observedThen: new ObservedSet([], (path) => wanted.get(path)?.kind === 'directory', null),
    live,
    liveLeftOut: new Map(),
    sharedElsewhere,
    scope: null,
    noDelete: false,
    deleteNewRepositories: false,
    returned: new Map(),
    protection: () => null,
    maySetOwner: () => true,
  }).changes;
}

export class Killed extends Error {}

const changing: ReadonlySet<string | symbol> = new Set<keyof WritableDirectory | keyof NewFile>([
  'createFile',
  'makeDirectory',
  'makeSymlink',
  'link',
  'rename',
  'unlink',
  'removeDirectory',
  'setMode',
  'setOwnMode',
  'setOwner',
  'finish',
]);

/** A directory through which no more than so many changes are made. `before` is called ahead of each. */
export function mortal(
  directory: WritableDirectory,
  life: { steps: number },
  before: () => void = () => undefined,
): WritableDirectory {
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name): unknown {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          if (changing.has(name)) {
            if (life.steps-- <= 0) {
              if (name === 'finish') (target as unknown as NewFile).abandon();
              throw new Killed();
            }
            before();
          }
          const result: unknown = Reflect.apply(member, target, args);
          return name === 'enter' || name === 'createFile' ? wrap(result as object) : result;
        };
      },
    });
  return wrap(directory);
}

/** How many changes an application makes. */
export async function countSteps(scene: ApplyScene, changes: readonly Change[] = scene.changes): Promise<number> {
  const root = openMount(scene.mount as HostPath);
  const life = { steps: Number.MAX_SAFE_INTEGER };
  try {
    await scene.apply({ root: mortal(root, life), changes });
  } finally {
    root.close();
  }
  return Number.MAX_SAFE_INTEGER - life.steps;
}

/** Runs with the rights of an ordinary user. */
export async function asNobody<T>(act: () => Promise<T>): Promise<T> {
  const { seteuid, setegid, geteuid, getegid } = process;
  if (seteuid === undefined || setegid === undefined || geteuid === undefined || getegid === undefined)
    throw new Error('no users here');
  const before = { uid: geteuid(), gid: getegid() };
  setegid(nobody.gid);
  seteuid(nobody.uid);
  try {
    return await act();
  } finally {
    seteuid(before.uid);
    setegid(before.gid);
  }
}

/** True where this process may become another user and back. */
export const canBecomeNobody: boolean = process.geteuid?.() === 0;
