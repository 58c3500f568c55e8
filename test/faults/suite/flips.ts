import { chmodSync, lchownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFifo } from '../../support/build-tree.js';
import { compareTrees } from '../../support/compare.js';
import { removeTree } from '../../support/remove-tree.js';
import { fsckStrict } from '../../support/store-git.js';
import { type TreeEntry, walkTree } from '../../support/walk.js';
import { Area, told } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { flipperUid, lacksFlipper, startFlipper } from '../equipment/flipper.js';
import { shuffled } from '../equipment/sample.js';
import { Outside, canary, edited, leaked, makeDevice, saved } from '../equipment/swaps.js';
import { randomFrom } from '../../support/random.js';

/**
 * Another user exchanges folders and files for links, pipes, devices and folders without pause, while commands work there.
 * Luck decides what they meet; nothing outside may ever be read, written or deleted, and nothing waits. Flips are counted.
 */
export const flips: FaultTest = {
  name: 'flips',
  about: 'another user exchanges paths for links, pipes and folders without pause',
  counts: { short: 20_000, nightly: 2_000_000, soak: 50_000_000 },
  lacks: lacksFlipper,
  run: runFlips,
};

const commands: readonly string[] = ['save --full', 'diff 1', 'restore 1 --yes', 'restore 1 --yes', 'undo --yes'];

async function runFlips({ count, seed, point, until }: Order, tally: Tally): Promise<void> {
  const scene = new Scene();
  const random = randomFrom(seed);
  try {
    await scene.prepare();
    for (let round = 0; tally.done < count && performance.now() < until; round += 1) {
      for (const command of point === undefined ? shuffled(commands, random) : [point.split(' / ')[0]!])
        await scene.command(command, round, tally);
      if (point !== undefined) return;
    }
  } finally {
    scene.remove();
  }
}

class Scene {
  readonly #area = new Area();
  readonly #outside = new Outside(this.#area);
  readonly #saved: TreeEntry[] = [];

  async prepare(): Promise<void> {
    await this.#area.fill(saved);
    this.#giveAway();
    await this.#area.must(['save']);
    this.#saved.push(...walkTree(this.#area.mount));
    await this.#area.fill(edited);
    this.#giveAway();
    await this.#area.must(['restore', '1', '--yes']);
    this.#area.keep();
  }

  /** The mount belongs to the one who flips, and the way to it is open. */
  #giveAway(): void {
    const { root, mount } = this.#area;
    for (const path of [root, this.#area.at()]) chmodSync(path, 0o711);
    for (const { path } of walkTree(mount, { withRoot: true, hash: false }))
      lchownSync(join(mount, path), flipperUid, flipperUid);
  }

  async command(command: string, round: number, tally: Tally): Promise<void> {
    const area = this.#area;
    area.reset();
    await area.fill(command.startsWith('undo') ? saved : edited);
    this.#giveAway();
    await this.#outside.reset();
    const stop = await startFlipper(this.#pairs());
    const run = await area.run(command.split(' '), { timeout: 60_000 });
    const made = await stop();
    // Done, done in part, refused, or to be tried again; never a bug, never a program that hangs.
    const ended = run.code !== null && [0, 4, 6].includes(run.code);
    tally.add(`${command} / round ${round}`, [
      ...(ended ? [] : [`exit ${run.code ?? run.signal}${run.timedOut ? ' (it hangs)' : ''} ${told(run)}`]),
      ...(run.stdout.includes(canary) ? ['what is outside was shown'] : []),
      ...this.#outside.problems(),
      ...leaked(area),
      ...fsckStrict(area.dataDir),
      ...area.canaryProblems(),
      ...(await this.#endProblems()),
    ]);
    tally.done += made - 1;
    tally.note(`${command.split(' ')[0]} ended with ${run.code}`);
  }

  /** Things that the mount does not hold, each with the path that it takes the place of now and then. */
  #pairs(): (readonly [string, string])[] {
    const away = this.#area.at('away');
    removeTree(away);
    mkdirSync(away);
    const out = this.#outside.path;
    const things: readonly [path: string, make: (there: string) => void][] = [
      ['d', (there) => symlinkSync(join(out, 'd'), there)],
      ['d/e', (there) => symlinkSync(join(out, 'd/e'), there)],
      ['d/e', (there) => symlinkSync('..', there)],
      ['d/e', (there) => makeFifo(there)],
      ['d/f', (there) => mkdirSync(there)],
      ['d/e/one', (there) => symlinkSync(join(out, 'd/e/one'), there)],
      ['d/e/one', (there) => makeFifo(there)],
      ['d/e/one', (there) => makeDevice(there)],
      ['d/e/two', (there) => linkSync(join(out, 'shared'), there)],
      ['d/e/two', (there) => mkdirSync(there)],
      ['d/f/more', (there) => symlinkSync(join(out, 'd/f/more'), there)],
      ['top', (there) => writeFileSync(there, 'another\n')],
    ];
    const pairs = things.map(([path, make], at) => {
      const thing = join(away, String(at));
      make(thing);
      return [join(this.#area.mount, path), thing] as const;
    });
    // A name of the shared file belongs to whom that file belongs to.
    for (const [at, [, thing]] of pairs.entries()) if (at !== 8) lchownSync(thing, flipperUid, flipperUid);
    lchownSync(away, flipperUid, flipperUid);
    return pairs;
  }

  /** Once nobody meddles any more, a restore leads to the end. */
  async #endProblems(): Promise<string[]> {
    const area = this.#area;
    await area.run(['recover', '--continue', '--yes']);
    for (const path of ['d/e/one', 'd/e', 'top']) this.#removeOdd(path);
    const run = await area.run(['restore', '1', '--yes']);
    if (run.code !== 0) return [`the restore after it: exit ${run.code ?? run.signal} ${told(run)}`];
    const wrong = compareTrees(this.#saved, walkTree(area.mount));
    return wrong.slice(0, 3).map((problem) => `after a restore ${problem}`);
  }

  /** What no snapshot can hold stays where it is, as it should; here it makes way. */
  #removeOdd(path: string): void {
    const odd = walkTree(this.#area.mount, { hash: false }).find((entry) => entry.path === path);
    if (odd !== undefined && !['file', 'directory', 'symlink'].includes(odd.type))
      removeTree(join(this.#area.mount, path));
  }

  remove(): void {
    this.#area.remove();
  }
}
