import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '../../support/random.js';
import { commitFiles, createRepository, userGit, writeFiles } from '../../support/user-git.js';
import { Area, told } from '../equipment/area.js';
import type { FaultTest, Order, Tally } from '../equipment/fault-test.js';
import { abreast } from '../equipment/fault-test.js';
import { shuffled } from '../equipment/sample.js';
import { type Ground, type Trap, prepareGround, traps as all } from '../equipment/traps.js';

/** Every command, in an order in which each has something to do; `AREA` is a folder of its own. */
const commands: readonly string[] = [
  'save',
  'save --full -m x',
  'save --if-changed',
  'list',
  'list --all',
  'show 1',
  'tree 1',
  'cat 1 -- tracked',
  'diff 1 2',
  'diff 1 --stat',
  'diff 1 2 --word-diff --exit-code',
  'log -p',
  'log --stat -- m/tracked',
  'restore 1 --dry-run',
  'restore 1 --yes',
  'undo --yes',
  'recover --continue --yes',
  'export 1 AREA/out',
  'export 1 AREA/out.tar.gz',
  'restore 1 --to AREA/to --yes',
  'drill 1',
  'run -- true',
  'pin 1',
  'unpin 1',
  'instance show',
  'instance list',
  'instance set keep_last=5',
  'instance activate',
  'instance deactivate',
  'delete 2 --yes',
  'prune --yes',
  'gc',
  'gc --auto',
  'push AREA/remote.git',
  'push MOUNT',
  'fetch AREA/remote.git',
  'fetch --all MOUNT',
  'verify',
  'verify --full',
  'doctor',
  'doctor --fix',
  'instance close',
];

/** What a mount, a user's configuration and an environment name is never run: one trap at a time, under every command. */
export const traps: FaultTest = {
  name: 'traps',
  about: 'a mount, the settings of a user or an environment name programs, under every command',
  counts: { short: 12, nightly: all.length * commands.length, soak: all.length * commands.length },
  lacks: () => undefined,
  run: async (order, tally) => {
    const rounds = order.count < commands.length ? allAtOnce(order) : inTurn(order);
    await abreast(rounds, order, (round) => round(tally));
  },
};

type Round = (tally: Tally) => Promise<void>;

function inTurn({ count, seed, point, until }: Order): Round[] {
  const [wanted] = point?.split(' / ') ?? [];
  const chosen = wanted === undefined ? shuffled(all, randomFrom(seed)) : all.filter(({ name }) => name === wanted);
  return chosen
    .slice(0, Math.ceil(count / commands.length))
    .map((trap) => (tally) => spring([trap], commands, until, tally));
}

/** All that can be set together, and some of the commands: for when there is little time. */
function allAtOnce({ count, seed, point, until }: Order): Round[] {
  if (point !== undefined) return inTurn({ count, seed, point, until, abreast: 1 });
  const [save = 'save', ...others] = commands;
  const some = new Set(shuffled(others, randomFrom(seed)).slice(0, count - 1));
  return [(tally) => spring(all, [save, ...others.filter((command) => some.has(command))], until, tally)];
}

/** Sets the traps, gives the commands, and then shows that each trap was live. */
async function spring(set: readonly Trap[], given: readonly string[], until: number, tally: Tally): Promise<void> {
  const area = new Area();
  try {
    const scene = new Scene(area, set);
    for (const command of given) {
      if (performance.now() > until) return;
      const run = await area.run(argumentsOf(command, area), { env: scene.env });
      // Some have nothing to do here; none may end as a bug does.
      const ended = [0, 1, 2, 3, 4, 6].includes(run.code ?? -1) && (run.code !== 1 || command.includes('--exit-code'));
      tally.add(`${scene.name} / ${command}`, [
        ...scene.sprung().map((name) => `${name} was sprung`),
        ...(ended ? [] : [`exit ${run.code ?? run.signal} ${told(run)}`]),
        ...area.canaryProblems(),
      ]);
    }
    if (set.length === 1) for (const problem of scene.deadTraps()) tally.add(`${scene.name} / control`, [problem]);
  } finally {
    area.remove();
  }
}

function argumentsOf(command: string, area: Area): string[] {
  return command.split(' ').map((word) => word.replace('AREA', area.at()).replace('MOUNT', area.mount));
}

class Scene {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #area: Area;
  readonly #traps: readonly Trap[];
  readonly #marks: string;

  constructor(area: Area, traps: readonly Trap[]) {
    this.#area = area;
    this.#traps = traps;
    this.name = traps.length === 1 ? traps[0]!.name : 'all traps at once';
    this.#marks = area.at('marks');
    mkdirSync(this.#marks);
    createRepository(area.mount);
    userGit(area.root, ['init', '--quiet', '--bare', area.at('remote.git')]);
    commitFiles(area.mount, { tracked: 'one\n', removed: 'x\n' });
    writeFiles(area.mount, { tracked: 'two\n', untracked: 'u\n' });
    this.env = Object.assign({}, ...traps.map((trap, at) => this.#set(trap, at))) as Readonly<Record<string, string>>;
  }

  #set(trap: Trap, at: number): Readonly<Record<string, string>> {
    const program = join(this.#area.mount, 'evil', `trap-${at}`);
    writeFiles(this.#area.mount, {
      [`evil/trap-${at}`]: `#!/bin/sh\n/usr/bin/touch '${join(this.#marks, String(at))}'\nexit 1\n`,
    });
    chmodSync(program, 0o755);
    const ground: Ground = { mount: this.#area.mount, home: join(this.#area.root, 'home'), program };
    if (at === 0) prepareGround(ground);
    return trap.set(ground);
  }

  /** Each is told once. */
  sprung(): string[] {
    return this.#traps.filter((_, at) => this.#isMarked(at)).map(({ name }) => name);
  }

  #isMarked(at: number): boolean {
    const mark = join(this.#marks, String(at));
    if (!existsSync(mark)) return false;
    rmSync(mark);
    return true;
  }

  /** A trap that nothing springs proves nothing. */
  deadTraps(): string[] {
    return this.#traps.flatMap(({ control, name }, at) => {
      if (control === undefined) return [];
      writeFileSync(join(this.#area.mount, 'tracked'), 'three\n');
      const env = {
        ...{ PATH: '/usr/bin:/bin', HOME: join(this.#area.root, 'home'), GIT_TERMINAL_PROMPT: '0' },
        ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' },
        ...this.env,
      };
      const { stderr } = spawnSync('/bin/sh', ['-c', control], { cwd: this.#area.mount, env, timeout: 20_000 });
      return this.#isMarked(at) ? [] : [`${name} is no trap: ${control} does not spring it: ${stderr.toString()}`];
    });
  }
}
