import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import type { Order, Tally } from './fault-test.js';
import { abreast } from './fault-test.js';
import { sample } from './sample.js';
import { scenarios } from './scenarios.js';
import { Stage } from './stage.js';
import type { Place } from './trace.js';

/** A place, and what is done there. */
export interface Point {
  /** Begins with the name of the scenario, ` / ` and the variant of its trees. */
  readonly name: string;
  readonly place: Place;
}

export interface Faults<P extends Point> {
  /** The system calls to record. */
  readonly calls: readonly string[];
  readonly points: (prefix: string, places: readonly Place[], random: Random) => readonly P[];
  readonly act: (stage: Stage, point: P, tally: Tally) => Promise<void>;
}

/** Through all scenarios, with trees of one variant after the other, until enough points were checked. */
export async function inScenarios<P extends Point>(order: Order, tally: Tally, faults: Faults<P>): Promise<void> {
  const random = randomFrom(order.seed);
  const wanted = order.point?.split(' / ');
  for (let variant = 0; tally.done < order.count && performance.now() < order.until; variant += 1) {
    const before = tally.done;
    const share = Math.ceil((order.count - before) / scenarios.length);
    const chosen = scenarios.filter(({ name }) => wanted === undefined || name === wanted[0]);
    await abreast(chosen, order, async (scenario) => {
      const stage = new Stage(scenario, wanted === undefined ? variant : Number(wanted[1]));
      try {
        const points = await pointsOf(stage, faults, random);
        const named = points.filter(({ name }) => name === order.point);
        for (const point of wanted === undefined ? sample(points, share, random) : named) {
          if (performance.now() > order.until || tally.done >= order.count) break;
          await stage.begin();
          await faults.act(stage, point, tally);
        }
        tally.say(`${stage.name}: ${points.length} points, ${tally.done} done in all`);
      } finally {
        stage.remove();
      }
    });
    // One point was asked for, or trees differ no longer.
    if (wanted !== undefined || tally.done === before) return;
  }
}

async function pointsOf<P extends Point>(stage: Stage, faults: Faults<P>, random: Random): Promise<readonly P[]> {
  await stage.prepare();
  return faults.points(stage.name, await stage.record(faults.calls), random);
}
