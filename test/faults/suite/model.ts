import { compareTrees } from '../../support/compare.js';
import type { DamageAction } from '../../support/damage-actions.js';
import { damageActions } from '../../support/damage-actions.js';
import { damage } from '../../support/damage.js';
import { randomFrom } from '../../support/random.js';
import { removeTree } from '../../support/remove-tree.js';
import { fsckStrict } from '../../support/store-git.js';
import type { TreeEntry } from '../../support/walk.js';
import { walkTree } from '../../support/walk.js';
import type { HostPath, RestoreResult } from '../../../src/index.js';
import { Area } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast, numbersOf } from '../equipment/fault-test.js';
import type { Outcome } from '../equipment/library.js';
import { libraryOver, outcomeOf, yes } from '../equipment/library.js';
import { keptByNumber } from '../equipment/retention-oracle.js';
import { differingPaths, refsIn, seqOf } from '../equipment/store-problems.js';
import { treesOf } from '../equipment/trees.js';

/** Commands in any order, against walks of the mount that are remembered. */
export const model: FaultTest = {
  name: 'model',
  about: 'commands in random order, against an oracle that remembers what the mount held',
  counts: { short: 20, nightly: 20_000, soak: 200_000 },
  lacks: () => undefined,
  inLanes: true,
  run: async (order, tally) => {
    await abreast(numbersOf(order), order, (number) => checkSequence(number, order, tally));
  },
};

const kinds = [
  ...(['change', 'change', 'change', 'save', 'save', 'restore', 'restore', 'undo', 'undo'] as const),
  ...(['prune', 'gc', 'delete', 'pin', 'unpin'] as const),
];

interface Step {
  readonly kind: (typeof kinds)[number];
  /** Chooses what it is done with. */
  readonly number: number;
}

const stepsEach = 14;
const shortenAtMost = 60_000;

async function checkSequence(number: number, { seed }: Order, tally: Tally): Promise<void> {
  const random = randomFrom(Math.imul(number + 1, 0x9e3779b1) ^ seed);
  const variant = random.below(1000);
  const steps = Array.from({ length: stepsEach }, () => ({ kind: random.pick(kinds), number: random.below(1 << 20) }));
  const problems = await played(variant, steps);
  if (problems.length === 0) {
    tally.add(String(number), []);
    return;
  }
  const few = await shortened(variant, steps);
  const shown = few.steps.map(({ kind, number: which }) => `${kind} ${which}`).join(', ');
  tally.add(String(number), [`tree ${variant}: ${shown}: ${few.problems.join(' | ')}`, ...problems]);
}

/** Without the steps that the failure does not need, as far as time allows. */
async function shortened(
  variant: number,
  all: readonly Step[],
): Promise<{ steps: readonly Step[]; problems: string[] }> {
  const until = performance.now() + shortenAtMost;
  let steps = all;
  let problems = await played(variant, steps);
  for (let at = steps.length - 1; at >= 0 && performance.now() < until; at -= 1) {
    const fewer = steps.filter((_, position) => position !== at);
    const found = await played(variant, fewer);
    if (found.length > 0) [steps, problems] = [fewer, found];
  }
  return { steps, problems };
}

async function played(variant: number, steps: readonly Step[]): Promise<string[]> {
  const played = new Played();
  try {
    await played.begin(variant);
    for (const step of steps) {
      const problems = await played.step(step);
      if (problems.length > 0) return problems.map((problem) => `${step.kind}: ${problem}`);
    }
    return await played.end();
  } finally {
    played.remove();
  }
}

type Tree = readonly TreeEntry[];

// Repositories that are new, and pipes, stay where they are: expected-restore.ts is for those.
const changes = (Object.keys(damageActions) as DamageAction[]).filter(
  (action) => action !== 'new fifo' && action !== 'new repository',
);

class Played {
  readonly #area = new Area();
  readonly #snap = libraryOver(this.#area);
  readonly #saved = new Map<number, Tree>();
  readonly #emergencies = new Set<number>();
  readonly #pinned = new Set<number>();
  /** The emergency snapshot of the last restore that changed something. */
  #undo: number | undefined;
  #highest = 0;

  async begin(variant: number): Promise<void> {
    await this.#area.fill(treesOf(variant).then);
    await this.#save();
    await this.#snap.instance.set({ keep_last: '4', keep_emergency: '2' });
  }

  async step({ kind, number }: Step): Promise<string[]> {
    const chosen = this.#chosen(number);
    switch (kind) {
      case 'change':
        damage(this.#area.mount, number, { rounds: 1 + (number % 5), actions: changes });
        return [];
      case 'save':
        return this.#save();
      case 'restore':
        return this.#restore(this.#saved.get(chosen), () =>
          this.#snap.restore({ snapshot: String(chosen), confirm: yes }),
        );
      case 'undo':
        return this.#takeBack();
      case 'delete':
        return this.#delete(chosen);
      case 'prune':
      case 'gc':
      case 'pin':
      case 'unpin':
        return this.#other(kind, chosen);
    }
  }

  #chosen(number: number): number {
    return [...this.#saved.keys()][number % this.#saved.size] ?? 0;
  }

  async #other(kind: 'prune' | 'gc' | 'pin' | 'unpin', chosen: number): Promise<string[]> {
    const before = walkTree(this.#area.mount);
    const acts = {
      prune: () => this.#snap.prune({ confirm: yes }),
      gc: () => this.#snap.gc({}),
      pin: () => this.#snap.pin(String(chosen)),
      unpin: () => this.#snap.unpin(String(chosen)),
    };
    if (this.#saved.size === 0) return [];
    const problems = failed(await outcomeOf<unknown>(kind, acts[kind]));
    if (kind === 'pin') this.#pinned.add(chosen);
    if (kind === 'unpin') this.#pinned.delete(chosen);
    const touched = compareTrees(before, walkTree(this.#area.mount), { also: ['ino', 'mtimeNs', 'ctimeNs'] });
    return [...problems, ...touched, ...this.#goneProblems(kind === 'prune' ? 'exactly' : 'nothing')];
  }

  async #save(): Promise<string[]> {
    const outcome = await outcomeOf('save', () => this.#snap.save({}));
    if (!('result' in outcome)) return failed(outcome);
    const { seq, commit } = outcome.result.snapshot;
    this.#saved.set(seq, walkTree(this.#area.mount));
    const missed = differingPaths(this.#area, commit);
    return [
      ...this.#isNext(seq),
      ...(missed.length === 0 ? [] : [`${seq} is not the mount: ${missed.slice(0, 4).join(', ')}`]),
      ...this.#goneProblems('exactly'),
    ];
  }

  async #restore(wanted: Tree | undefined, act: () => Promise<RestoreResult>): Promise<string[]> {
    if (wanted === undefined) return [];
    const before = walkTree(this.#area.mount);
    const outcome = await outcomeOf('restore', act);
    if (!('result' in outcome)) return failed(outcome);
    const emergency = outcome.result.emergencySnapshot?.seq;
    if (emergency !== undefined) {
      this.#saved.set(emergency, before);
      this.#emergencies.add(emergency);
      this.#undo = emergency;
    }
    const wrong = compareTrees(wanted, walkTree(this.#area.mount));
    return [
      ...(emergency === undefined ? [] : this.#isNext(emergency)),
      ...wrong.slice(0, 4),
      ...this.#goneProblems('some'),
    ];
  }

  async #takeBack(): Promise<string[]> {
    if (this.#undo !== undefined && this.#saved.has(this.#undo))
      return this.#restore(this.#saved.get(this.#undo), () => this.#snap.undo({ confirm: yes }));
    const outcome = await outcomeOf('undo', () => this.#snap.undo({ confirm: yes }));
    const isRefused = 'code' in outcome && ['NOTHING_TO_UNDO', 'SNAPSHOT_NOT_FOUND'].includes(outcome.code);
    return isRefused ? [] : [`there is nothing to undo, and it ends otherwise`, ...failed(outcome)];
  }

  async #delete(chosen: number): Promise<string[]> {
    if (this.#saved.size < 2) return [];
    const outcome = await outcomeOf('delete', () => this.#snap.delete({ snapshots: [String(chosen)], confirm: yes }));
    if (this.#pinned.has(chosen))
      return 'code' in outcome && outcome.code === 'SNAPSHOT_PINNED'
        ? this.#goneProblems('nothing')
        : ['a pin was passed over'];
    this.#saved.delete(chosen);
    return [...failed(outcome), ...this.#goneProblems('nothing')];
  }

  #isNext(seq: number): string[] {
    const problems = seq > this.#highest ? [] : [`${seq} comes after ${this.#highest}`];
    this.#highest = Math.max(seq, this.#highest);
    return problems;
  }

  /** What is gone is what retention no longer keeps: all of that, some of it, or nothing. */
  #goneProblems(may: 'exactly' | 'some' | 'nothing'): string[] {
    const left = new Set([...refsIn(this.#area.dataDir).keys()].map(seqOf));
    const all = [...this.#saved.keys()];
    const policy = this.#saved.size === 1 ? { last: 50, emergency: 10 } : { last: 4, emergency: 2 };
    const kept = keptByNumber(all, { emergencies: this.#emergencies, pinned: this.#pinned, ...policy });
    const expected = (seq: number): boolean => may === 'nothing' || kept.has(seq);
    const lost = all.filter((seq) => expected(seq) && !left.has(seq)).map((seq) => `${seq} is gone`);
    const stays = may === 'exactly' ? all.filter((seq) => !kept.has(seq) && left.has(seq)) : [];
    const unknown = [...left].filter((seq) => !this.#saved.has(seq)).map((seq) => `${seq} is there again`);
    for (const seq of all) if (!left.has(seq)) this.#saved.delete(seq);
    return [...lost, ...stays.map((seq) => `${seq} is still there`), ...unknown];
  }

  /** All that is left can be had, as it was. */
  async end(): Promise<string[]> {
    const problems = fsckStrict(this.#area.dataDir);
    for (const [seq, saved] of this.#saved) {
      const to = this.#area.at('to');
      removeTree(to);
      const restore = { snapshot: String(seq), to: to as HostPath, confirm: yes };
      const outcome = await outcomeOf('restore --to', () => this.#snap.restore(restore));
      const wrong = 'result' in outcome ? compareTrees(saved, walkTree(to)).slice(0, 4) : failed(outcome);
      problems.push(...wrong.map((line) => `restore ${seq} --to: ${line}`));
    }
    return [...problems, ...this.#area.canaryProblems()];
  }

  remove(): void {
    this.#area.remove();
  }
}

function failed(outcome: Outcome<unknown>): string[] {
  return 'code' in outcome ? [`${outcome.code} ${outcome.message}`, ...outcome.problems] : [];
}
