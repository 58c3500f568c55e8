import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildTree } from '../support/build-tree.js';
import { fromBytes } from '../support/bytes.js';
import { removeWithin } from '../support/remove-tree.js';
import type { TreeSpec } from '../support/tree-plan.js';
import { directory, file, hardLink, symlink } from '../support/tree-plan.js';
import { walkTree } from '../support/walk.js';
import type { Memory, RunOptions } from './scene.js';
import { Scene, expectSame, remember } from './scene.js';

// Restores that are killed just before their n-th change to a mount. `then` is what the snapshot holds, `now` what the
// mounts hold when the restore begins: each kind of change at least once.

export const then: TreeSpec = [
  file('edited', 'v1 edited'),
  file('mode', 'same', 0o640),
  file('set-id', 'v1 set-id', 0o4755),
  file('gone', 'v1 gone', 0o600),
  directory('lost/empty', 0o711),
  file('lost/deep/file', 'v1 lost'),
  symlink('link', 'edited'),
  symlink('link-lost', 'nowhere'),
  file('file-now-folder', 'v1 file'),
  directory('folder-now-file', 0o750),
  file('folder-now-file/in', 'v1 in'),
  symlink('link-now-folder', 'edited'),
  directory('folder-now-link'),
  file('folder-now-link/in', 'v1 in'),
  symlink('link-now-file', 'edited'),
  file('file-now-link', 'v1 file'),
  file('pair/a', 'v1 pair'),
  hardLink('pair/b', 'pair/a'),
  file('read-only/edited', 'v1', 0o444),
  file('read-only/gone', 'v1 gone'),
  directory('read-only', 0o555),
  directory('modes', 0o2750),
];

export const now: TreeSpec = [
  file('edited', 'v2 edited'),
  file('mode', 'same', 0o600),
  file('set-id', 'v2 set-id', 0o755),
  symlink('link', 'elsewhere'),
  file('file-now-folder/sub/in', 'v2 in'),
  file('file-now-folder/other', 'v2 other'),
  file('folder-now-file', 'v2 file', 0o600),
  file('link-now-folder/in', 'v2 in'),
  symlink('folder-now-link', 'edited'),
  file('link-now-file', 'v2 file'),
  symlink('file-now-link', 'edited'),
  file('pair/a', 'v2 a'),
  file('pair/b', 'v2 b'),
  file('read-only/edited', 'v2'),
  file('read-only/new', 'v2 new'),
  directory('read-only', 0o555),
  directory('modes', 0o700),
  file('new/sub/file', 'v2 new'),
  directory('new/empty', 0o500),
];

const hook = join(import.meta.dirname, 'die-at.js');
/** Also the moments that are like others. */
export const everyMoment: boolean = process.env['JACKIN_TEST_EVERY_MOMENT'] === '1';

/** A scene with an instance of some mounts, all of them the same. */
export class Stage {
  readonly scene = new Scene({ as: 'ordinary user' });
  readonly root: string = this.scene.folder('mounts');
  readonly mounts: readonly string[];

  readonly #trees: { readonly then: TreeSpec; readonly now: TreeSpec };

  constructor(names: readonly string[], trees: { readonly then: TreeSpec; readonly now: TreeSpec } = { then, now }) {
    this.#trees = trees;
    this.mounts = names.map((name) => this.scene.folder(`mounts/${name}`));
  }

  /** Leaves the mounts as they are `now`, to be restored; answers the places in its changes at which to kill that. */
  async begin(): Promise<{ readonly wasThen: Memory; readonly wasNow: Memory; readonly moments: readonly number[] }> {
    this.fill(this.#trees.then);
    await this.scene.save([], { dirs: this.mounts, cwd: this.mounts[0]! });
    const wasThen = remember(this.root);
    this.fill(this.#trees.now);
    const wasNow = remember(this.root);
    const log = join(this.scene.home, 'log');
    await this.run(['restore', '1', '--yes'], { env: this.dying(0, log) });
    expectSame(wasThen, 'what was not killed');
    this.fill(this.#trees.now);
    return { wasThen, wasNow, moments: momentsIn(readFileSync(log, 'utf8').trimEnd().split('\n')) };
  }

  /** The roots stay the directories that they are. */
  fill(tree: TreeSpec): void {
    this.scene.asUser(() => {
      for (const mount of this.mounts) {
        for (const name of readdirSync(mount, { encoding: 'buffer' })) removeWithin(mount, fromBytes(name));
        // Nothing in these trees waits for anything.
        void buildTree(mount, tree);
      }
    });
  }

  run(args: readonly string[], options: RunOptions = {}): ReturnType<Scene['run']> {
    return this.scene.run(args, { cwd: this.mounts[0]!, ...options });
  }

  async kill(args: readonly string[], at: number): Promise<void> {
    const { signal } = await this.scene.start(args, { cwd: this.mounts[0]!, env: this.dying(at) }).done;
    expect(signal, `${args.join(' ')} was killed at its change ${at}`).toBe('SIGKILL');
  }

  dying(at: number, log?: string): Record<string, string> {
    const where = { NODE_OPTIONS: `--import=${hook}`, DIE_BELOW: this.root, DIE_AT: String(at) };
    return log === undefined ? where : { ...where, DIE_LOG: log };
  }

  /** Every file holds all of what it held then or all of what it held now. */
  expectNothingHalfWritten(): void {
    const whole = new Set(
      [...this.#trees.then, ...this.#trees.now].flatMap((entry) => (entry.type === 'file' ? [entry.content] : [])),
    );
    for (const { path, type } of walkTree(this.root, { hash: false })) {
      if (type !== 'file' || path.includes('/.jackin-')) continue;
      expect(whole, path).toContain(readFileSync(join(this.root, path), 'utf8'));
    }
  }

  expectNothingLeft(): void {
    const paths = walkTree(this.root).map(({ path }) => path);
    expect(paths.filter((path) => path.includes('.jackin'))).toEqual([]);
    expect(readdirSync(join(this.scene.dataDir, 'journals'))).toEqual([]);
  }
}

/** Numbers from 1. What is done to a temporary file is alike for all files: one of them stands for the others. */
function momentsIn(log: readonly string[]): number[] {
  const inner = /^(openSync|writeSync|fchownSync|ftruncateSync|fchmodSync) .*\/\.jackin-\w+-(\d+)$/;
  const numbered = log.map((line, index) => ({ number: index + 1, temporary: inner.exec(line)?.[2] }));
  return numbered
    .filter(({ temporary }) => everyMoment || temporary === undefined || temporary === '1')
    .map(({ number }) => number);
}

/** A restore of snapshot 1 that was killed half-way: by then `a` is written, and `b` is under construction. */
export async function interrupted(
  at?: number,
  more: (mount: string) => void = () => undefined,
): Promise<{
  scene: Scene;
  wasThen: ReturnType<typeof remember>;
  wasNow: ReturnType<typeof remember>;
}> {
  const scene = new Scene();
  scene.write({ a: '1', b: '1', 'd/f': '1', z: '1' });
  await scene.save();
  const wasThen = remember(scene.mount);
  scene.write({ a: 'second' });
  await scene.save();
  scene.write({ a: '2', b: '2', 'new/file': 'new', z: '2' });
  scene.remove('d');
  more(scene.mount);
  const wasNow = remember(scene.mount);
  const die = join(import.meta.dirname, 'die-at.js');
  const env = { NODE_OPTIONS: `--import=${die}`, DIE_BELOW: scene.mount, DIE_AT: String(at ?? 12) };
  const { signal } = await scene.start(['restore', '1', '--yes'], { env }).done;
  expect(signal).toBe('SIGKILL');
  if (at === undefined) expect([scene.read('a'), scene.read('b')]).toEqual(['1', '2']);
  return { scene, wasThen, wasNow };
}
