import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.js';
import { randomFrom } from '../../support/random.js';
import type { Cut } from '../equipment/cuts.js';
import { cutsOf } from '../equipment/cuts.js';
import type { FileSystem } from '../equipment/disk.js';
import { Disk, fileSystems, lacksDisk } from '../equipment/disk.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast } from '../equipment/fault-test.js';
import type { Way } from '../equipment/judge.js';
import { aftermathProblems, momentProblems, outcomeProblems } from '../equipment/judge.js';
import { shuffled } from '../equipment/sample.js';
import type { Scenario } from '../equipment/scenarios.js';
import { scenarios } from '../equipment/scenarios.js';
import { Stage } from '../equipment/stage.js';
import { lacksStrace } from '../equipment/trace.js';

/**
 * The power is cut right after a sync, a rename, a link or the end of a process: what the kernel had not written yet is
 * gone. On file systems of several kinds, each of which first must be seen to lose what git alone calls done.
 */
export const powerCuts: FaultTest = {
  name: 'power-cuts',
  about: 'the power is cut, and what was not synced is gone',
  counts: { short: 12, nightly: 1_600, soak: 16_000 },
  lacks: () => lacksStrace() ?? (usable().length > 0 ? undefined : lacksDisk('ext4')),
  run: runPowerCuts,
};

function usable(): FileSystem[] {
  return fileSystems.filter((kind) => lacksDisk(kind) === undefined);
}

async function runPowerCuts(order: Order, tally: Tally): Promise<void> {
  for (const kind of fileSystems) {
    const lacks = lacksDisk(kind);
    if (lacks !== undefined) tally.note(`${kind} left out: ${lacks}`);
    else if (order.point === undefined) await control(kind, tally);
  }
  const random = randomFrom(order.seed);
  for (let round = 0; tally.done < order.count && performance.now() < order.until; round += 1) {
    const before = tally.done;
    const jobs = shuffled(jobsOf(round, order.point), random);
    const share = Math.max(1, Math.ceil((order.count - before) / jobs.length));
    await abreast(jobs, order, (job) => cutThrough(job, { ...order, count: share }, order.count, tally, random));
    if (order.point !== undefined || tally.done === before) return;
  }
}

/** All scenarios on all file systems, or the one that a point names. */
function jobsOf(round: number, point?: string): Job[] {
  const [kind, scenario, variant] = point?.split(' / ') ?? [];
  return usable().flatMap((each) =>
    scenarios
      .filter(({ name }) => point === undefined || (name === scenario && each === kind))
      .map((one) => ({ kind: each, scenario: one, variant: Number(variant ?? round) })),
  );
}

interface Job {
  readonly scenario: Scenario;
  readonly kind: FileSystem;
  readonly variant: number;
}

async function cutThrough(job: Job, order: Order, inAll: number, tally: Tally, random: Random): Promise<void> {
  if (tally.done >= inAll) return;
  const stage = new Stage(job.scenario, job.variant);
  const disk = new Disk(job.kind, join(stage.area.root, 'disk'), {
    data: stage.area.dataDir,
    m: stage.area.mount,
  });
  try {
    await stage.prepare();
    await stage.begin();
    disk.sync();
    const before = stage.look();
    const { dev } = statSync(stage.area.mount);
    const cuts = await cutsOf(stage.area, job.scenario.args, disk, join(stage.area.root, 'cuts'));
    const name = (cut: Cut): string => `${job.kind} / ${stage.name} / ${cut.name}`;
    const named = cuts.filter((cut) => name(cut) === order.point);
    const some = order.point === undefined ? [...cuts.slice(-1), ...shuffled(cuts.slice(0, -1), random)] : named;
    for (const cut of some.slice(0, order.count)) {
      if (performance.now() > order.until || tally.done >= inAll) break;
      await disk.restart(cut.image);
      // Not all file systems have the same number when they are mounted again.
      stage.isElsewhere = statSync(stage.area.mount).dev !== dev;
      tally.add(name(cut), await cutProblems(stage, cut, before, random.oneIn(2) ? '--continue' : '--abort'));
      if (stage.isElsewhere) tally.note(`${job.kind}: the device had another number after the cut`);
    }
    tally.say(`${job.kind} / ${stage.name}: ${cuts.length} cuts, ${tally.done} done in all`);
  } finally {
    await disk.remove();
    stage.remove();
  }
}

async function cutProblems(stage: Stage, { run }: Cut, before: string, way: Way): Promise<string[]> {
  stage.saves = 0;
  return [
    ...(run === undefined ? [] : outcomeProblems(stage, run)),
    ...momentProblems(stage, before),
    ...(stage.scenario.kind === 'restore' ? stage.tornProblems() : []),
    ...(await aftermathProblems(stage, way)),
  ];
}

/** Stock git with its own settings says that a ref is written, and the power is cut: it must be gone, or the rig is broken. */
async function control(kind: FileSystem, tally: Tally): Promise<void> {
  const stage = new Stage(scenarios[0]!, 0);
  const { area } = stage;
  const disk = new Disk(kind, join(area.root, 'disk'), { data: area.dataDir });
  const git = (...args: string[]): string => {
    const env = { PATH: process.env['PATH'], HOME: area.root, GIT_CONFIG_NOSYSTEM: '1' };
    return spawnSync('git', ['-C', area.dataDir, ...args], { env, encoding: 'utf8', input: 'content' }).stdout.trim();
  };
  try {
    git('init', '-q', '--bare', 'r.git');
    writeFileSync(join(area.dataDir, 'synced'), '');
    disk.sync();
    const blob = git('--git-dir=r.git', 'hash-object', '-w', '--stdin');
    git('--git-dir=r.git', 'update-ref', 'refs/jackin/t/1', blob);
    const image = join(area.root, 'control');
    mkdirSync(area.root, { recursive: true });
    disk.copy(image);
    const wasThere = git('--git-dir=r.git', 'rev-parse', '--verify', '-q', 'refs/jackin/t/1') === blob;
    await disk.restart(image);
    rmSync(image);
    const isThere = git('--git-dir=r.git', 'rev-parse', '--verify', '-q', 'refs/jackin/t/1') === blob;
    const isSynced = statSync(join(area.dataDir, 'synced'), { throwIfNoEntry: false }) !== undefined;
    tally.add(`${kind} / control`, [
      ...(wasThere ? [] : ['git did not write the ref']),
      ...(isSynced ? [] : ['what was synced is gone']),
      ...(isThere ? ['the ref outlived the cut: this test would find nothing'] : []),
    ]);
  } finally {
    await disk.remove();
    stage.remove();
  }
}
