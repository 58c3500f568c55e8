import type { ProcessRun } from '../../support/run-process.js';
import { afterErrorProblems } from '../equipment/after-error.js';
import { changingCalls, isSync } from '../equipment/calls.js';
import type { FaultTest, Tally } from '../equipment/fault-test.js';
import type { Point } from '../equipment/in-scenarios.js';
import { inScenarios } from '../equipment/in-scenarios.js';
import type { Stage } from '../equipment/stage.js';
import type { Place } from '../equipment/trace.js';
import { lacksStrace, strike } from '../equipment/trace.js';

/** EIO at each fsync: whatever is said to be durable rests on them, so the command has to fail. */
export const failedSyncs: FaultTest = {
  name: 'failed-syncs',
  about: 'an fsync of a command fails, and so must the command',
  counts: { short: 26, nightly: 1_000, soak: 10_000 },
  lacks: lacksStrace,
  run: (order, tally) =>
    inScenarios<Point>(order, tally, {
      calls: changingCalls,
      points: (prefix, places) =>
        places.filter(isSync).map((place) => ({
          name: [prefix, place.who, place.call, place.nth].join(' / '),
          place,
        })),
      act: failSync,
    }),
};

/** Why the command need not fail for this one. */
function exemption({ scenario }: Stage, { line }: Place, run: ProcessRun): string | undefined {
  if (/\/data\/cache(\/|>)/.test(line)) return 'caches: what cannot be remembered is found out again';
  if (/tmp_bitmap|multi-pack-index/.test(line))
    return 'an index for stock git alone: the next housekeeping makes it anew';
  if (`${run.stdout}${run.stderr}`.includes('stays as it lies'))
    return 'what is kept for its age alone: all of it stays as it lies, and that is said';
  const isSaved = scenario.name === 'save that prunes' && /retention|prun|remove/i.test(run.stdout);
  return isSaved ? 'the save is durable; that retention failed is said, and the next save does it' : undefined;
}

async function failSync(stage: Stage, { name, place }: Point, tally: Tally): Promise<void> {
  const before = stage.look();
  const { run, struck } = await strike(stage.area, stage.scenario.args, place, { injection: 'error=EIO' });
  if (!struck) {
    tally.note(`${stage.scenario.name}: not reached`);
    return;
  }
  const reason = run.code === 0 ? exemption(stage, place, run) : undefined;
  const ignored = run.code === 0 && reason === undefined ? [`a failed sync is no failure: ${place.line}`] : [];
  if (reason !== undefined) tally.note(reason);
  tally.add(name, [...ignored, ...(await afterErrorProblems(stage, run, before, true))]);
}
