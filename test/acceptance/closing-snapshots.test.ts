import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scene } from './scene.js';
import { inTree, none, sample } from './worktree-scene.js';

/** A worktree that is kept, and its instance set up so. */
async function kept(
  settings: readonly string[],
  script = 'true',
): Promise<{ scene: Scene; name: string; path: string }> {
  const scene = sample();
  const { data } = await inTree(scene, script, ['--keep', 'keep']);
  const { name, path } = data.worktree as { name: string; path: string };
  if (settings.length > 0) await scene.run(['instance', 'set', ...settings], { instance: name });
  return { scene, name, path };
}

/** What the newest snapshot of an instance has, in a folder of its own. */
async function restoredLast(scene: Scene, instance: string): Promise<string> {
  const to = join(scene.outside, 'back');
  await scene.run(['restore', 'latest', '--to', to, '--yes'], { instance });
  return to;
}

const ways: readonly (readonly [what: string, words: (name: string) => string[]])[] = [
  ['run remove', (name) => ['run', 'remove', name, '--yes']],
  ['run remove --force', (name) => ['run', 'remove', name, '--yes', '--force']],
  ['discard', (name) => ['discard', name, '--yes', '--acknowledge', 'm']],
];

describe.each(ways)('%s', (_, words) => {
  test.each(['metadata', 'off', 'project'])('with snapshot=%s leaves a snapshot of what was there', async (level) => {
    const { scene, name, path } = await kept([`snapshot=${level}`]);
    writeFileSync(join(path, 'later.txt'), 'later\n');
    await scene.run(words(name), none);
    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(await restoredLast(scene, name), 'later.txt'), 'utf8')).toBe('later\n');
    expect((await scene.json(['instance', 'show'], { instance: name })).data.instance.policy.snapshot).toBe(level);
  });
});

test('what the command switched off is in the snapshot before the removal', async () => {
  const scene = sample();
  const bin = join(import.meta.dirname, '../../bin/jackin-snap');
  const script = `echo w > work; "${process.execPath}" "${bin}" --data-dir "${scene.dataDir}" -i w instance set snapshot=metadata`;
  const { data } = await scene.json(['run', '--worktree', '--keep', 'discard', '--', 'sh', '-c', script], {
    instance: 'w',
  });
  expect(data.worktree).toMatchObject({ kept: false });
  expect(readFileSync(join(await restoredLast(scene, 'w'), 'work'), 'utf8')).toBe('w\n');
});
