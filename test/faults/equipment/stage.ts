import { compareTrees, treeFingerprint } from '../../support/compare.js';
import type { TreeEntry } from '../../support/walk.js';
import { walkTree } from '../../support/walk.js';
import { Area } from './area.js';
import { changesSomething, changingCalls } from './calls.js';
import type { Moment, Scenario } from './scenarios.js';
import { refsIn } from './store-problems.js';
import type { Place } from './trace.js';
import { record, strike } from './trace.js';
import type { Trees } from './trees.js';

/** A scenario with its trees on disk, to be begun again as often as wanted. */
export class Stage {
  readonly area = new Area();
  readonly scenario: Scenario;
  /** Scenario and variant. */
  readonly name: string;
  /** How often the command was given again, or another save made, since `begin`. */
  saves = 0;
  /** A place in the middle of what the command does, once that was recorded. */
  middle: Place | undefined;
  /** The mount's device has another number by now: a recovery needs to be told that this is no other folder. */
  isElsewhere = false;
  /** What was reported as saved before the command: refs with their commits. */
  reported: ReadonlyMap<string, string> = new Map();

  readonly #trees: Trees;
  readonly #looks = new Map<Moment, readonly TreeEntry[]>();
  #halfway: Place | undefined;

  constructor(scenario: Scenario, variant: number) {
    this.scenario = scenario;
    this.name = `${scenario.name} / ${variant}`;
    this.#trees = scenario.trees(variant);
  }

  async prepare(): Promise<void> {
    const { area, scenario } = this;
    for (const moment of ['then', 'now', scenario.starts] as const) {
      await area.fill(this.#trees[moment]);
      this.#looks.set(moment, walkTree(area.mount));
    }
    await scenario.prepare(area, this.#trees);
    this.reported = refsIn(area.dataDir);
    area.keep();
    if (scenario.halfway !== undefined) this.#halfway = await this.#middleOf(scenario.halfway);
    await area.fill(this.#trees[scenario.starts]);
  }

  /** All as it is before the command. */
  async begin(): Promise<void> {
    const { area, scenario } = this;
    this.saves = 0;
    area.reset();
    if (scenario.kind === 'restore')
      await area.fill(this.#trees[this.#halfway === undefined ? scenario.starts : 'now']);
    if (this.#halfway === undefined) return;
    const { struck } = await strike(area, scenario.halfway!, this.#halfway, { injection: 'signal=KILL' });
    if (!struck) throw new Error(`${scenario.name}: the restore was not killed half-way.`);
  }

  async record(calls: readonly string[]): Promise<Place[]> {
    await this.begin();
    const places = await record(this.area, this.scenario.args, calls, () => this.begin());
    this.middle = middleOf(places, this.scenario.kind === 'restore');
    return places;
  }

  /** Numbers that may be gone by now. */
  get mayGo(): readonly number[] {
    const { mayGo, moreMayGo } = this.scenario;
    if (moreMayGo === undefined) return mayGo;
    return [...mayGo, ...Array.from({ length: this.saves }, (_, at) => this.reported.size + at)];
  }

  look(): string {
    return treeFingerprint(this.area.mount);
  }

  /** How the mount differs from one of these states; nothing when it is one of them exactly. */
  mountProblems(...moments: readonly Moment[]): string[] {
    const found = walkTree(this.area.mount);
    const differences = moments.map((moment) => compareTrees(this.#looks.get(moment)!, found));
    if (differences.some((lines) => lines.length === 0)) return [];
    return [`the mount is not as ${moments.join(' or ')}: ${differences[0]!.slice(0, 4).join('; ')}`];
  }

  /** Files that have neither the content that they had in the one state nor that in the other. */
  tornProblems(): string[] {
    const known = ['then', 'now'].map(
      (moment) => new Map(this.#looks.get(moment as Moment)!.map((at) => [at.path, at])),
    );
    const torn = walkTree(this.area.mount).filter(
      ({ path, type, sha256 }) =>
        type === 'file' && !path.includes('.jackin-') && known.every((look) => look.get(path)?.sha256 !== sha256),
    );
    return torn.map(({ path, size }) => `${JSON.stringify(path)} (${size} bytes) is as it never was`);
  }

  /** A line for each path in which the mount differs from a state. */
  differences(moment: Moment): { readonly path: string; readonly line: string }[] {
    const lines = compareTrees(this.#looks.get(moment)!, walkTree(this.area.mount));
    return lines.map((line) => ({ path: / "(.*?)"(: |$)/.exec(line)?.[1] ?? line, line }));
  }

  remove(): void {
    this.area.remove();
  }

  async #middleOf(args: readonly string[]): Promise<Place> {
    const refill = async (): Promise<void> => {
      this.area.reset();
      await this.area.fill(this.#trees.now);
    };
    await refill();
    const places = await record(this.area, args, changingCalls, refill);
    const middle = middleOf(places, true);
    await refill();
    if (middle === undefined) throw new Error(`${args.join(' ')} renames nothing.`);
    return middle;
  }
}

function middleOf(places: readonly Place[], inMount: boolean): Place | undefined {
  const own = places.filter((place) => place.who === 'main' && changesSomething(place));
  const chosen = inMount
    ? own.filter(({ call, line }) => call === 'rename' && line.includes('/proc/self/fd/'))
    : own.filter(({ call }) => call === 'fsync');
  return chosen[chosen.length >> 1];
}
