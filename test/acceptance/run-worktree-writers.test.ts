import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inTree, none, sample, worktrees } from './worktree-scene.js';
import type { Scene } from './scene.js';

/** What the writer says that it has written. */
function written(scene: Scene): string[] {
  const log = join(scene.outside, 'log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
}

/** A command that fails, and leaves something running that does this until it is stopped; `$n` counts. */
function leavingBehind(scene: Scene, act: string): string {
  const [stop, ended] = [join(scene.outside, 'stop'), join(scene.outside, 'ended')];
  const loop = `n=0; while [ ! -e ${stop} ]; do n=$((n+1)); ${act}; sleep 0.002; done; : > ${ended}`;
  return `P=$PWD; (${loop}) > /dev/null 2>&1 & sleep 0.05; exit 1`;
}

async function stopped(scene: Scene): Promise<void> {
  writeFileSync(join(scene.outside, 'stop'), '');
  await expect.poll(() => existsSync(join(scene.outside, 'ended')), { timeout: 30_000 }).toBe(true);
}

/** Names of the files that any of the instance's snapshots holds. */
async function inSnapshots(scene: Scene, instance: string): Promise<Set<string>> {
  const { data } = await scene.json(['list'], { instance });
  const names = new Set<string>();
  for (const { seq } of data.snapshots as { seq: number }[]) {
    const { stdout } = await scene.run(['tree', String(seq)], { instance });
    for (const name of stdout.match(/later-\d+/g) ?? []) names.add(name);
  }
  return names;
}

function inFolder(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
}

describe('what the command of a run left behind goes on writing while the worktree is removed', () => {
  test.each(['', '"$P"/'])('%j: nothing that was written is lost, and what is kept is said', async (where) => {
    const scene = sample();
    const log = join(scene.outside, 'log');
    const act = `echo $n > ${where}later-$n && echo later-$n >> ${log}`;
    const { data } = await inTree(scene, leavingBehind(scene, act), [], 1);
    const atEnd = written(scene);
    expect(atEnd.length).toBeGreaterThan(0);
    const { path, name, kept, unsaved } = data.worktree;
    const there = new Set(inFolder(join(path, '..')).flatMap((each) => /later-\d+$/.exec(each) ?? []));
    const saved = await inSnapshots(scene, data.instance as string);
    await stopped(scene);
    expect(atEnd.filter((each) => !saved.has(each) && !there.has(each))).toEqual([]);
    if (kept === true) {
      expect(unsaved.join('\n')).toMatch(/changed|came|new was made/);
      await scene.run(['run', 'remove', name, '--yes', '--force'], none);
    }
    expect([existsSync(path), await worktrees(scene)]).toEqual([false, []]);
  });

  test('a file that changes after the snapshot keeps the worktree, in its place', async () => {
    const { scene, worktree } = await keptForItsWriter(5);
    const { path, name, unsaved } = worktree;
    expect(unsaved.join('\n')).toMatch(/plan\.txt|partial/);
    expect(existsSync(join(path, 'plan.txt'))).toBe(true);
    await stopped(scene);
    expect(inFolder(join(path, '..')).filter((each) => !each.includes('/'))).toHaveLength(1);
    await scene.run(['run', 'remove', name, '--yes'], none);
    expect(existsSync(path)).toBe(false);
  });

  test('what is ignored keeps nothing', async () => {
    const scene = sample();
    const script = `printf '*.log\\n' > .gitignore; echo x > build.log; ${leavingBehind(scene, 'echo $n >> build.log')}`;
    const { data } = await inTree(scene, script, [], 1);
    await stopped(scene);
    expect(data.worktree).toMatchObject({ kept: false, unsaved: [] });
  });
});

/**
 * A worktree in which a file was written after the snapshot. On a busy machine the writer may not come to it in between:
 * then the worktree goes, a snapshot has the last of it, and there is another try.
 */
async function keptForItsWriter(
  tries: number,
): Promise<{ scene: Scene; worktree: { path: string; name: string; unsaved: string[] } }> {
  const scene = sample();
  const act = `echo $n > plan.txt && echo $n >> ${join(scene.outside, 'log')}`;
  const { data } = await inTree(scene, leavingBehind(scene, act), [], 1);
  const { worktree } = data;
  if (worktree.kept === true) return { scene, worktree };
  await stopped(scene);
  const { stdout } = await scene.run(['cat', 'latest', 'plan.txt'], { instance: worktree.name });
  expect(stdout.trim()).toBe(written(scene).at(-1));
  expect(tries, 'tries that are left').toBeGreaterThan(1);
  return keptForItsWriter(tries - 1);
}

describe('a removal that was killed when the folder had its other name, and nothing had gone', () => {
  async function cutOff(): Promise<{ scene: Scene; name: string; path: string }> {
    const scene = sample();
    const { data } = await inTree(scene, 'echo n > new');
    const { name, path } = data.worktree as { name: string; path: string };
    renameSync(path, join(path, '../.removing'));
    writeFileSync(join(path, '../.removing/later'), 'later\n');
    return { scene, name, path };
  }

  test('is told by run list', async () => {
    const { scene } = await cutOff();
    expect(await worktrees(scene)).toMatchObject([{ state: 'removing' }]);
  });

  test('is taken back by a discard, which saves what is there', async () => {
    const { scene, name, path } = await cutOff();
    const { data, document } = await scene.json(['discard', name, '--yes', '--acknowledge', 'm'], none);
    expect(JSON.stringify([data, document])).not.toContain('No snapshot was made');
    expect(existsSync(join(path, '..'))).toBe(false);
    expect((await scene.run(['cat', 'latest', 'later'], { instance: name })).stdout).toBe('later\n');
  });

  test('several removals at once end it, and none fails for what another took', async () => {
    const { scene, name, path } = await cutOff();
    const start = () => scene.run(['run', 'remove', name, '--yes'], { ...none, code: [0, 3, 4] });
    const runs = await Promise.all([start(), start(), start()]);
    expect(runs.map(({ code }) => code)).toContain(0);
    expect(existsSync(path)).toBe(false);
  });
});
