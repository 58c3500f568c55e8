import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { HostPath, JackinSnap, RestoreRequest, RestoreResult, SaveRequest, SaveResult } from '../../src/index.js';
import { bytesOfText, createSnap, parseMountName } from '../../src/index.js';
import { buildTree } from '../support/build-tree.js';
import { fromBytes } from '../support/bytes.js';
import { treeFingerprint } from '../support/compare.js';
import { removeTree, removeWithin } from '../support/remove-tree.js';
import { fsckStrict, pushToStrictServer, storeGit } from '../support/store-git.js';
import { makeTempDir } from '../support/temp.js';
import type { TreeSpec } from '../support/tree-plan.js';
import type { TreeEntry } from '../support/walk.js';
import { walkTree } from '../support/walk.js';

/** What a mount holds, by the mount's name. */
export type Trees = ReadonlyMap<string, readonly TreeEntry[]>;

/**
 * One data directory with one instance, whose mounts hold one generated tree after the other. Several trees at a time:
 * what a command costs, apart from the files, is shared by them.
 */
export class Workspace {
  readonly dataDir: string;
  readonly snap: JackinSnap;
  readonly mounts: readonly { readonly name: string; readonly path: string }[];
  readonly #area: string;

  /** @param place on disk, or where possible in memory, where nothing waits for a disk */
  constructor(mounts: number, place: 'disk' | 'memory') {
    this.#area = place === 'memory' && hasMemory() ? mkdtempSync(`${memory}/jackin-trees-`) : makeTempDir('trees');
    this.dataDir = join(this.#area, 'data');
    this.mounts = Array.from({ length: mounts }, (_, index) => ({
      name: `tree-${index}`,
      path: join(this.#area, `mount ${index}`),
    }));
    for (const { path } of this.mounts) mkdirSync(path);
    const { PATH, HOME } = process.env;
    this.snap = createSnap({
      dataDir: this.dataDir,
      instance: 'trees',
      cwd: this.#area,
      env: { PATH, HOME, LC_ALL: 'C', TZ: 'UTC' },
    });
  }

  /** Fills the mounts as planned; their roots stay the directories that they are. */
  async fill(specs: readonly TreeSpec[]): Promise<void> {
    this.clear();
    for (const [index, { path }] of this.mounts.entries()) await buildTree(path, specs[index] ?? []);
  }

  clear(): void {
    for (const { path } of this.mounts) {
      chmodSync(path, 0o755);
      for (const name of readdirSync(path, { encoding: 'buffer' })) removeWithin(path, fromBytes(name));
    }
  }

  walk(): Trees {
    return new Map(this.mounts.map(({ name, path }) => [name, walkTree(path, { withRoot: true })]));
  }

  /** Two equal ones mean that no mount was written to in between. */
  fingerprint(): string {
    return this.mounts.map(({ name, path }) => `${name}\n${treeFingerprint(path)}`).join('');
  }

  save(request: SaveRequest = {}): Promise<SaveResult> {
    const folders = this.mounts.map(({ name, path }) => ({
      name: parseMountName(name),
      path: bytesOfText(path) as HostPath,
    }));
    return this.snap.save({ folders, ...request });
  }

  restore(snapshot: { readonly seq: number }, request: Partial<RestoreRequest> = {}): Promise<RestoreResult> {
    return this.snap.restore({ snapshot: String(snapshot.seq), confirm: yes, ...request });
  }

  undo(): Promise<RestoreResult> {
    return this.snap.undo({ confirm: yes });
  }

  /** What the last walks recorded, by file: a hint that may be taken away and put back. */
  records(): ReadonlyMap<string, Buffer> {
    const cache = join(this.dataDir, 'cache');
    const files = readdirSync(cache).filter((name) => name.startsWith('stat-'));
    return new Map(files.map((name) => [join(cache, name), readFileSync(join(cache, name))]));
  }

  setRecords(records: ReadonlyMap<string, Buffer>): void {
    for (const path of this.records().keys()) rmSync(path);
    for (const [path, record] of records) writeFileSync(path, record);
  }

  /** The ids of all that a snapshot holds, apart from what only tells when and as which number it was made. */
  contentIds(commit: string): string {
    return storeGit(this.dataDir, ['rev-parse', `${commit}:mounts`, `${commit}:meta/mounts`]).stdout;
  }

  /** What is left is clean for git itself, and a server that checks every object takes it. */
  async expectSoundStore(): Promise<void> {
    expect(fsckStrict(this.dataDir)).toEqual([]);
    const pushed = await pushToStrictServer(this.dataDir);
    expect(pushed.accepted, pushed.output).toBe(true);
  }

  remove(): void {
    removeTree(this.#area);
  }
}

const memory = '/dev/shm';

function hasMemory(): boolean {
  try {
    accessSync(memory, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 2 ** 30;
  } catch {
    return false;
  }
}

const yes = (): Promise<boolean> => Promise.resolve(true);
