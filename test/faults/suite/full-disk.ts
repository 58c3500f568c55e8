import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../../support/random.js';
import { afterErrorProblems } from '../equipment/after-error.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { documentOf } from '../equipment/judge.js';
import type { Scenario } from '../equipment/scenarios.js';
import { scenarios } from '../equipment/scenarios.js';
import { Stage } from '../equipment/stage.js';

/** Data directory or mount on a file system that is too small, by blocks or by inodes: from nothing to nearly enough. */
export const fullDisk: FaultTest = {
  name: 'full-disk',
  about: 'a file system has less room than a command needs',
  counts: { short: 12, nightly: 400, soak: 4_000 },
  lacks: () => (canMount() ? undefined : 'mounting a file system needs root'),
  run: runFullDisk,
};

type Side = 'dataDir' | 'mount';
type Limit = 'size' | 'nr_inodes';

interface Sweep {
  readonly scenario: Scenario;
  readonly side: Side;
  readonly limit: Limit;
}

const filled = ['save of changes', 'save of no change', 'restore', 'restore of many', 'undo', 'prune', 'delete', 'gc'];

async function runFullDisk(order: Order, tally: Tally): Promise<void> {
  const [name, side, limit, left] = order.point?.split(' / ') ?? [];
  const sweeps = scenarios
    .filter((scenario) => filled.includes(scenario.name))
    .flatMap((scenario) => sidesOf(scenario).map((each) => ({ scenario, ...each })))
    .filter(
      (sweep) => name === undefined || (sweep.scenario.name === name && sweep.side === side && sweep.limit === limit),
    );
  const random = randomFrom(order.seed);
  const share = Math.max(1, Math.ceil(order.count / sweeps.length));
  const offset = random.below(sweeps.length);
  for (let at = 0; at < sweeps.length && tally.done < order.count && performance.now() < order.until; at += 1) {
    const sweep = sweeps[(at + offset) % sweeps.length]!;
    await inOwnMounts(sweep, async (stage, room) => {
      const most = room.needed();
      const sizes =
        left === undefined
          ? Array.from({ length: share }, (_, n) => Math.floor((most * (n + random.below(100) / 100)) / share))
          : [Number(left)];
      for (const size of sizes) if (tally.done < order.count) await fill(stage, sweep, room, size, tally);
    });
    tally.say(`${sweep.scenario.name} / ${sweep.side} / ${sweep.limit}: ${tally.done} done in all`);
  }
}

function sidesOf({ kind }: Scenario): { readonly side: Side; readonly limit: Limit }[] {
  const sides: readonly Side[] = kind === 'restore' ? ['dataDir', 'mount'] : ['dataDir'];
  return sides.flatMap((side) => (['size', 'nr_inodes'] as const).map((limit) => ({ side, limit })));
}

/** Runs the command with `left` blocks or inodes free; then with all that it wants. */
async function fill(stage: Stage, sweep: Sweep, room: Room, left: number, tally: Tally): Promise<void> {
  await stage.begin();
  const before = stage.look();
  room.leave(left);
  const run = await stage.area.run(stage.scenario.args, { timeout: 60_000 });
  room.leave(undefined);
  const code = documentOf(run)?.error?.code;
  const fits = run.code === 0 || run.code === 6 || code === 'NO_SPACE';
  const name = [sweep.scenario.name, sweep.side, sweep.limit, left].join(' / ');
  const wrong = fits ? [] : [`exit ${run.code ?? run.signal} with ${code ?? 'no code'} in place of NO_SPACE`];
  tally.add(name, [...wrong, ...(await afterErrorProblems(stage, run, before, left % 2 === 0))]);
}

/** How much of a file system there is. */
class Room {
  readonly #path: string;
  readonly #limit: Limit;
  #most = 0;

  constructor(path: string, limit: Limit) {
    this.#path = path;
    this.#limit = limit;
  }

  /** Blocks or inodes that the command took when it had all that it wanted. */
  needed(): number {
    return this.#most;
  }

  used(): number {
    const { blocks, bfree, files, ffree } = statfsSync(this.#path);
    return this.#limit === 'size' ? blocks - bfree : files - ffree;
  }

  async measure(act: () => Promise<void>): Promise<void> {
    const before = this.used();
    let peak = before;
    const timer = setInterval(() => (peak = Math.max(peak, this.used())), 2);
    await act();
    clearInterval(timer);
    this.#most = Math.max(peak, this.used()) - before + 2;
  }

  /** `undefined`: all that there may be. */
  leave(free: number | undefined): void {
    const wanted = free === undefined ? roomy[this.#limit] : this.used() + free;
    const value = this.#limit === 'size' ? `${wanted * statfsSync(this.#path).bsize}` : `${wanted}`;
    mounted(['-o', `remount,${this.#limit}=${value}`, this.#path]);
  }
}

const roomy = { size: 65_536, nr_inodes: 100_000 } as const;

async function inOwnMounts(
  { scenario, side, limit }: Sweep,
  act: (stage: Stage, room: Room) => Promise<void>,
): Promise<void> {
  const stage = new Stage(scenario, 0);
  const path = stage.area[side];
  mkdirSync(path, { recursive: true, mode: 0o700 });
  mounted(['-t', 'tmpfs', '-o', `size=${roomy.size * 4096},nr_inodes=${roomy.nr_inodes},mode=700`, 'tmpfs', path]);
  const unmount = (): void => void spawnSync('umount', ['-l', path]);
  process.once('exit', unmount);
  try {
    await stage.prepare();
    const room = new Room(path, limit);
    await stage.begin();
    await room.measure(async () => {
      await stage.area.run(scenario.args);
    });
    await act(stage, room);
  } finally {
    process.off('exit', unmount);
    unmount();
    stage.remove();
  }
}

function mounted(args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args);
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr.toString()}`);
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', join('/', 'mnt')]).status === 0;
}
