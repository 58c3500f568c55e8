import { describe, expect, test } from 'vitest';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { hasPython, onTerminal, type TypedStep } from '../support/terminal.js';
import { Scene } from './scene.js';

async function typing(
  scene: Scene,
  args: readonly string[],
  steps: readonly TypedStep[],
): Promise<{ shown: string; code: number | null }> {
  const command = [process.execPath, snapBin, '--data-dir', scene.dataDir, '-i', 't', ...args];
  return onTerminal(command, steps, surroundings(scene));
}

function surroundings(scene: Scene) {
  return { cwd: scene.mount, env: { ...snapEnvironment(scene.home), TERM: 'xterm', PS1: 'shell> ' } };
}

describe.skipIf(!hasPython)('run, on a terminal', () => {
  test('lets the command have the terminal, and each Ctrl-C once', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const script = `
      trap 'count=$((count+1)); printf "%s" $count > a' INT
      test -t 0 && test -t 1 && test -t 2 && echo READY
      read line || read line; echo "got $line"; read line || read line; exit 5`;
    const { code, shown } = await typing(
      scene,
      ['run', '--', 'bash', '-c', script],
      [
        { after: 'READY', type: '\x03' },
        { after: '^C', type: 'word\n' },
        { after: 'got word', type: '\x03' },
        { after: '^C', type: 'end\n' },
      ],
    );
    expect({ code, shown }).toMatchObject({ code: 5, shown: expect.stringContaining('got word') as string });
    expect(await scene.content('latest', 'a')).toBe('2');
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual(['post_step', 'run_start']);
  });

  test('ends as the command that Ctrl-C ended, after a snapshot', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const script = 'printf 2 > a; echo READY; exec sleep 300';
    const { code } = await typing(scene, ['run', '--', 'sh', '-c', script], [{ after: 'READY', type: '\x03' }]);
    expect(code).toBe(130);
    expect(await scene.content('latest', 'a')).toBe('2');
  });

  test('asks what becomes of a worktree', async () => {
    const scene = new Scene();
    scene.repository({ a: '1', '.gitignore': '*.log\n' });
    const run = (answer: string) =>
      onTerminal(
        [
          process.execPath,
          snapBin,
          '--data-dir',
          scene.dataDir,
          'run',
          '--worktree',
          '--keep',
          'ask',
          '--',
          'touch',
          'x.log',
        ],
        [{ after: 'and to go with the worktree: x.log.' }, { after: 'Remove the worktree', type: answer }],
        surroundings(scene),
      );
    expect((await run('n\n')).shown).toContain('Kept: worktree');
    expect((await run('y\n')).shown).toContain('Removed: worktree');
    expect((await scene.json(['run', 'list'], { instance: null })).data.worktrees).toHaveLength(1);
  });

  test.each([
    { keep: ['--keep', 'ask'], question: 'Remove the worktree', answer: 'y\n', said: 'Removed: worktree' },
    { keep: ['--keep', 'ask'], question: 'Remove the worktree', answer: '\x03', said: 'Kept: worktree' },
    { keep: [], question: 'although this is at risk', answer: 'n\n', said: 'Kept: worktree' },
    { keep: [], question: 'although this is at risk', answer: 'y\n', said: 'Removed: worktree' },
  ])(
    'asks also after Ctrl-C ended the command, and ends: $question, $said',
    async ({ keep, question, answer, said }) => {
      const scene = new Scene();
      scene.repository({ a: '1' });
      const script = 'echo n > n; echo READY; exec sleep 300';
      const command = ['run', '--worktree', ...keep, '--', 'sh', '-c', script];
      const { code, shown } = await onTerminal(
        [process.execPath, snapBin, '--data-dir', scene.dataDir, ...command],
        [
          { after: 'READY', type: '\x03' },
          { after: question, type: answer },
        ],
        surroundings(scene),
      );
      expect({ code, shown }).toMatchObject({ code: 130, shown: expect.stringContaining(said) as string });
    },
  );
});

test('a signal to it alone is passed on, and it ends as its command', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGUSR1', 138],
    ['SIGUSR2', 140],
  ] as const) {
    const started = scene.start(['run', '--', 'sh', '-c', 'printf 2 > a; echo READY; exec sleep 300']);
    await new Promise((ready) => started.child.stdout!.once('data', ready));
    process.kill(started.child.pid!, signal);
    expect((await started.done).code, signal).toBe(code);
  }
  expect((await scene.list())[0].trigger).toBe('post_step');
});
