import { join } from 'node:path';
import type { HostPath } from '../../../src/index.js';
import { compareTrees } from '../../support/compare.js';
import { randomFrom } from '../../support/random.js';
import { removeTree } from '../../support/remove-tree.js';
import { storeGit } from '../../support/store-git.js';
import type { TreeEntry } from '../../support/walk.js';
import { walkTree } from '../../support/walk.js';
import { Area } from '../equipment/area.js';
import { copyContent } from '../equipment/copy-content.js';
import { damageFile, kindsOfFiles } from '../equipment/damage-file.js';
import type { FaultTest, Fixture, Order, Tally } from '../equipment/fault-test.js';
import { withFixtures } from '../equipment/fault-test.js';
import { libraryOver, outcomeOf, problemsIn, yes } from '../equipment/library.js';
import { refsIn, seqOf } from '../equipment/store-problems.js';
import { treesOf } from '../equipment/trees.js';

/** Bits flip, files are cut, lose a page or are gone: what can still be had stays so, and nothing wrong comes back. */
export const bitFlips: FaultTest = {
  name: 'bit-flips',
  about: 'a file of the data directory is damaged',
  counts: { short: 60, nightly: 10_000, soak: 100_000 },
  lacks: () => undefined,
  inLanes: true,
  run: (order, tally) => withFixtures(() => new DamagedStore(), order, tally),
};

/** One data directory with all that a data directory can hold; damaged again and again. */
class DamagedStore implements Fixture {
  readonly #area = new Area();
  readonly #saved = new Map<number, readonly TreeEntry[]>();
  #now: readonly TreeEntry[] = [];
  #kinds: string[][] = [];
  #half: string | undefined;

  async prepare(): Promise<void> {
    const area = this.#area;
    const snap = libraryOver(area);
    const save = async (): Promise<void> => {
      const { snapshot } = await snap.save({});
      this.#saved.set(snapshot.seq, walkTree(area.mount));
    };
    const trees = [0, 1, 2].map(treesOf);
    for (const { then, now } of trees.slice(0, 2)) {
      for (const tree of [then, now]) {
        await area.fill(tree);
        await save();
      }
    }
    await snap.pin('2');
    await snap.gc({});
    await snap.verify({ full: true });
    await area.fill(trees[2]!.then);
    await save();
    await snap.pin('5');
    await area.fill(trees[2]!.now);
    this.#now = walkTree(area.mount);
    this.#saved.set(6, this.#now);
    await this.#interruptRestore();
    this.#half = area.at('half');
    area.keep();
    copyContent(area.mount, this.#half);
    this.#kinds = kindsOfFiles(area.dataDir);
  }

  async #interruptRestore(): Promise<void> {
    const stop = new AbortController();
    const snap = libraryOver(this.#area, {
      signal: stop.signal,
      onProgress: ({ phase, files }) => {
        if (phase === 'restore' && files > 3) stop.abort('SIGINT');
      },
    });
    const outcome = await outcomeOf('restore', () => snap.restore({ snapshot: '5', confirm: yes }));
    if (!('code' in outcome) || outcome.code !== 'INTERRUPTED') throw new Error('The restore was not interrupted.');
  }

  async check(number: number, { seed }: Order, tally: Tally): Promise<void> {
    const random = randomFrom(Math.imul(number + 1, 0x9e3779b1) ^ seed);
    this.#area.reset();
    const file = random.pick(random.pick(this.#kinds));
    const done = damageFile(join(this.#area.dataDir, file), random);
    const readable = this.#readable();
    const intact = await this.#lookProblems(file, done, tally);
    const recovery = random.oneIn(3) ? await this.#recoveryProblems(random.oneIn(2) ? 'continue' : 'abort') : [];
    const mended = await this.#mendingProblems(readable, random.oneIn(2));
    tally.add(`${number} / ${file} / ${done}`, [...intact, ...recovery, ...mended, ...this.#area.canaryProblems()]);
  }

  /** The snapshots that stock git reads to their last byte. */
  #readable(): Map<string, string> {
    const refs = [...refsIn(this.#area.dataDir)];
    return new Map(
      refs.filter(([ref]) => {
        const args = ['--no-replace-objects', 'archive', '--format=tar', '-o', '/dev/null', ref];
        return storeGit(this.#area.dataDir, args, { mayFail: true }).code === 0;
      }),
    );
  }

  /** Nothing wrong is restored; what is lost is reported. */
  async #lookProblems(file: string, done: string, tally: Tally): Promise<string[]> {
    const snap = libraryOver(this.#area);
    const verified = await outcomeOf('verify', () => snap.verify({ full: true }));
    const isWell = 'result' in verified && verified.result.ok;
    const listed = await outcomeOf('list', () => snap.list());
    const problems = [...problemsIn(verified), ...problemsIn(listed)];
    const lost: number[] = [];
    for (const [seq, saved] of this.#saved) {
      const found = await this.#restoredElsewhere(String(seq), saved);
      if (found === 'refused') lost.push(seq);
      else problems.push(...found);
    }
    if (!isWell) tally.note(`reported by verify`);
    else if (lost.length === 0) tally.note('harmless');
    else problems.push(...this.#unreported(file, done, lost, tally));
    return problems;
  }

  #unreported(file: string, done: string, lost: readonly number[], tally: Tally): string[] {
    if (done === 'deleted' && file.includes('refs')) {
      tally.note('a ref that is deleted is a snapshot that is deleted');
      return [];
    }
    return [`verify finds all well, and these cannot be restored: ${lost.join(', ')}`];
  }

  async #restoredElsewhere(snapshot: string, saved: readonly TreeEntry[]): Promise<string[] | 'refused'> {
    const to = this.#area.at('to');
    removeTree(to);
    const snap = libraryOver(this.#area);
    const outcome = await outcomeOf(`restore ${snapshot}`, () =>
      snap.restore({ snapshot, to: to as HostPath, confirm: yes }),
    );
    if ('code' in outcome) return outcome.problems.length > 0 ? outcome.problems : 'refused';
    if (outcome.result.failed.length > 0) return [];
    const wrong = compareTrees(saved, walkTree(to));
    return wrong.length === 0 ? [] : [`restore ${snapshot} --to is wrong: ${wrong.slice(0, 3).join('; ')}`];
  }

  /** A pending restore ends at one of its ends, or says why not. */
  async #recoveryProblems(direction: 'continue' | 'abort'): Promise<string[]> {
    const { mount } = this.#area;
    copyContent(this.#half!, mount);
    const snap = libraryOver(this.#area);
    const outcome = await outcomeOf(`recover ${direction}`, () => snap.recover({ direction, confirm: yes }));
    if ('code' in outcome) return outcome.problems;
    if (outcome.result.failed.length > 0) return [];
    const end = direction === 'continue' ? this.#saved.get(5)! : this.#now;
    const wrong = compareTrees(end, walkTree(mount));
    return wrong.length === 0 ? [] : [`recover ${direction} ends wrong: ${wrong.slice(0, 3).join('; ')}`];
  }

  /** Mending and the next save take nothing away, and use no number again. */
  async #mendingProblems(readable: ReadonlyMap<string, string>, fixFirst: boolean): Promise<string[]> {
    const snap = libraryOver(this.#area);
    const problems: string[] = [];
    if (fixFirst) problems.push(...problemsIn(await outcomeOf('doctor --fix', () => snap.doctor({ fix: true }))));
    problems.push(...this.#gone(readable, 'doctor --fix'));
    const saved = await outcomeOf('save', () => libraryOver(this.#area).save({}));
    problems.push(...problemsIn(saved), ...this.#gone(readable, 'the next save'));
    if (!('result' in saved)) return problems;
    const { seq, ref } = saved.result.snapshot;
    if ([...readable.keys()].some((known) => seqOf(known) >= seq)) problems.push(`${ref} is a number that was used`);
    const found = await this.#restoredElsewhere(String(seq), walkTree(this.#area.mount));
    if (found !== 'refused') return [...problems, ...found];
    if (await this.#isNamedByVerify(seq)) return problems;
    return [...problems, `what was saved just now, ${ref}, cannot be restored, and verify does not name it`];
  }

  /** A save does not read again what the store has already: damage in it is for `verify` to find. */
  async #isNamedByVerify(seq: number): Promise<boolean> {
    const verified = await outcomeOf('verify', () => libraryOver(this.#area).verify({ full: true }));
    return 'result' in verified && verified.result.damaged.some(({ snapshot }) => snapshot.seq === seq);
  }

  #gone(readable: ReadonlyMap<string, string>, after: string): string[] {
    const left = this.#readable();
    return [...readable].flatMap(([ref, commit]) =>
      left.get(ref) === commit ? [] : [`after ${after} ${ref}, which git could read, is ${left.get(ref) ?? 'gone'}`],
    );
  }

  remove(): void {
    this.#area.remove();
  }
}
