import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { hasPython, onTerminal, type TypedStep } from '../support/terminal.js';
import { Scene } from './scene.js';

/**
 * A shell with job control on a terminal of its own. `$RUN` runs the script by `run`; the screen shows what is typed, so
 * that a step waits for something that only its answer holds. What is typed to the shell before its prompt may be lost.
 */
async function inShell(
  scene: Scene,
  script: string,
  steps: readonly TypedStep[],
): Promise<{ shown: string; code: number | null }> {
  const file = join(scene.outside, 'script');
  writeFileSync(file, script);
  const env = {
    ...snapEnvironment(scene.home),
    TERM: 'dumb',
    OUT: scene.outside,
    RUN: [process.execPath, snapBin, '--data-dir', scene.dataDir, '-i', 't', 'run', '--', 'bash', file].join(' '),
  };
  return onTerminal(shell, [{ after: 'shell> ', type: '$RUN\n' }, ...steps], {
    cwd: scene.mount,
    env,
  });
}

// The prompt is set last: a script on the way to the shell would take it away.
const shell = ['env', 'PS1=shell> ', 'bash', '--norc', '--noprofile', '-i'];

const leave: TypedStep = { after: 'shell> ', type: 'echo code:$?; exit\n' };

describe.skipIf(!hasPython)('run, as a job of a shell', () => {
  test('is stopped by Ctrl-Z with its command, gives the terminal back, and goes on with fg', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const { shown } = await inShell(
      scene,
      // What is typed before it goes on may be lost: the beat tells that it does. It is not a time limit of `read`,
      // whose alarm bash may get before it waits, and then waits for ever.
      'echo $$ > "$OUT/pid"; while sleep 0.2 && echo beat; do :; done & echo READY; read -r line; kill $!; echo "got $line"; printf %s "$line" > a; exit 5',
      [
        { after: 'READY', type: '\x1a' },
        { after: 'Stopped' },
        // The shell waits for `run` alone: a script that is not stopped yet would read what is typed.
        {
          after: 'shell> ',
          stopped: join(scene.outside, 'pid'),
          type: 'grep State "/proc/$(cat "$OUT/pid")/status"; echo shell:$((40 + 2))\n',
        },
        { after: 'shell:42' },
        { after: 'shell> ', type: 'fg\n' },
        { after: '$RUN' },
        { after: 'beat', type: 'word\n' },
        { after: 'got word' },
        leave,
      ],
    );
    expect(shown).toMatch(/State:\s+T \(stopped\)/);
    expect(shown).toContain('the command ended with 5; 0 paths added, 1 modified');
    expect(shown).toContain('code:5');
    expect(await scene.content('latest', 'a')).toBe('word');
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual(['post_step', 'run_start']);
    expect((await scene.json(['instance', 'show'])).data.instance).toMatchObject({ active: false });
  });

  test('is active while it is stopped, and goes on in the background with SIGCONT', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const restore = `${process.execPath} ${snapBin} --data-dir ${scene.dataDir} -i t restore 1 --yes`;
    const { shown } = await inShell(
      scene,
      'echo READY; until test -e "$OUT/go"; do sleep 0.05; done; printf 2 > a; exit 6',
      [
        { after: 'READY', type: '\x1a' },
        { after: 'Stopped' },
        { after: 'shell> ', type: `${restore} 2> "$OUT/refused"; echo refused:$?\n` },
        { after: 'refused:4' },
        { after: 'shell> ', type: ': > "$OUT/go"; kill -CONT %1; wait %1\n' },
        { after: 'the command ended with 6' },
        leave,
      ],
    );
    expect(shown).toContain('code:6');
    expect(readFileSync(join(scene.outside, 'refused'), 'utf8')).toContain('is active');
    expect(await scene.content('latest', 'a')).toBe('2');
  });

  test('passes on a new size of the window, and ends with Ctrl-C after its summary', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const { shown } = await inShell(
      scene,
      `trap 'echo "size:$(stty size)"' WINCH; printf 2 > a; echo READY; while :; do sleep 0.05; done`,
      [
        { after: 'READY', resize: { rows: 33, columns: 77 } },
        { after: 'size:33 77', type: '\x03' },
        { after: 'the command ended with 130; 0 paths added, 1 modified' },
        leave,
      ],
    );
    expect(shown).toContain('code:130');
    expect(await scene.content('latest', 'a')).toBe('2');
    expect((await scene.list())[0].trigger).toBe('post_step');
  });
});
