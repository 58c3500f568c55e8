import { existsSync, readdirSync, rmSync } from 'node:fs';
import { compareTrees } from '../../support/compare.js';
import { randomFrom } from '../../support/random.js';
import { removeTree } from '../../support/remove-tree.js';
import type { ProcessRun } from '../../support/run-process.js';
import { type TreeEntry, walkTree } from '../../support/walk.js';
import { Area, told } from '../equipment/area.js';
import { CraftedStore } from '../equipment/crafted-store.js';
import type { FaultTest, Fixture, Order, Tally } from '../equipment/fault-test.js';
import { withFixtures } from '../equipment/fault-test.js';
import { hostileKinds } from '../equipment/hostile-cases.js';
import { documentOf } from '../equipment/judge.js';
import { Outside, canary, edited, saved } from '../equipment/swaps.js';

/**
 * A store that somebody else has made: whatever it holds, no program is started that it names, nothing outside of the
 * mount is written, and each command ends soon, in little memory, with what is right or with a clear refusal.
 */
export const hostileStore: FaultTest = {
  name: 'hostile-store',
  about: 'a store holds trees, manifests, refs and files that nobody saved',
  counts: { short: 16, nightly: 1000, soak: 50_000 },
  lacks: () => undefined,
  run: (order, tally) => withFixtures(() => new Lane(), order, tally),
};

const always = ['list', 'restore 2 --to AREA/to --yes', 'restore 2 --yes'];
const others = [
  ...['show 2', 'tree 2', 'diff 1 2', 'diff 2', 'log -p', 'export 2 AREA/out', 'export 2 AREA/out.tar', 'verify'],
  ...[
    'verify --full',
    'drill 2',
    'doctor',
    'doctor --fix',
    'prune --yes',
    'gc',
    'cat 2 -- top',
    'delete 2 --yes',
    'save',
  ],
];

/** More than this a command and its children may not have. */
const kilobytes = 1_200_000;

class Lane implements Fixture {
  readonly #area = new Area();
  readonly #outside = new Outside(this.#area);
  readonly #store = new CraftedStore(this.#area);
  readonly #saved: TreeEntry[] = [];
  #names: readonly string[] = [];

  async prepare(): Promise<void> {
    await this.#area.fill(saved);
    await this.#area.must(['save']);
    this.#saved.push(...walkTree(this.#area.mount));
    this.#area.keep();
    this.#names = this.#around();
  }

  /** What lies beside mount and data directory: what is not in it came from a way out. */
  #around(): string[] {
    return [...readdirSync(this.#area.root), ...readdirSync(this.#area.at())].filter(
      (name) => !['to', 'out', 'out.tar', 'again', 'outside', 'mark'].includes(name),
    );
  }

  async check(number: number, { seed, until }: Order, tally: Tally): Promise<void> {
    const random = randomFrom(Math.imul(number + 1, 0x9e3779b1) ^ seed);
    const kind = hostileKinds[number % hostileKinds.length]!;
    await this.#begin();
    const what = kind.craft(this.#store, random, this.#outside.path).replace(/\s+/g, ' ').slice(0, 160);
    const commands = [...always, random.pick(others), random.pick(others)];
    const found: string[] = [];
    for (const command of commands) {
      const run = await this.#run(command);
      found.push(...outcomeProblems(run).map((problem) => `${command}: ${problem}`));
    }
    const isGone = commands.some((command) => /^(delete|prune|doctor --fix)/.test(command));
    if (kind.spoilsAll !== true) found.push(...(await this.#neighbourProblems(isGone)));
    if (performance.now() < until || found.length > 0)
      tally.add(`${number} / ${kind.name} / ${what}`, [...found, ...this.#wayOutProblems()]);
  }

  async #begin(): Promise<void> {
    for (const name of ['to', 'out', 'out.tar', 'again']) removeTree(this.#area.at(name));
    rmSync(this.#store.mark, { force: true });
    this.#area.reset();
    await this.#area.fill(edited);
    await this.#outside.reset();
  }

  #run(command: string): Promise<ProcessRun> {
    const limit = ['/bin/sh', '-c', `ulimit -d ${kilobytes}; exec "$@"`, 'sh'];
    const args = command.split(' ').map((word) => word.replace('AREA', this.#area.at()));
    return this.#area.run(args, { before: limit, timeout: 60_000 });
  }

  #wayOutProblems(): string[] {
    const more = this.#around().filter((name) => !this.#names.includes(name));
    return [
      ...(existsSync(this.#store.mark) ? ['a program that the store names was started'] : []),
      ...more.map((name) => `${name} was made outside of the mount`),
      ...this.#outside.problems(),
      ...this.#area.canaryProblems(),
    ];
  }

  /** The snapshot beside it is what it was. */
  async #neighbourProblems(mayBeGone: boolean): Promise<string[]> {
    const run = await this.#run('restore 1 --to AREA/again --yes');
    if (run.code === 3 && mayBeGone) return [];
    if (run.code !== 0) return [`the sound snapshot: exit ${run.code ?? run.signal} ${told(run)}`];
    const wrong = compareTrees(this.#saved, walkTree(this.#area.at('again')));
    return wrong.slice(0, 3).map((problem) => `the sound snapshot: ${problem}`);
  }

  remove(): void {
    this.#area.remove();
  }
}

/** Done, not found, refused, done in part, damaged, no space: each said in a document. */
function outcomeProblems(run: ProcessRun): string[] {
  if (run.timedOut) return ['it does not end'];
  if (!isClear(run)) return [`exit ${run.code ?? run.signal} ${told(run)}`];
  return [
    ...(run.stdout.includes(canary) ? ['what is outside was shown'] : []),
    ...(/[\x00-\x09\x0b-\x1f\x7f]/.test(run.stderr) ? [`control characters: ${JSON.stringify(run.stderr)}`] : []),
  ];
}

/** git may fail over what it reads, as long as that is said. */
function isClear(run: ProcessRun): boolean {
  const document = documentOf(run);
  if (document === undefined) return false;
  return [0, 2, 3, 4, 6, 7, 9].includes(run.code ?? -1) || document.error?.code === 'GIT_FAILED';
}
