import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { hasPython, onTerminal, type TypedStep } from '../support/terminal.js';
import { Scene } from './scene.js';
import { inTree, none, sample, worktrees } from './worktree-scene.js';

/** A repository whose folder has an instance with this exit policy. */
async function withPolicy(policy: 'ask' | 'keep' | 'discard'): Promise<Scene> {
  const scene = sample();
  await scene.run(['save'], none);
  await scene.run(['instance', 'set', `exit_policy=${policy}`], none);
  return scene;
}

async function statusOf(scene: Scene, instance: string): Promise<string> {
  return (await scene.json(['instance', 'show'], { instance })).data.instance.status as string;
}

describe('a run in a worktree, by the exit policy of the folder', () => {
  test('keep: it is kept however the command ends, clean or not, and is gone on with', async () => {
    const scene = await withPolicy('keep');
    const { data } = await inTree(scene, 'exit 3', [], 3);
    expect(data).toMatchObject({ exit_decision: 'keep', worktree: { kept: true, unsaved: [] } });
    expect(await statusOf(scene, data.instance)).toBe('kept');
    const said = await scene.run(['run', '--worktree', '--', 'touch', 'new'], none);
    const [resume] = /jackin-snap .*resume \S+$/m.exec(said.stderr) ?? [''];
    const resumed = await scene.json(['resume', resume.split(' ').at(-1) ?? ''], none);
    expect(resumed.data).toMatchObject({ kept: { note: null }, mounts: [{ state: 'as_saved' }] });
  });

  test('discard: what is clean goes and is closed, also where the command returned 0', async () => {
    const scene = await withPolicy('discard');
    const { data } = await inTree(scene, 'true');
    expect(data).toMatchObject({ exit_decision: 'discard', worktree: { kept: false, branch_stays: false } });
    expect(existsSync(data.worktree.path)).toBe(false);
    expect(await statusOf(scene, data.instance)).toBe('discarded');
    expect(await worktrees(scene)).toEqual([]);
  });

  test.each([
    { what: 'dirty', script: 'echo n > new.txt', atRisk: /^[^:]+$/ },
    {
      what: 'unpushed',
      script: 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m own',
      atRisk: /:jackin-snap\/.+$/,
    },
  ])(
    'discard: what is $what stays off a terminal, and the command that names it is said',
    async ({ script, atRisk }) => {
      const scene = await withPolicy('discard');
      const { data, document } = await inTree(scene, `${script}; exit 3`, [], 3);
      expect(data).toMatchObject({ exit_code: 3, exit_decision: null, worktree: { kept: true } });
      const [name = ''] = data.worktree.unacknowledged as string[];
      expect(name).toMatch(atRisk);
      const said = (document.messages as string[]).find((message) => message.startsWith('If all of')) ?? '';
      expect(said).toContain(`discard ${data.instance as string} --yes --acknowledge ${name}`);
      const words = said.replace(/^.* discard /, 'discard ').split(' ');
      await scene.run(words, none);
      expect(existsSync(data.worktree.path)).toBe(false);
      expect(await statusOf(scene, data.instance)).toBe('discarded');
    },
  );

  test('discard: what no snapshot holds stays under the guards of a removal', async () => {
    const scene = await withPolicy('discard');
    const { data } = await inTree(scene, 'echo s > .env');
    expect(data).toMatchObject({ exit_decision: null, worktree: { kept: true, unacknowledged: [] } });
    expect(data.worktree.unsaved.join()).toContain('.env');
  });

  test('--keep comes before it', async () => {
    const scene = await withPolicy('discard');
    expect((await inTree(scene, 'true', ['--keep', 'keep'])).data).toMatchObject({
      exit_decision: null,
      worktree: { kept: true },
    });
    await scene.run(['instance', 'set', 'exit_policy=keep'], none);
    expect((await inTree(scene, 'true', ['--keep', 'discard'])).data.worktree.kept).toBe(false);
  });

  test('ask: off a terminal it goes by how the command ended', async () => {
    const scene = await withPolicy('ask');
    expect((await inTree(scene, 'echo n > n')).data.worktree.kept).toBe(true);
    expect((await inTree(scene, 'echo n > n; exit 2', [], 2)).data.worktree.kept).toBe(false);
  });
});

describe('a run in the own folder', () => {
  test('keep: that the work stays is noted, and a note that was there is left alone', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'set', 'exit_policy=keep']);
    const { data } = await scene.json(['run', '--', 'sh', '-c', 'printf 2 > a; exit 4'], { code: 4 });
    expect(data.exit_decision).toBe('keep');
    expect(await statusOf(scene, 't')).toBe('kept');
    await scene.run(['keep', 't', '-m', 'tests are missing']);
    const again = await scene.run(['run', '--', 'true']);
    expect(again.stderr).toMatch(/Go on with it: .*resume t$/m);
    expect((await scene.json(['resume', 't'])).data.kept).toMatchObject({ note: 'tests are missing' });
  });

  test.each(['ask', 'discard'])('%s: it stays as it is, and open', async (policy) => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'set', `exit_policy=${policy}`]);
    const { data } = await scene.json(['run', '--', 'sh', '-c', 'printf 2 > a']);
    expect(data.exit_decision).toBeNull();
    expect([scene.read('a'), await statusOf(scene, 't')]).toEqual(['2', 'open']);
  });
});

describe.skipIf(!hasPython)('on a terminal', () => {
  const inTerminal = (scene: Scene, script: string, steps: readonly TypedStep[]) =>
    onTerminal(
      [process.execPath, snapBin, '--data-dir', scene.dataDir, 'run', '--worktree', '--', 'sh', '-c', script],
      steps,
      { cwd: scene.mount, env: { ...snapEnvironment(scene.home), TERM: 'xterm' } },
    );

  test.each([
    { policy: 'discard', script: 'echo n > new.txt', code: 0 },
    { policy: 'ask', script: 'echo n > new.txt; exit 3', code: 3 },
  ] as const)('$policy: what is dirty is listed and asked about', async ({ policy, script, code }) => {
    const scene = await withPolicy(policy);
    const no = await inTerminal(scene, script, [{ after: 'although this is at risk', type: 'n\n' }]);
    expect(no).toMatchObject({ code, shown: expect.stringMatching(/Dirty or unpushed in .*[^]*Kept: worktree/) });
    const yes = await inTerminal(scene, script, [{ after: 'although this is at risk', type: 'y\n' }]);
    expect(yes).toMatchObject({ code, shown: expect.stringContaining('Removed: worktree') });
    const interrupted = await inTerminal(scene, script, [{ after: 'although this is at risk', type: '\x03' }]);
    expect(interrupted).toMatchObject({ code, shown: expect.stringContaining('Kept: worktree') });
    expect(await worktrees(scene)).toHaveLength(2);
  });

  test.each(['discard', 'ask'] as const)('%s: what is clean is not asked about', async (policy) => {
    const scene = await withPolicy(policy);
    expect((await inTerminal(scene, 'exit 3', [])).shown).toContain('Removed: worktree');
    expect(await worktrees(scene)).toEqual([]);
  });
});
