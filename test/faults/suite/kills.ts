import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import { changesSomething, changingCalls } from '../equipment/calls.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast } from '../equipment/fault-test.js';
import type { Way } from '../equipment/judge.js';
import { aftermathProblems, momentProblems, outcomeProblems } from '../equipment/judge.js';
import { sample } from '../equipment/sample.js';
import { scenarios } from '../equipment/scenarios.js';
import { Stage } from '../equipment/stage.js';
import type { Place } from '../equipment/trace.js';
import { lacksStrace, strike } from '../equipment/trace.js';

/**
 * SIGKILL just before each system call that changes something, of the program itself and of the git that it starts:
 * to the process alone, or to all of the command at once.
 */
export const kills: FaultTest = {
  name: 'kills',
  about: 'a command is killed before one of its changing system calls',
  counts: { short: 60, nightly: 10_000, soak: 100_000 },
  lacks: lacksStrace,
  run: (order, tally) => inScenarios(order, tally, killAt),
};

interface Point {
  readonly name: string;
  readonly place: Place;
  readonly together: boolean;
  readonly way: Way;
}

type Act = (stage: Stage, point: Point, tally: Tally) => Promise<void>;

async function killAt(stage: Stage, { name, place, together, way }: Point, tally: Tally): Promise<void> {
  await stage.begin();
  const before = stage.look();
  const { run, struck } = await strike(stage.area, stage.scenario.args, place, { injection: 'signal=KILL', together });
  if (!struck) {
    tally.note(`${stage.scenario.name}: not reached`);
    return;
  }
  const survived = run.signal !== 'SIGKILL';
  const outcome = survived ? outcomeProblems(stage, run) : [];
  const found = [...outcome, ...momentProblems(stage, before), ...(await aftermathProblems(stage, way))];
  tally.add(name, found);
}

/** Trees of one variant after the other, until as many points were checked as were asked for. */
export async function inScenarios(order: Order, tally: Tally, act: Act): Promise<void> {
  const random = randomFrom(order.seed);
  const wanted = order.point?.split(' / ');
  for (let variant = 0; tally.done < order.count && performance.now() < order.until; variant += 1) {
    if (wanted !== undefined && variant > 0) return;
    const drawn = wanted === undefined ? variant : Number(wanted[1]);
    const share = Math.ceil((order.count - tally.done) / scenarios.length);
    const chosen = scenarios.filter(({ name }) => wanted === undefined || name === wanted[0]);
    const before = tally.done;
    await abreast(chosen, order, async (scenario) => {
      const stage = new Stage(scenario, drawn);
      try {
        await stage.prepare();
        const places = (await stage.record(changingCalls)).filter(changesSomething);
        const points = pointsOf(`${scenario.name} / ${drawn}`, places, random);
        const named = points.filter(({ name }) => name === order.point);
        for (const point of wanted === undefined ? sample(points, share, random) : named) {
          if (performance.now() > order.until) break;
          await act(stage, point, tally);
        }
        tally.say(`${scenario.name} / ${drawn}: ${points.length} points, ${tally.done} done in all`);
      } finally {
        stage.remove();
      }
    });
    if (tally.done === before) return;
  }
}

/** Each place twice: killed alone and together, and in the one case finished, in the other taken back. */
function pointsOf(prefix: string, places: readonly Place[], random: Random): Point[] {
  return places.flatMap((place, at) =>
    [false, true].map((together) => ({
      name: [prefix, place.who, place.call, place.nth, together ? 'together' : 'alone'].join(' / '),
      place,
      together,
      way: (at + Number(together)) % 2 === 0 || random.oneIn(8) ? ('--continue' as const) : ('--abort' as const),
    })),
  );
}
