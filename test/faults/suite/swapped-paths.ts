import { lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { JackinSnap } from '../../../src/index.js';
import { compareTrees } from '../../support/compare.js';
import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import { removeTree, removeWithin } from '../../support/remove-tree.js';
import { fsckStrict } from '../../support/store-git.js';
import { type TreeEntry, walkTree } from '../../support/walk.js';
import { Area } from '../equipment/area.js';
import { betweenCalls } from '../equipment/between-calls.js';
import { copyContent } from '../equipment/copy-content.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { libraryOver, outcomeOf, problemsIn, yes } from '../equipment/library.js';
import { shuffled } from '../equipment/sample.js';
import { Outside, type Swap, canary, edited, leaked, saved, swaps } from '../equipment/swaps.js';

/**
 * Somebody swaps a path of the mount for something else between two calls of the program: at every moment, it reads,
 * writes and deletes nothing outside of the mount, and never waits for a pipe.
 */
export const swappedPaths: FaultTest = {
  name: 'swapped-paths',
  about: 'a path is swapped for a link, a pipe, a device or a folder between two calls',
  counts: { short: 130, nightly: 10_000, soak: 100_000 },
  lacks: () => undefined,
  run: async (order, tally) => {
    const scene = new Scene();
    try {
      await scene.prepare();
      await scene.run(order, tally);
    } finally {
      scene.remove();
    }
  },
};

type State = 'edited' | 'restored' | 'half';

interface Operation {
  readonly name: string;
  readonly starts: State;
  readonly changesMount: boolean;
  readonly act: (snap: JackinSnap, told: (text: string) => void) => Promise<unknown>;
}

const operations: readonly Operation[] = [
  { name: 'save', starts: 'edited', changesMount: false, act: (snap) => snap.save({ full: true }) },
  {
    name: 'diff',
    starts: 'edited',
    changesMount: false,
    act: (snap, told) => {
      const onData = (chunk: Uint8Array): void => told(Buffer.from(chunk).toString('latin1'));
      return snap.diff({ from: '1', to: null, output: { kind: 'collect', onData } });
    },
  },
  {
    name: 'restore',
    starts: 'edited',
    changesMount: true,
    act: (snap) => snap.restore({ snapshot: '1', confirm: yes }),
  },
  { name: 'undo', starts: 'restored', changesMount: true, act: (snap) => snap.undo({ confirm: yes }) },
  {
    name: 'recover --continue',
    starts: 'half',
    changesMount: true,
    act: (snap) => snap.recover({ direction: 'continue', confirm: yes }),
  },
  {
    name: 'recover --abort',
    starts: 'half',
    changesMount: true,
    act: (snap) => snap.recover({ direction: 'abort', confirm: yes }),
  },
];

/** Before or after the n-th call that names the swapped path, or before the n-th of all. */
interface Moment {
  readonly at: 'before' | 'after' | 'call';
  readonly nth: number;
}

class Scene {
  readonly #area = new Area();
  readonly #outside = new Outside(this.#area);
  readonly #saved: TreeEntry[] = [];

  async prepare(): Promise<void> {
    const { mount } = this.#area;
    await this.#area.fill(saved);
    await libraryOver(this.#area).save();
    this.#saved.push(...walkTree(mount));
    await this.#area.fill(edited);
    this.#keep('edited');
    await this.#interrupt();
    this.#keep('half');
    await libraryOver(this.#area).recover({ direction: 'continue', confirm: yes });
    this.#keep('restored');
  }

  async #interrupt(): Promise<void> {
    const stop = new AbortController();
    const onProgress = ({ phase }: { readonly phase: string }): void => {
      if (phase === 'restore') stop.abort('SIGINT');
    };
    const snap = libraryOver(this.#area, { signal: stop.signal, onProgress });
    const outcome = await outcomeOf('restore', () => snap.restore({ snapshot: '1', confirm: yes }));
    if (!('code' in outcome) || outcome.code !== 'INTERRUPTED') throw new Error('The restore was not interrupted.');
  }

  #keep(state: State): void {
    copyContent(this.#area.mount, this.#area.at(state));
    copyContent(this.#area.dataDir, this.#area.at(`${state}.data`));
  }

  async #begin(state: State): Promise<void> {
    removeTree(this.#area.at('away'));
    copyContent(this.#area.at(state), this.#area.mount);
    copyContent(this.#area.at(`${state}.data`), this.#area.dataDir);
    await this.#outside.reset();
  }

  /** Each swap under each operation, at some moments of each; more of them until there are enough. */
  async run({ count, seed, point, until }: Order, tally: Tally): Promise<void> {
    const random = randomFrom(seed);
    const pairs = operations.flatMap((operation) => swaps.map((swap) => ({ operation, swap })));
    const wanted = point?.split(' / ');
    const chosen =
      wanted === undefined
        ? shuffled(pairs, random)
        : pairs.filter(({ operation, swap }) => operation.name === wanted[0] && swap.name === wanted[1]);
    const each = Math.ceil(count / pairs.length);
    for (const { operation, swap } of chosen) {
      const moments = wanted === undefined ? await this.#moments(operation, swap, each, random) : [momentOf(wanted)];
      for (const moment of moments) {
        if (performance.now() > until || tally.done >= count) return;
        await this.#meddle(operation, swap, moment, tally);
      }
    }
  }

  async #moments(operation: Operation, swap: Swap, count: number, random: Random): Promise<Moment[]> {
    await this.#begin(operation.starts);
    const calls = await betweenCalls(
      () => undefined,
      async () => {
        await operation.act(libraryOver(this.#area), () => undefined);
      },
    );
    const naming = calls.filter((paths) => names(paths, swap));
    const telling = [...naming.keys()].flatMap((nth): Moment[] => [
      { at: 'before', nth },
      { at: 'after', nth },
    ]);
    const others = [...calls.keys()].map((nth): Moment => ({ at: 'call', nth }));
    return [...shuffled(telling, random), ...shuffled(others, random)].slice(0, count);
  }

  async #meddle(operation: Operation, swap: Swap, moment: Moment, tally: Tally): Promise<void> {
    await this.#begin(operation.starts);
    let told = '';
    const snap = libraryOver(this.#area);
    let problems: string[] = [];
    await betweenCalls(this.#swapAt(moment, swap), async () => {
      problems = problemsIn(await outcomeOf(operation.name, () => operation.act(snap, (text) => (told += text)), 30));
    });
    tally.add(`${operation.name} / ${swap.name} / ${moment.at} / ${moment.nth}`, [
      ...problems,
      ...this.#outside.problems(),
      ...leaked(this.#area),
      ...(told.includes(canary) ? ['what is outside was shown'] : []),
      ...(operation.changesMount ? await this.#endProblems(swap) : []),
      ...fsckStrict(this.#area.dataDir),
      ...this.#area.canaryProblems(),
    ]);
  }

  #swapAt({ at, nth }: Moment, swap: Swap): (call: number, paths: readonly string[]) => void {
    let named = 0;
    let swapped = false;
    return (call, paths) => {
      const isNamed = names(paths, swap);
      const due = { call: call === nth, before: isNamed && named === nth, after: named === nth + 1 }[at];
      if (isNamed) named += 1;
      const there = join(this.#area.mount, swap.path);
      if (swapped || !due || lstatSync(there, { throwIfNoEntry: false }) === undefined) return;
      swapped = true;
      renameSync(there, this.#area.at('away'));
      swap.put(there, this.#outside.path);
    };
  }

  /** Once nobody meddles any more, a restore leads to the end. */
  async #endProblems(swap: Swap): Promise<string[]> {
    const { mount } = this.#area;
    const types = walkTree(mount, { hash: false }).map(({ type }) => type);
    if (types.some((type) => type === 'fifo' || type === 'character device')) removeWithin(mount, swap.path);
    const snap = libraryOver(this.#area);
    if ((await snap.pendingRestores()).length > 0)
      await outcomeOf('recover', () => snap.recover({ direction: 'continue', confirm: yes }));
    const outcome = await outcomeOf('the restore after it', () => snap.restore({ snapshot: '1', confirm: yes }));
    if ('code' in outcome) return [`the restore after it is refused: ${outcome.code} ${outcome.message}`];
    const wrong = compareTrees(this.#saved, walkTree(mount));
    return [...wrong.slice(0, 3).map((problem) => `after a restore ${problem}`), ...this.#outside.problems()];
  }

  remove(): void {
    this.#area.remove();
  }
}

function names(paths: readonly string[], { path }: Swap): boolean {
  const name = `/${path.slice(path.lastIndexOf('/') + 1)}`;
  return paths.some((argument) => argument.endsWith(name));
}

function momentOf([, , at, nth]: readonly string[]): Moment {
  if (at !== 'before' && at !== 'after' && at !== 'call') throw new Error('No such moment.');
  return { at, nth: Number(nth) };
}
