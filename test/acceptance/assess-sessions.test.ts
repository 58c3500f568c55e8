import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapBin } from '../support/cli.js';
import { FakeJackin } from '../support/jackin-home.js';
import { hasPython, onTerminal } from '../support/terminal.js';
import { createHistory, userGit, writeFiles } from '../support/user-git.js';
import { Scene, expectSame, remember, rememberUntouched } from './scene.js';

describe('how an activity ended', () => {
  test('is told by every look, and noted', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const activity = join(scene.dataDir, 'instances/t/activity.json');
    const status = async (args: readonly string[] = ['instance', 'show']) => {
      const { data } = await scene.json(args);
      return (data.instance ?? data.instances[0]).status as string;
    };
    const gone = { pid: 999_999, start: '1', bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() };
    const cases = [
      [gone, 'ended', ['instance', 'list']],
      [{ ...gone, by: 'run' }, 'killed', ['list', '--all']],
      [{ ...gone, pid: process.pid, bootId: 'another' }, 'killed', ['instance', 'show']],
    ] as const;
    for (const [mark, word, look] of cases) {
      writeFileSync(activity, JSON.stringify(mark));
      expect(await status(look)).toBe(word);
      expect(existsSync(activity)).toBe(false);
      expect(await status()).toBe(word);
      await scene.save();
      await scene.json(['run', '--', 'true']);
      expect(await status()).toBe('open');
    }
    writeFileSync(activity, JSON.stringify(gone));
    await scene.save();
    expect(existsSync(activity)).toBe(false);
    writeFileSync(activity, 'nonsense');
    expect(await status()).toBe('active');
  });
});

describe('a worktree of run', () => {
  test('is assessed by its base, and goes with discard after a snapshot', async () => {
    const scene = new Scene();
    createHistory(scene.mount);
    const untouched = remember(scene.mount);
    await scene.run(['run', '--worktree', '--', 'sh', '-c', 'echo new > new.txt'], { instance: 'w' });
    const first = await scene.json(['assess', 'w', '--files'], { instance: null });
    expect(first.data.mounts[0]).toMatchObject({
      verdict: 'dirty',
      isolation: 'worktree',
      files: [{ path: 'new.txt', status: '??' }],
    });
    const names = first.data.at_risk.map(({ name }: { name: string }) => name) as string[];
    await scene.json(['discard', 'w', '--yes'], { code: 5, instance: null });
    const path = first.data.mounts[0].path as string;
    expect(existsSync(path)).toBe(true);
    const words = names.flatMap((name) => ['--acknowledge', name]);
    const { data } = await scene.json(['discard', 'w', '--yes', ...words], { instance: null });
    expect(data.worktree).toMatchObject({ name: 'w' });
    expect(existsSync(path)).toBe(false);
    expect(await scene.content('latest', 'new.txt', { instance: 'w' })).toBe('new\n');
    expectSame(untouched);
  });
});

describe("a session of jackin's", () => {
  test("has its own policy, base and container, and nothing of jackin's is touched", async () => {
    const scene = new Scene();
    const jackin = new FakeJackin(scene.area);
    const shop = join(scene.area, 'shop');
    createHistory(shop);
    jackin.workspace('shop', `dirty_exit_policy = "keep"\n[[mounts]]\nsrc = "${shop}"\ndst = "/workspace"\n`);
    const container = jackin.session();
    const run = (args: readonly string[], code = 0) =>
      scene.json(args, { env: jackin.env, instance: null, cwd: scene.outside, code });
    await scene.json(['save'], { env: jackin.env, instance: container, cwd: scene.outside });
    const untouched = [rememberUntouched(shop), rememberUntouched(join(jackin.env['JACKIN_HOME_DIR'] ?? '', 'data'))];
    const { data } = await run(['assess', container]);
    expect(data).toMatchObject({ verdict: 'unpushed', exit_policy: 'keep', mounts: [{ isolation: 'shared' }] });
    await run(['keep', container]);
    expect((await run(['resume', container])).data).toMatchObject({ container });
    for (const one of untouched) expectSame(one);
  });
});

test.skipIf(!hasPython)('discard asks on a terminal, in words, what is at risk, also with --yes', async () => {
  const scene = new Scene();
  createHistory(scene.mount);
  await scene.save();
  writeFiles(scene.mount, { 'shared.txt': 'dirty' });
  userGit(scene.mount, ['branch', '-D', 'other']);
  const command = [process.execPath, snapBin, '--data-dir', scene.dataDir, '-i', 't', 'discard', '--yes'];
  const options = { cwd: scene.outside, env: { PATH: process.env['PATH'] ?? '', HOME: scene.home, TERM: 'xterm' } };
  const no = await onTerminal(command, [{ after: 'at risk', type: 'n\r' }], options);
  expect(no.code).toBe(5);
  expect(no.shown).toMatch(/m: uncommitted changes/);
  expect(no.shown).toMatch(/m:main: no upstream/);
  expect((await scene.json(['instance', 'show'])).data.instance.state).toBe('open');
  const yes = await onTerminal(command, [{ after: 'at risk', type: 'y\r' }], options);
  expect(yes.code).toBe(0);
  expect((await scene.json(['instance', 'show'])).data.instance.status).toBe('discarded');
});
