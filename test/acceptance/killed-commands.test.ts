import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeFiles } from '../support/user-git.js';
import { fsckStrict, storeGit } from '../support/store-git.js';
import { everyMoment } from './killed-restore.js';
import { Scene, leftovers } from './scene.js';

// Commands that are killed just before their n-th change to the data directory: the old state or the new one is
// visible, and the next command works as if nothing had happened.

function dying(scene: Scene, at: number, log?: string): Record<string, string> {
  const hook = `--import=${join(import.meta.dirname, 'die-at.js')}`;
  const where = { NODE_OPTIONS: hook, DIE_BELOW: scene.dataDir, DIE_AT: String(at) };
  return log === undefined ? where : { ...where, DIE_LOG: log };
}

/** How many changes to the data directory a command makes. */
async function changesOf(scene: Scene, args: readonly string[]): Promise<number> {
  const log = join(scene.area, 'log');
  rmSync(log, { force: true });
  await scene.run(args, { env: dying(scene, 0, log) });
  return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n').length : 0;
}

interface Killed {
  readonly what: string;
  /** From three snapshots and a folder that holds `now`. */
  readonly args: readonly string[];
  /** What makes it possible again after it was done. */
  readonly again?: (scene: Scene) => Promise<unknown>;
}

describe('a command that is killed at any of its changes to the data directory', () => {
  test.each<Killed>([
    { what: 'save', args: ['save'] },
    { what: 'restore', args: ['restore', '1', '--yes'] },
    { what: 'undo', args: ['undo', '--yes'], again: (scene) => scene.restore(1) },
    { what: 'delete', args: ['delete', 'latest', '--yes'], again: (scene) => scene.save() },
    {
      what: 'prune',
      args: ['prune', '--yes'],
      again: async (scene) => {
        await scene.save();
        await scene.save();
      },
    },
    { what: 'gc', args: ['gc'] },
    {
      what: 'gc of what is old',
      args: ['gc'],
      again: async (scene) => {
        scene.write({ gone: String(Math.random()) });
        await scene.save();
        scene.remove('gone');
        await scene.save();
        await scene.run(['instance', 'set', 'auto_prune=true']);
        await scene.save();
        scene.ageObjects();
      },
    },
    { what: 'pin', args: ['pin', '1'], again: (scene) => scene.run(['unpin', '1']) },
    { what: 'instance set', args: ['instance', 'set', 'keep_last=9'] },
    { what: 'activate', args: ['instance', 'activate', '--pid', String(process.pid)] },
  ])('leaves the old state or the new one: $what', async ({ args, again }) => {
    const scene = new Scene();
    for (const text of ['one', 'two', 'three']) {
      scene.write({ a: text, [text]: text });
      await scene.save();
    }
    await scene.run(['instance', 'set', 'keep_last=2', 'auto_prune=false']);
    const prepare = async (): Promise<void> => {
      await scene.run(['instance', 'deactivate']);
      scene.write({ a: 'now' });
      await again?.(scene);
      await scene.run(['instance', 'set', 'keep_last=2', 'auto_prune=false']);
    };
    await prepare();
    const count = await changesOf(scene, args);
    const step = everyMoment ? 1 : Math.max(1, Math.ceil(count / 6));
    for (let at = 1; at <= count; at += step) {
      await scene.run(['recover', '--continue', '--yes'], { code: [0, 3] });
      await prepare();
      const before = await scene.numbers();
      const { signal } = await scene.start(args, { env: dying(scene, at) }).done;
      if (signal !== 'SIGKILL') continue; // It had less to do than the first time.
      const after = await scene.numbers();
      const [fewer, more] = after.length < before.length ? [after, before] : [before, after];
      expect(more, `killed at ${at}`).toEqual(expect.arrayContaining(fewer));
      for (const { seq, restorable } of await scene.list()) expect([at, seq, restorable]).toEqual([at, seq, true]);
      expect(await scene.content(1, 'a'), `killed at ${at}`).toBe('one');
      const next = Math.max(...before, ...after) + 1;
      expect((await scene.save()).data.snapshot.seq, `killed at ${at}`).toBeGreaterThanOrEqual(next);
      await scene.run(['verify']);
      expect(leftovers(scene.dataDir), `killed at ${at}`).toEqual([]);
    }
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    scene.ageObjects();
    await scene.run(['gc']);
    const packs = readdirSync(join(scene.store, 'objects/pack'));
    expect(packs.filter((name) => name.endsWith('.pack'))).toHaveLength(1);
    expect(storeGit(scene.dataDir, ['fsck', '--unreachable', '--no-reflogs']).stdout).toBe('');
  });
});

test.each([
  { what: 'delete', args: ['delete', '2', '--yes'] },
  { what: 'prune', args: ['prune', '--yes'] },
])('$what works though one that was killed left the lock of a ref', async ({ args }) => {
  const scene = new Scene();
  for (const text of ['one', 'two', 'three']) {
    scene.write({ a: text });
    await scene.save();
  }
  await scene.run(['instance', 'set', 'keep_last=1', 'auto_prune=false']);
  writeFileSync(join(scene.store, 'refs/jackin/t/2.lock'), '');
  await scene.run(args);
  expect(await scene.numbers()).toEqual([3, 1]);
});

test.each([
  { when: 'with its input', begin: `cat >input; : >begun; sleep 3; exec "$git" "$@" <input`, left: [2, 1] },
  { when: 'before it has its input', begin: `: >begun; sleep 3; exec "$git" "$@"`, left: [1] },
])(
  'a step on refs that outlives its killed save $when keeps the locks: nobody collects what it names',
  async (step) => {
    const scene = new Scene();
    const bin = join(scene.area, 'bin');
    const slow = join(scene.area, 'slow');
    mkdirSync(bin);
    mkdirSync(slow);
    writeFiles(bin, {
      git: `#!/bin/sh
git='${gitProgram()}'
case " $* " in *" update-ref "*) if [ -e '${slow}/on' ]; then cd '${slow}'; ${step.begin}; fi;; esac
exec "$git" "$@"
`,
    });
    chmodSync(join(bin, 'git'), 0o755);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    scene.write({ a: '1' });
    await scene.save([], { env });
    scene.write({ a: '2' });
    writeFileSync(join(slow, 'on'), '');
    const save = scene.start(['save'], { env });
    await expect.poll(() => existsSync(join(slow, 'begun')), { timeout: 30_000, interval: 1 }).toBe(true);
    save.child.kill('SIGKILL');
    await save.done;
    rmSync(join(slow, 'on'));
    const began = performance.now();
    await scene.run(['gc'], { env });
    // It waited for the step.
    expect(performance.now() - began).toBeGreaterThan(1000);
    // Without its input the step has changed nothing; were the save quicker than its killer, all of it has happened.
    expect([step.left, [2, 1]]).toContainEqual(await scene.numbers());
    await scene.run(['verify', '--full']);
    expect(leftovers(scene.dataDir)).toEqual([]);
  },
);

function gitProgram(): string {
  return spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
}
