import { utimesSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareTrees } from '../../support/compare.js';
import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import { fsckStrict } from '../../support/store-git.js';
import type { TreeEntry } from '../../support/walk.js';
import { walkTree } from '../../support/walk.js';
import { Area } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast, numbersOf } from '../equipment/fault-test.js';
import { libraryOver, outcomeOf, problemsIn, yes } from '../equipment/library.js';
import { keptByNumber } from '../equipment/retention-oracle.js';
import { differingPaths, refsIn, seqOf } from '../equipment/store-problems.js';
import { treesOf } from '../equipment/trees.js';

/** Whatever the clock says, and however it jumps: numbers ascend, what is kept stays, no edit is missed. */
export const clocks: FaultTest = {
  name: 'clocks',
  about: 'commands are given while the clock is wrong, jumps, or goes back',
  counts: { short: 20, nightly: 100, soak: 2_000 },
  lacks: () => undefined,
  run: async (order, tally) => {
    await abreast(numbersOf(order), order, (number) => underClocks(number, order, tally));
  },
};

const day = 86_400_000;
const times: readonly ((real: number) => number)[] = [
  () => 0,
  () => -1,
  () => Date.UTC(1969, 5, 1),
  () => Date.UTC(2038, 0, 19, 3, 14, 8),
  () => Date.UTC(2100, 1, 29),
  (real) => real - 30 * day,
  (real) => real + 30 * day,
  (real) => real - 1,
  (real) => real,
];

const stepsEach = 10;

async function underClocks(number: number, { seed }: Order, tally: Tally): Promise<void> {
  const random = randomFrom(Math.imul(number + 1, 0x9e3779b1) ^ seed);
  const session = new Session(random);
  const problems: string[] = [];
  try {
    await session.begin(number);
    for (let step = 0; step < stepsEach && problems.length === 0; step += 1) problems.push(...(await session.step()));
    problems.push(...fsckStrict(session.area.dataDir));
  } finally {
    session.area.remove();
  }
  const told = problems.length === 0 ? [] : [`${session.steps.join(', ')}: ${problems.join(' | ')}`];
  tally.add(String(number), told);
}

class Session {
  readonly area = new Area();
  readonly steps: string[] = [];
  readonly #random: Random;
  readonly #saved = new Map<number, readonly TreeEntry[]>();
  readonly #emergencies = new Set<number>();
  readonly #pinned = new Set<number>();
  #highest = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async begin(variant: number): Promise<void> {
    await this.area.fill([...treesOf(variant).then, { path: 'racy', type: 'file', content: 'v'.padEnd(60, '.') }]);
    await this.#save();
    await libraryOver(this.area).instance.set({ keep_last: '3', keep_emergency: '1' });
  }

  async step(): Promise<string[]> {
    const act = this.#random.pick([
      () => this.#save(),
      () => this.#save(),
      () => this.#restore(),
      () => this.#prune(),
      () => this.#pin(),
    ]);
    const problems = await act();
    return [...problems, ...this.#keptProblems()];
  }

  /** One time for the whole command, or another one each time that it is asked. */
  #clock(what: string): () => Date {
    const pick = (): number => this.#random.pick(times)(Date.now());
    const one = pick();
    const jumps = this.#random.oneIn(3);
    this.steps.push(`${what} at ${jumps ? 'times that jump' : new Date(one).toISOString()}`);
    return () => new Date(jumps ? pick() : one);
  }

  async #save(): Promise<string[]> {
    this.#editUnnoticed();
    const now = this.#clock('save');
    const outcome = await outcomeOf('save', () => libraryOver(this.area, { now }).save({}));
    if ('code' in outcome) return [`save: ${outcome.code} ${outcome.message}`, ...outcome.problems];
    const { seq, commit, createdAt } = outcome.result.snapshot;
    this.#saved.set(seq, walkTree(this.area.mount));
    const missed = differingPaths(this.area, commit);
    return [
      ...this.#isNext(seq),
      ...(missed.length === 0 ? [] : [`save ${seq} missed ${missed.join(', ')}`]),
      ...(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(createdAt) ? [] : [`it was made at ${createdAt}`]),
      ...outcome.result.messages.filter((text) => /NaN|Invalid|undefined/.test(text)),
    ];
  }

  #editUnnoticed(): void {
    const file = join(this.area.mount, 'racy');
    const before = statSync(file, { throwIfNoEntry: false });
    writeFileSync(file, String(this.#random.below(1_000_000_000)).padEnd(60, '.'));
    if (before !== undefined) utimesSync(file, before.atime, before.mtime);
  }

  async #restore(): Promise<string[]> {
    const seq = this.#random.pick([...this.#saved.keys()]);
    const now = this.#clock(`restore ${seq}`);
    this.#editUnnoticed();
    const before = walkTree(this.area.mount);
    const outcome = await outcomeOf('restore', () =>
      libraryOver(this.area, { now }).restore({ snapshot: String(seq), confirm: yes }),
    );
    if ('code' in outcome) return [`restore ${seq}: ${outcome.code} ${outcome.message}`, ...outcome.problems];
    const emergency = outcome.result.emergencySnapshot?.seq;
    const wrong = compareTrees(this.#saved.get(seq)!, walkTree(this.area.mount));
    if (emergency !== undefined) {
      this.#saved.set(emergency, before);
      this.#emergencies.add(emergency);
    }
    return [
      ...(emergency === undefined ? [] : this.#isNext(emergency)),
      ...wrong.slice(0, 3).map((line) => `restore ${seq}: ${line}`),
    ];
  }

  async #prune(): Promise<string[]> {
    const now = this.#clock('prune');
    return problemsIn(await outcomeOf('prune', () => libraryOver(this.area, { now }).prune({ confirm: yes })));
  }

  async #pin(): Promise<string[]> {
    const seq = this.#random.pick([...this.#saved.keys()]);
    this.steps.push(`pin ${seq}`);
    this.#pinned.add(seq);
    return problemsIn(await outcomeOf('pin', () => libraryOver(this.area).pin(String(seq))));
  }

  #isNext(seq: number): string[] {
    const problems = seq > this.#highest ? [] : [`${seq} comes after ${this.#highest}`];
    this.#highest = Math.max(seq, this.#highest);
    return problems;
  }

  /** By their numbers, whatever their dates say: the first, the latest, the last of each kind, and pinned ones stay. */
  #keptProblems(): string[] {
    const left = new Set([...refsIn(this.area.dataDir).keys()].map(seqOf));
    const all = [...this.#saved.keys()];
    const kept = keptByNumber(all, { emergencies: this.#emergencies, pinned: this.#pinned, last: 3, emergency: 1 });
    for (const seq of all) if (!left.has(seq) && !kept.has(seq)) this.#saved.delete(seq);
    return all.filter((seq) => kept.has(seq) && !left.has(seq)).map((seq) => `${seq} is kept, and is gone`);
  }
}
