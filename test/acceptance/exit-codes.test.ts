import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { Scene, expectSame, rememberUntouched, said } from './scene.js';

async function saved(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ a: 'a' });
  await scene.save();
  scene.write({ a: 'b' });
  return scene;
}

/** Another process, for as long as the test. */
function bystander(): number {
  const child = spawn('sleep', ['300'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid!;
}

describe('a command that cannot do its work', () => {
  test.each([
    {
      code: 2,
      what: 'wrong usage',
      commands: [
        ['save', '--no-such-option'],
        ['no-such-command'],
        ['restore'],
        ['diff'],
        ['diff', '1', '1', '1'],
        ['diff', '1', '--ext-diff'],
        ['diff', '1', '--output=x'],
        ['log', '--textconv'],
        ['cat', '1'],
        ['cat'],
        ['save', '--max-file-size'],
        ['save', '--max-file-size', 'much'],
        ['save', '--max-file-size', '-1'],
        ['save', '--trigger', 'whenever'],
        ['save', '--meta', 'no-value'],
        ['save', '--meta', 'k=1', '--meta', 'k=2'],
        ['save', '--mount', 'm'],
        ['list', '--limit', '0'],
        ['list', '--since', 'yesteryear'],
        ['list', '--all', '--limit', '1'],
        ['restore', '1', '--to'],
        ['restore', '1', '--paths-from', '/no/such/list'],
        ['recover', '--yes'],
        ['instance', 'set'],
        ['instance', 'set', 'keep_last=0'],
        ['instance', 'set', 'keep_last=10001'],
        ['instance', 'set', 'keep_last=many'],
        ['instance', 'set', 'unknown=1'],
        ['instance', 'set', 'on_limit=cry'],
        ['instance', 'set', 'exclude'],
        ['instance', 'nothing'],
        ['instance', 'activate', '--pid', '0'],
        ['instance', 'activate', '--pid', 'x'],
        ['run'],
        ['tree', '1', 'a', 'b'],
        ['-i', 'UPPER case', 'save'],
        ['-i', '../t', 'list'],
        ['-i', '', 'list'],
        ['-i', 'a.lock', 'list'],
      ],
    },
    {
      code: 3,
      what: 'something that is not there',
      commands: [
        ['restore', '7', '--yes'],
        ['restore', 'latest~5', '--yes'],
        ['restore', '1', '--yes', '--mount', 'other'],
        ['restore', '1', '--yes', '--', 'no/such/path'],
        ['restore', '1', '--yes', '--', 'a/below'],
        ['show', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
        ['show', 'deadbeef'],
        ['show', 'refs/jackin/t/9'],
        ['cat', '1', 'nope'],
        ['cat', '1', '.'],
        ['tree', '1', 'nope'],
        ['diff', '1', '9'],
        ['diff', '9'],
        ['export', '9', 'x'],
        ['delete', '9', '--yes'],
        ['delete', '1', '9', '--yes'],
        ['pin', '9'],
        ['unpin', '9'],
        ['undo', '--yes'],
        ['recover', '--continue', '--yes'],
        ['-i', 'nobody-knows', 'list'],
        ['-i', 'nobody-knows', 'prune', '--yes'],
        ['-i', 'nobody-knows', 'instance', 'show'],
        ['-i', 'nobody-knows', 'log'],
      ],
    },
    {
      code: 5,
      what: 'what nobody agreed to',
      commands: [
        ['restore', '1'],
        ['delete', '1'],
        ['restore', '1', '--force'],
      ],
    },
  ])(
    'exits $code for $what, says so on stderr alone with what to type, and changes nothing',
    async ({ code, commands }) => {
      const scene = await saved();
      const untouched = rememberUntouched(scene.mount);
      for (const args of commands) {
        const own = args[0] === '-i' ? { instance: null } : {};
        const run = await scene.run(args, { code, ...own });
        expect(run.stdout === '' || code === 5, `${args.join(' ')} says nothing on stdout`).toBe(true);
        expect(run.stderr.trimEnd().split('\n').length, `${args.join(' ')}: ${run.stderr}`).toBeGreaterThan(1);
        if (code === 5) expect(run.stderr).toContain('--yes');
      }
      expectSame(untouched);
      expect(await scene.numbers()).toEqual([1]);
    },
  );

  test('exits 4 when a guard refuses, with the way out', async () => {
    const scene = await saved();
    const untouched = rememberUntouched(scene.mount);
    await scene.run(['instance', 'activate', '--pid', String(bystander())]);
    expect(said(await scene.run(['restore', '1', '--yes'], { code: 4 }))).toMatch(/deactivate[^]*--force/);
    expect(said(await scene.run(['instance', 'close'], { code: 4 }))).toMatch(/is active \([^]*deactivate/);
    await scene.run(['instance', 'deactivate']);
    const other = scene.folder('other');
    expect(said(await scene.run(['save', other], { code: 4 }))).toContain('instance show');
    expect(said(await scene.run(['save', scene.mount, other], { code: 4 }))).toContain('instance show');
    await scene.run(['export', '1', other, '--json']);
    expect(said(await scene.run(['export', '1', other], { code: 4 }))).toMatch(/nothing is yet/);
    await scene.run(['instance', 'close']);
    for (const args of [
      ['restore', '1', '--yes'],
      ['save'],
      ['undo', '--yes'],
      ['run', '--', 'true'],
      ['instance', 'activate'],
    ])
      await scene.run(args, { code: args[0] === 'undo' ? [3, 4] : 4 });
    for (const args of [
      ['list'],
      ['show', '1'],
      ['cat', '1', 'a'],
      ['diff', '1'],
      ['restore', '1', '--yes', '--to', join(scene.area, 'x')],
    ])
      await scene.run(args);
    expectSame(untouched);
  });

  test('exits 6 for a restore that could not put back everything', async () => {
    const scene = await saved();
    scene.remove('a');
    mkdirSync(scene.at('a'));
    scene.write({ 'a/.env': 'secret' });
    const run = await scene.run(['restore', '1', '--yes'], { code: 6 });
    expect(run.stderr).toMatch(/\ba\b/);
  });

  test('exits 7 for a damaged store', async () => {
    const scene = await saved();
    for (const name of readdirSync(join(scene.store, 'objects/pack'))) {
      if (name.endsWith('.pack')) rmSync(join(scene.store, 'objects/pack', name));
    }
    const untouched = rememberUntouched(scene.mount);
    for (const args of [
      ['restore', '1', '--yes'],
      ['verify'],
      ['verify', '--full'],
      ['cat', '1', 'a'],
      ['export', '1', join(scene.area, 'x')],
    ])
      expect((await scene.run(args, { code: [7] })).stderr, args.join(' ')).not.toMatch(/^\s+at /m);
    expectSame(untouched);
  });

  test('exits 8 when somebody else has the lock', async () => {
    const scene = await saved();
    const locks = join(scene.dataDir, 'locks');
    const lock = join(
      locks,
      readdirSync(locks).find((name) => name.startsWith('t'))!,
    );
    const holder = spawn('flock', [lock, 'sleep', '300']);
    onTestFinished(() => void holder.kill('SIGKILL'));
    while (spawnSync('flock', ['--nonblock', lock, 'true']).status === 0);
    const run = await scene.run(['save', '--json'], { code: 8 });
    expect(JSON.parse(run.stdout)).toMatchObject({ ok: false, error: { code: 'BUSY' } });
    await scene.run(['list']);
  });

  test('exits 9 when the data directory is not what it should be', async () => {
    const scene = await saved();
    chmodSync(scene.dataDir, 0o750);
    expect((await scene.run(['save'], { code: 9 })).stderr).toContain(`chmod 700 ${scene.dataDir}`);
    chmodSync(scene.dataDir, 0o700);
    rmSync(scene.dataDir, { recursive: true });
    writeFileSync(scene.dataDir, 'a file');
    for (const args of [['save', scene.mount], ['list'], ['doctor']]) await scene.run(args, { code: 9 });
  });

  test('exits 0 for help and versions, whatever else is said', async () => {
    const scene = new Scene();
    for (const args of [['--help'], ['save', '--help'], ['instance', '--help'], ['--version'], ['-V']])
      expect((await scene.run(args)).stdout).not.toBe('');
  });
});

describe('without git', () => {
  /** All programs but git's. */
  function pathWithout(scene: Scene): string {
    const bin = join(scene.area, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const directory of (process.env['PATH'] ?? '').split(delimiter).reverse()) {
      let names: string[] = [];
      try {
        names = readdirSync(directory);
      } catch {
        continue;
      }
      for (const name of names) {
        if (name.startsWith('git')) continue;
        rmSync(join(bin, name), { force: true });
        symlinkSync(join(directory, name), join(bin, name));
      }
    }
    return bin;
  }

  test('nothing is saved, listed, restored or counted, and git is named', async () => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    const env = { PATH: pathWithout(scene) };
    const failed = await scene.json(['save', scene.mount], { code: 9, env });
    expect(failed.document.error).toMatchObject({ code: 'GIT_MISSING' });
    expect(failed.document.error?.message).toMatch(/git/);
    const listed = await scene.json(['list'], { code: [0, 3] });
    expect(listed.document.data?.snapshots ?? []).toEqual([]);
    expect((await scene.json(['instance', 'list'])).data.instances).toEqual([]);
    await scene.save();
    scene.write({ a: 'b' });
    const untouched = rememberUntouched(scene.mount);
    for (const args of [
      ['restore', '1', '--yes'],
      ['save'],
      ['diff', '1'],
      ['run', '--', 'touch', 'ran'],
      ['undo', '--yes'],
      ['verify'],
    ])
      expect((await scene.run(args, { code: 9, env })).stderr, args.join(' ')).toMatch(/git/);
    expect((await scene.run(['doctor'], { code: [0, 1, 9], env })).stdout).toMatch(/git/);
    expectSame(untouched);
    expect(await scene.numbers()).toEqual([1]);
  });

  test('of this age, or with one that fails, nothing is saved either', async () => {
    const scene = new Scene();
    scene.write({ a: 'a' });
    const bin = pathWithout(scene);
    const git = join(bin, 'git');
    for (const [script, error] of [
      ['echo git version 1.8.3', 'GIT_TOO_OLD'],
      ['exit 1', /^GIT_/],
      ['echo nonsense', /^GIT_/],
    ] as const) {
      rmSync(git, { force: true });
      writeFileSync(git, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const failed = await scene.json(['save', scene.mount], { code: [1, 9], env: { PATH: bin } });
      expect(failed.document.error?.code).toMatch(error);
    }
    await scene.save();
    expect(await scene.numbers()).toEqual([1]);
    expect(storeGit(scene.dataDir, ['fsck', '--strict']).code).toBe(0);
  });
});
