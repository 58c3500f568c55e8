import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import type { ProcessRun } from '../../support/run-process.js';
import { storeGit } from '../../support/store-git.js';
import { Area, told } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { documentOf } from '../equipment/judge.js';
import { leftovers, storeProblems } from '../equipment/store-problems.js';

const saversAtOnce = 8;

/** Eight that save into one store at once, four of them in one instance, beside all else that uses it. */
export const savers: FaultTest = {
  name: 'savers',
  about: 'eight processes save into one store, others prune, collect, verify, list and restore',
  counts: { short: saversAtOnce * 6, nightly: saversAtOnce * 1000, soak: saversAtOnce * 20_000 },
  lacks: () => undefined,
  run: runSavers,
};

interface Saved {
  readonly ref: string;
  readonly commit: string;
  readonly file: string;
  readonly token: string;
}

async function runSavers(order: Order, tally: Tally): Promise<void> {
  const area = new Area();
  const random = randomFrom(order.seed);
  try {
    const scene = new Scene(area, tally, order.until);
    await scene.prepare();
    let saving = true;
    const each = Math.ceil(order.count / saversAtOnce);
    const all = Promise.all(Array.from({ length: saversAtOnce }, (_, at) => scene.save(at, each)));
    const beside = scene.beside(() => saving, random);
    await all.finally(() => (saving = false));
    await beside;
    for (const problem of scene.problems()) tally.add('at the end', [problem]);
  } finally {
    area.remove();
  }
}

class Scene {
  readonly #area: Area;
  readonly #tally: Tally;
  readonly #until: number;
  readonly #saved: Saved[] = [];

  constructor(area: Area, tally: Tally, until: number) {
    this.#area = area;
    this.#tally = tally;
    this.#until = until;
  }

  async prepare(): Promise<void> {
    for (const instance of ['same', 'own0', 'own1', 'own2', 'own3', 'pruned', 'restored']) {
      const folder = this.#folder(instance);
      mkdirSync(folder);
      writeFileSync(join(folder, 'shared'), 'the same content everywhere\n'.repeat(100));
      await this.#area.must(['save', folder], { instance });
    }
    for (const instance of ['same', 'own0', 'own1', 'own2', 'own3'])
      await this.#area.must(['instance', 'set', 'keep_last=10000'], { instance });
    await this.#area.must(['instance', 'set', 'keep_last=2', 'auto_prune=false'], { instance: 'pruned' });
  }

  /** One saver, `count` times. The even ones share an instance and write a file each, the odd ones have their own. */
  async save(at: number, count: number): Promise<void> {
    const instance = at % 2 === 0 ? 'same' : `own${at >> 1}`;
    const file = `file ${at}`;
    for (let n = 0; n < count && performance.now() < this.#until; n += 1) {
      const token = `${at} ${n}\n`;
      writeFileSync(join(this.#folder(instance), file), token);
      const run = await this.#patiently(['save'], instance);
      const document = documentOf(run);
      if (document?.ok !== true) {
        this.#tally.add(`save ${n} of saver ${at}`, [`exit ${run.code ?? run.signal} ${told(run)}`]);
        continue;
      }
      const { ref, commit } = document.data.snapshot as { readonly ref: string; readonly commit: string };
      this.#saved.push({ ref, commit, file, token });
      this.#tally.add(`save ${n} of saver ${at}`, run.code === 0 ? [] : [`exit ${run.code ?? run.signal}`]);
    }
  }

  /** What else is done in the store meanwhile. */
  async beside(goesOn: () => boolean, random: Random): Promise<void> {
    const acts: readonly {
      readonly args: readonly string[];
      readonly instance: string;
      readonly codes: readonly number[];
    }[] = [
      { args: ['prune', '--yes'], instance: 'pruned', codes: [0, 8] },
      { args: ['gc'], instance: 'same', codes: [0, 8] },
      { args: ['gc', '--auto'], instance: 'same', codes: [0, 8] },
      { args: ['verify'], instance: 'same', codes: [0, 8] },
      { args: ['list', '--all'], instance: 'same', codes: [0, 8] },
      { args: ['restore', '1', '--yes'], instance: 'restored', codes: [0, 8] },
      { args: ['save'], instance: 'pruned', codes: [0, 8] },
    ];
    while (goesOn()) {
      const { args, instance, codes } = random.pick(acts);
      if (instance === 'restored') writeFileSync(join(this.#folder(instance), `new ${random.below(5)}`), 'new');
      if (instance === 'pruned') writeFileSync(join(this.#folder(instance), 'changing'), `${random.below(1_000_000)}`);
      // Ten processes share the machine's cores, at a priority that may be the lowest.
      const run = await this.#area.run(args, { instance, cwd: this.#area.root, timeout: 600_000 });
      if (!codes.includes(run.code ?? -1))
        this.#tally.add(`${args.join(' ')} beside savers`, [`exit ${run.code ?? run.signal} ${told(run)}`]);
      if (run.code === 8) this.#tally.note(`${args[0]} found the store busy`);
    }
  }

  /** Every snapshot that was reported is there under its own number, and holds what its saver wrote before. */
  problems(): string[] {
    const reported = new Map(this.#saved.map(({ ref, commit }) => [ref, commit]));
    const twice = this.#saved.length - reported.size;
    const lost = this.#saved.filter((saved) => this.#content(saved) !== saved.token);
    return [
      ...(twice === 0 ? [] : [`${twice} numbers were used twice`]),
      ...lost.map(({ ref, token }) => `${ref} does not hold ${JSON.stringify(token)}`),
      ...storeProblems(this.#area.dataDir, reported),
      ...leftovers(this.#area),
      ...this.#area.canaryProblems(),
    ];
  }

  #content({ commit, file }: Saved): string {
    const listed = storeGit(this.#area.dataDir, ['ls-tree', '-r', '-z', '--full-tree', commit]).stdout.split('\0');
    const line = listed.find((entry) => entry.endsWith(`/${file}`));
    const blob = / blob (\w+)\t/.exec(line ?? '')?.[1];
    return blob === undefined ? '' : storeGit(this.#area.dataDir, ['cat-file', 'blob', blob]).stdout;
  }

  /** A busy store is said to be busy, and tried again. */
  async #patiently(args: readonly string[], instance: string): Promise<ProcessRun> {
    for (let turn = 0; ; turn += 1) {
      const run = await this.#area.run(args, { instance, cwd: this.#folder(instance) });
      if (run.code !== 8 || turn === 50) return run;
      this.#tally.note('save found the instance busy');
    }
  }

  #folder(instance: string): string {
    return join(this.#area.root, `of ${instance}`);
  }
}
