import type { Random } from '../../support/random.js';
import { changesSomething, changingCalls } from '../equipment/calls.js';
import type { FaultTest, Tally } from '../equipment/fault-test.js';
import type { Faults, Point } from '../equipment/in-scenarios.js';
import { inScenarios } from '../equipment/in-scenarios.js';
import type { Way } from '../equipment/judge.js';
import { aftermathProblems, momentProblems, outcomeProblems } from '../equipment/judge.js';
import type { Stage } from '../equipment/stage.js';
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
  run: (order, tally) => inScenarios(order, tally, killing),
};

export interface Kill extends Point {
  readonly together: boolean;
  /** Where a pending restore is taken to. */
  readonly way: Way;
}

const killing: Faults<Kill> = { calls: changingCalls, points: killsAt, act: killOnce };

/** Each place twice: killed alone and together, and in the one case finished, in the other taken back. */
export function killsAt(prefix: string, places: readonly Place[], random: Random): Kill[] {
  return places.filter(changesSomething).flatMap((place, at) =>
    [false, true].map((together) => ({
      name: [prefix, place.who, place.call, place.nth, together ? 'together' : 'alone'].join(' / '),
      place,
      together,
      way: (at + Number(together)) % 2 === 0 || random.oneIn(8) ? ('--continue' as const) : ('--abort' as const),
    })),
  );
}

async function killOnce(stage: Stage, kill: Kill, tally: Tally): Promise<void> {
  const found = await killed(stage, kill);
  if (found === undefined) tally.note(`${stage.scenario.name}: not reached`);
  else tally.add(kill.name, [...found, ...(await aftermathProblems(stage, kill.way))]);
}

/** Kills the command; what is wrong right then, or undefined when it was not reached. */
export async function killed(stage: Stage, { place, together }: Kill): Promise<string[] | undefined> {
  const before = stage.look();
  const { run, struck } = await strike(stage.area, stage.scenario.args, place, { injection: 'signal=KILL', together });
  if (!struck) return undefined;
  const outcome = run.signal === 'SIGKILL' ? [] : outcomeProblems(stage, run);
  return [...outcome, ...momentProblems(stage, before)];
}
