import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { writeFiles } from '../support/user-git.js';
import type { Scene } from './scene.js';
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

describe.each(ways)('%s', (_, words) => {
  test('names what is ignored, and saves what only its instance excludes', async () => {
    const { scene, name, path } = await kept(['exclude=*.dat']);
    writeFiles(path, { '.gitignore': '*.log\n', 'kept.dat': 'hand', 'x.log': 'l', 'sub/y.log': 'l' });
    const { document } = await scene.json(words(name), none);
    expect(document.messages).toEqual(['Ignored, in no snapshot, and gone with the worktree: sub/y.log, x.log.']);
    expect(existsSync(path)).toBe(false);
    const back = await restoredLast(scene, name);
    expect(readFileSync(join(back, 'kept.dat'), 'utf8')).toBe('hand');
    expect(existsSync(join(back, 'x.log'))).toBe(false);
  });

  test.skipIf(!hasPython)('names it before the question, too', async () => {
    const { scene, name, path } = await kept([], 'echo i > x.log');
    writeFiles(path, { '.gitignore': '*.log\n' });
    const asking = words(name).filter((word) => word !== '--yes' && word !== '--acknowledge' && word !== 'm');
    const command = [process.execPath, snapBin, '--data-dir', scene.dataDir, ...asking];
    const surroundings = { cwd: scene.mount, env: { ...snapEnvironment(scene.home), TERM: 'xterm' } };
    const steps = [{ after: 'and to go with the worktree: x.log.' }, { after: '(y/N)', type: 'y\n' }];
    const { shown, code } = await onTerminal(command, steps, surroundings);
    expect({ code, shown }).toMatchObject({ code: 0 });
    expect(shown).toContain('and gone with the worktree: x.log.');
    expect(existsSync(path)).toBe(false);
  });
});

test('what only its instance excludes, and is over the limit, keeps the worktree', async () => {
  const { scene, name, path } = await kept(['exclude=*.dat', 'max_file_size=100', 'on_limit=fail']);
  writeFiles(path, { 'large.dat': 'x'.repeat(1000) });
  const { document } = await scene.json(['run', 'remove', name, '--yes'], { ...none, code: 4 });
  expect(document.error?.message).toContain('large.dat');
  expect(existsSync(join(path, 'large.dat'))).toBe(true);
  await scene.run(['run', 'remove', name, '--yes', '--force'], none);
  expect(existsSync(path)).toBe(false);
});
