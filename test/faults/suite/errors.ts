import { changingCalls, errorsOf, readingCalls } from '../equipment/calls.js';
import type { FaultTest, Tally } from '../equipment/fault-test.js';
import type { Faults, Point } from '../equipment/in-scenarios.js';
import { inScenarios } from '../equipment/in-scenarios.js';
import { afterErrorProblems } from '../equipment/after-error.js';
import type { Stage } from '../equipment/stage.js';
import type { Place } from '../equipment/trace.js';
import { lacksStrace, strike } from '../equipment/trace.js';

/** A system call of a command fails: that one, or that one and all of its kind after it. */
export const errors: FaultTest = {
  name: 'errors',
  about: 'a system call of a command fails, once or from then on',
  counts: { short: 60, nightly: 5_000, soak: 50_000 },
  lacks: lacksStrace,
  run: (order, tally) => inScenarios(order, tally, failing),
};

interface Failing extends Point {
  readonly error: string;
  readonly onwards: boolean;
}

const failing: Faults<Failing> = { calls: [...changingCalls, ...readingCalls], points: failuresAt, act: failOnce };

function failuresAt(prefix: string, places: readonly Place[]): Failing[] {
  return places.flatMap((place) =>
    errorsOf(place).flatMap((error) =>
      lastings(place).map((onwards) => ({
        name: [prefix, place.who, place.call, place.nth, error, onwards ? 'onwards' : 'once'].join(' / '),
        place,
        error,
        onwards,
      })),
    ),
  );
}

/** Of these the program makes many that are no one's business: to its own pipes, and to code that is loaded. */
const onceOnly: readonly string[] = ['read', 'write', 'mmap'];

function lastings({ call }: Place): readonly boolean[] {
  return onceOnly.includes(call) ? [false] : [false, true];
}

async function failOnce(stage: Stage, { name, place, error, onwards }: Failing, tally: Tally): Promise<void> {
  const before = stage.look();
  const { run, struck } = await strike(stage.area, stage.scenario.args, place, {
    injection: `error=${error}`,
    onwards,
  });
  if (struck) tally.add(name, await afterErrorProblems(stage, run, before, place.nth % 2 === 0));
  else tally.note(`${stage.scenario.name}: not reached`);
}
