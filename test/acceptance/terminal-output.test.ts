import { spawnSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildTree, makeFifo } from '../support/build-tree.js';
import { snapBin, snapEnvironment } from '../support/cli.js';
import type { ProcessRun } from '../support/run-process.js';
import { startProcess } from '../support/run-process.js';
import { file } from '../support/tree-plan.js';
import { userGit } from '../support/user-git.js';
import { bareRepository } from './remote-scene.js';
import { Scene } from './scene.js';

const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null'], { input: '' }).status === 0;

/** Escapes that a name must not send: a title, a bell, a colour, a C1 control, a carriage return. */
const evil = 'x\x1b]0;PWNED\x07\x1b[31mRED\x9b1m\rBACK';
const raw = ['\x1b]0;', '\x07', '\x1b[31mRED', '\x9b1m', '\rBACK'];

/** The program on a terminal of its own; both its streams as bytes, carried as latin1. */
async function onTerminal(scene: Scene, args: readonly string[], typed = ''): Promise<ProcessRun & { shown: string }> {
  const words = [process.execPath, snapBin, '--data-dir', scene.dataDir, '-i', 't', ...args];
  const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const run = await startProcess('script', ['-qec', command, '/dev/null'], {
    cwd: scene.mount,
    env: { ...snapEnvironment(scene.home), TERM: 'xterm', SHELL: '/bin/sh', PAGER: 'cat' },
    stdin: typed,
    timeout: 60_000,
  }).done;
  return { ...run, shown: run.stdoutBytes.toString('latin1') };
}

function expectClean(shown: string, what: string): void {
  expect(shown.length, `${what} says something`).toBeGreaterThan(0);
  for (const escape of raw) expect(shown.includes(escape), `${what} sends ${JSON.stringify(escape)}`).toBe(false);
}

describe.skipIf(!hasTerminals)('a name with terminal escapes reaches no terminal raw', () => {
  async function hostile(): Promise<Scene> {
    const scene = new Scene();
    await buildTree(scene.mount, [
      file(evil, '1'),
      file(`${evil}.o`, 'o'),
      file(`d${evil}/f`, 'f'),
      file(`${evil}.pem`, 's'),
      file('plain', '1'),
      file('.gitignore', '*.o\n'),
    ]);
    symlinkSync(Buffer.from(evil, 'latin1'), scene.at('link'));
    makeFifo(scene.at('pipe'));
    await scene.save(['--source-tool', 'tool']);
    await buildTree(scene.mount, [file(`new${evil}`, 'n')]);
    scene.write({ plain: '2' });
    rmSync(Buffer.from(scene.at(`d${evil}`), 'latin1'), { recursive: true });
    return scene;
  }

  test('in what commands list, compare and restore', async () => {
    const scene = await hostile();
    const commands = [
      ['save'],
      ['log'],
      ['log', '--stat'],
      ['log', '--oneline'],
      ['log', '--format=%s %B'],
      // From here on there is a message, too, that an agent wrote.
      ['save', '-m', evil, '--meta', `k=${evil}`],
      ['list'],
      ['list', '--all'],
      ['show', '1'],
      ['tree', '1'],
      ['diff', '1', '--name-status'],
      ['diff', '1', '--stat'],
      ['diff', '1', '2'],
      ['show', '3'],
      ['instance', 'show'],
      ['restore', '1', '--dry-run', '--verbose'],
      ['restore', '1', '--yes'],
      ['undo', '--yes'],
      ['verify'],
    ];
    for (const args of commands) expectClean((await onTerminal(scene, args)).shown, args.join(' '));
  });

  test('in errors', async () => {
    const scene = await hostile();
    const commands = [
      ['cat', '1', evil.slice(0, 20) + 'nope'],
      ['restore', '1', '--', `nope${evil}`],
      ['show', evil],
      ['-i', evil, 'list'],
      [evil],
      ['save', `--${evil}`],
      ['instance', 'set', `${evil}=1`],
      ['instance', 'set', `keep_last=${evil}`],
      ['save', join(scene.outside, evil)],
      ['run', '--', `no-${evil}`],
      ['export', '1', join(scene.outside, evil, 'x')],
      ['list', '--since', evil],
      ['save', '--max-file-size', evil],
    ];
    for (const args of commands) {
      const { shown, code } = await onTerminal(scene, args);
      expect(code, args.join(' ')).not.toBe(0);
      expectClean(shown, args.join(' '));
    }
  });

  test('in the folder, its branch, and the question before a restore', async () => {
    const scene = new Scene();
    const folder = scene.folder('w/evil\x1b]0;PWNED\x07\x1b[31mRED', { f: '1' });
    userGit(folder, ['init', '--quiet', '--initial-branch=main']);
    await scene.save([], { dirs: [folder] });
    scene.folder('w/evil\x1b]0;PWNED\x07\x1b[31mRED', { f: '2' });
    for (const args of [
      ['list', '--all'],
      ['show', '1'],
      ['instance', 'show'],
      ['restore', '1', '--dry-run'],
    ])
      expectClean((await onTerminal(scene, args)).shown, args.join(' '));
    const asked = await onTerminal(scene, ['restore', '1'], 'n\n');
    expectClean(asked.shown, 'the question');
  });
});

test('off a terminal there is no colour, no progress, and in documents every name is whole', async () => {
  const scene = new Scene();
  scene.write({ [`a\x1b[31m`]: '1', 'b\nc': '1' });
  await scene.save();
  const remote = bareRepository(join(scene.area, 'remote.git'));
  for (const args of [
    ['save'],
    ['list'],
    ['tree', '1'],
    ['show', '1'],
    ['diff', '1', '2', '--stat'],
    ['push', remote],
    ['doctor'],
  ]) {
    const run = await scene.run(args);
    expect(run.stdout + run.stderr, args.join(' ')).not.toContain('\x1b');
    expect((await scene.run([...args, '--json'])).stderr, args.join(' ')).toBe('');
  }
  const { data } = await scene.json(['tree', '1']);
  expect(data.entries.map(({ path }: { path: string }) => path)).toEqual(['a\x1b[31m', 'b\nc']);
});
