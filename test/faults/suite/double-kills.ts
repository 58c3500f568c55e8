import { randomFrom } from '../../support/random.js';
import { changesSomething, changingCalls } from '../equipment/calls.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { inScenarios } from '../equipment/in-scenarios.js';
import type { Way } from '../equipment/judge.js';
import { aftermathProblems, momentProblems } from '../equipment/judge.js';
import type { Stage } from '../equipment/stage.js';
import type { Place } from '../equipment/trace.js';
import { lacksStrace, record, strike } from '../equipment/trace.js';
import type { Kill } from './kills.js';
import { killed, killsAt } from './kills.js';

/** What follows a kill is killed as well: the recovery of a restore, or the same command again. */
export const doubleKills: FaultTest = {
  name: 'double-kills',
  about: 'a command is killed, and so is what is to mend that',
  counts: { short: 20, nightly: 2_000, soak: 20_000 },
  lacks: lacksStrace,
  run: (order, tally) => {
    const mending = new Mending();
    return inScenarios(order, tally, {
      calls: changingCalls,
      points: killsAt,
      act: (stage, kill, found) => killTwice(stage, kill, { mending, order, tally: found }),
    });
  },
};

interface Around {
  readonly mending: Mending;
  readonly order: Order;
  readonly tally: Tally;
}

async function killTwice(stage: Stage, kill: Kill, { mending, order, tally }: Around): Promise<void> {
  const seconds = await mending.places(stage, kill.way);
  if (seconds.length === 0) {
    tally.note(`${stage.scenario.name}: mending changes nothing`);
    return;
  }
  await stage.begin();
  const first = await killed(stage, kill);
  // The same for the same point, whatever else is run.
  const second = randomFrom(order.seed + hashOf(kill.name)).pick(seconds);
  const before = stage.look();
  if (stage.scenario.kind === 'save') stage.saves += 1;
  const { struck } = await strike(stage.area, mendingOf(stage, kill.way), second, { injection: 'signal=KILL' });
  if (first === undefined || !struck) {
    tally.note(`${stage.scenario.name}: the second kill was not reached`);
    return;
  }
  const problems = [...momentProblems(stage, before), ...(await aftermathProblems(stage, kill.way, true))];
  const where = `second kill ${second.who} ${second.call} ${second.nth}`;
  tally.add(kill.name, [...first, ...problems.map((problem) => `${where}: ${problem}`)]);
}

/** What mending does, seen once for each stage and way. */
class Mending {
  readonly #seen = new Map<string, Place[]>();

  async places(stage: Stage, way: Way): Promise<Place[]> {
    const key = `${stage.name} ${way}`;
    const known = this.#seen.get(key);
    if (known !== undefined) return known;
    const again = async (): Promise<void> => {
      await stage.begin();
      if (stage.middle !== undefined)
        await strike(stage.area, stage.scenario.args, stage.middle, { injection: 'signal=KILL' });
    };
    await again();
    const places = (await record(stage.area, mendingOf(stage, way), changingCalls, again)).filter(changesSomething);
    this.#seen.set(key, places);
    return places;
  }
}

function mendingOf({ scenario }: Stage, way: Way): readonly string[] {
  return scenario.kind === 'restore' ? ['recover', way, '--yes'] : scenario.args;
}

function hashOf(text: string): number {
  return Buffer.from(text).reduce((hash, byte) => (hash * 31 + byte) | 0, 7);
}
