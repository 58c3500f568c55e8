import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapBin } from '../support/cli.js';
import { Scene } from './scene.js';

describe('the summary of run', () => {
  test('has files and lines, new executables, and what runs by itself, in a snapshot or not', async () => {
    const scene = new Scene();
    scene.repository({
      'plan.txt': 'a\nb\n',
      old: 'x\n',
      'package.json': '{"scripts":{"test":"a"}}\n',
      '.gitignore': '.envrc\n',
    });
    const script = [
      'printf "a\\nc\\nd\\n" > plan.txt; rm old',
      'printf "#!/bin/sh\\n" > go; chmod +x go',
      'mkdir -p .github/workflows .vscode; echo x > .github/workflows/ci.yml; echo {} > .vscode/tasks.json',
      'echo "{\\"scripts\\":{\\"test\\":\\"b\\"}}" > package.json',
      'echo x > .envrc; echo x > .git/hooks/pre-commit; git config core.hooksPath x; git config branch.main.remote x',
    ].join('\n');
    const { data } = await scene.json(['run', '--', 'sh', '-c', script]);
    expect(data.changes).toMatchObject({ added: 3, modified: 2, deleted: 1, lines_added: 6, lines_removed: 3 });
    expect(data.changes.new_executables).toEqual([{ mount: 'm', path: 'go' }]);
    const running = data.changes.self_running as { path: string; kind: string; change: string; stored: boolean }[];
    expect(
      running.map(({ path, kind, change, stored }) => `${change} ${kind} ${path}${stored ? '' : ' unstored'}`),
    ).toEqual([
      'added ci .github/workflows/ci.yml',
      'added editor .vscode/tasks.json',
      'modified package_script package.json',
      'added shell .envrc unstored',
      'modified git_config .git/config unstored',
      'added git_hook .git/hooks/pre-commit unstored',
    ]);
    expect(data.commands.diff).toMatch(/diff 1 2$/);
    expect(data.commands.restore).toMatch(/restore 1$/);
    const again = await scene.json([
      'run',
      '--',
      'sh',
      '-c',
      'echo "{\\"scripts\\":{\\"test\\":\\"b\\"},\\"a\\":1}" > package.json',
    ]);
    expect(again.data.changes).toMatchObject({ modified: 1, self_running: [] });
  });

  test('shows the same as text, on stderr, and nothing with --quiet', async () => {
    const scene = new Scene();
    scene.write({ 'plan.txt': 'a\n' });
    const { stderr, stdout } = await scene.run(['run', '--', 'sh', '-c', 'echo b >> plan.txt; echo x > Makefile']);
    expect(stdout).toBe('');
    expect(stderr).toContain('the command ended with 0; 1 path added, 1 modified, 0 deleted, +2 -0 lines.');
    expect(stderr).toMatch(/^ {2}A {2}Makefile {2}\+1$/m);
    expect(stderr).toMatch(/^ {4}A {2}Makefile {2}build$/m);
    expect((await scene.run(['run', '--quiet', '--', 'touch', 'x'])).stderr).toBe('');
  });

  test('does not take for deleted what a rule hides since then', async () => {
    const scene = new Scene();
    scene.write({ 'src/a': 'a\n', 'src/Makefile': 'all:\n', gone: 'x\n' });
    const script = 'echo src/ > .gitignore; echo evil >> src/a; echo evil >> src/Makefile; rm gone';
    const { data } = await scene.json(['run', '--', 'sh', '-c', script]);
    expect(data.changes).toMatchObject({ added: 1, modified: 0, deleted: 1, lines_added: 1, lines_removed: 1 });
    expect((data.changes.files as { path: string }[]).map(({ path }) => path)).toEqual(['.gitignore', 'gone']);
    expect(data.changes.no_longer_stored).toEqual([
      { mount: 'm', path: 'src/Makefile', reason: 'ignored', self_running: 'build' },
      { mount: 'm', path: 'src/a', reason: 'ignored', self_running: null },
    ]);
  });

  test('names what everything hidden by one rule was, with the way to the rule and back', async () => {
    const scene = new Scene();
    scene.write({ a: 'a\n', Makefile: 'all:\n' });
    const hide = ['run', '--', 'sh', '-c', 'echo "*" > .gitignore; echo evil >> Makefile'];
    const { stderr } = await scene.run(hide);
    expect(stderr).toContain('0 paths added, 0 modified, 0 deleted, 2 no longer stored.');
    expect(stderr).toMatch(/No longer stored[^]*Makefile +ignored; runs by itself: build\n +a +ignored\n/);
    expect(stderr).not.toMatch(/^ {2}D /m);
    expect(stderr).toMatch(/Take it back: +.*restore 1$/m);
    expect(stderr).toMatch(/Which rule: +.*explain Makefile$/m);
    expect((await scene.run(['explain', 'Makefile'])).stdout).toContain('.gitignore');
    await scene.restore(1);
    expect(scene.read('Makefile')).toBe('all:\n');
  });
});

describe('when the snapshot before the command fails', () => {
  test('the command is not started', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'close']);
    const ran = await scene.run(['run', '--', 'touch', 'ran'], { code: 4 });
    expect(ran.stderr).toContain('The command was not started');
    expect(scene.has('ran')).toBe(false);
  });

  test('it is run all the same with --on-save-failure warn, which is said', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'close']);
    const ran = await scene.run(['run', '--on-save-failure', 'warn', '--', 'sh', '-c', 'touch ran; exit 7'], {
      code: 7,
    });
    expect(ran.stderr).toContain('warning: No snapshot was made before the command, which runs all the same');
    expect(ran.stderr).toContain('warning: The snapshot after the command could not be made');
    expect(scene.has('ran')).toBe(true);
    const { data, document } = await scene.json(['run', '--on-save-failure', 'warn', '--', 'true']);
    expect(data).toMatchObject({ before: null, after: null, changes: null, complete: false });
    expect(document.messages.length).toBeGreaterThan(1);
  });
});

describe('where the instance is to have', () => {
  test('no snapshots, the command runs without any, which is said once and before it', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'set', 'snapshot=off']);
    const ran = await scene.run(['run', '--', 'sh', '-c', 'echo STARTED >&2; printf 2 > a; exit 7'], { code: 7 });
    expect(ran.stderr).toBe(
      'warning: No snapshot is made before or after the command: instance t has snapshot=off.\n' +
        'STARTED\n' +
        'jackin-snap: the command ended with 7.\n',
    );
    const quiet = await scene.run(['run', '--quiet', '--on-save-failure', 'warn', '--', 'true']);
    expect(quiet.stderr).toMatch(/^warning: No snapshot is made[^\n]*\n$/);
    const { data, document } = await scene.json(['run', '--', 'true']);
    expect(data).toMatchObject({ snapshot_level: 'off', before: null, after: null, changes: null, complete: false });
    expect(data.commands).toEqual({ diff: null, restore: null });
    expect(document.messages).toEqual([expect.stringContaining('snapshot=off')]);
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual(['manual']);
    expect(scene.read('a')).toBe('2');
    await scene.run(['run', '--', 'no-such-program-here'], { code: 127 });
  });

  test('no snapshots, it is active all the same while the command runs', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'set', 'snapshot=off']);
    const restore = `"$1" "$2" --data-dir "$3" -i t restore 1 --yes </dev/null >/dev/null 2>&1; exit $?`;
    const command = ['sh', '-c', `printf 5 > a; ${restore}`, '_', process.execPath, snapBin, scene.dataDir];
    await scene.run(['run', '--', ...command], { code: 4 });
    expect(scene.read('a')).toBe('5');
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });

  test('no content of files in snapshots, that is said, and no way back is offered', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    await scene.run(['instance', 'set', 'snapshot=metadata']);
    const ran = await scene.run(['run', '--', 'sh', '-c', 'printf 2 > a; echo x > Makefile; exit 3'], { code: 3 });
    expect(ran.stderr).toContain('warning: Snapshots hold no content of files: instance t has snapshot=metadata.');
    expect(ran.stderr).toContain('jackin-snap: the command ended with 3; snapshots hold no files.\n');
    expect(ran.stderr).not.toMatch(/restore|diff|changed nothing/);
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual(['post_step', 'run_start', 'manual']);
    const { data } = await scene.json(['run', '--', 'true']);
    expect(data).toMatchObject({ snapshot_level: 'metadata', complete: true });
  });
});

test('a failing snapshot after the command hides nothing of its exit code', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  const script = `mv '${scene.store}' '${scene.store}.away'; echo x > '${scene.store}'; exit 9`;
  const ran = await scene.run(['run', '--', 'sh', '-c', script], { code: 9 });
  expect(ran.stderr).toContain('warning: The snapshot after the command could not be made');
});

describe('after a command that', () => {
  const cases: readonly (readonly [what: string, script: string])[] = [
    ['removed its folder', 'rm -rf "$PWD"'],
    ['made it anew', 'rm -rf "$PWD"; mkdir "$PWD"; echo new > "$PWD/b"'],
  ];

  test.each(cases)('%s, the way back that is offered leads elsewhere, and works', async (_, script) => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const { data, document } = await scene.json(['run', '--', 'sh', '-c', script]);
    const restore = data.commands.restore as string;
    expect(restore).toMatch(/-i t restore 1 --to DIR$/);
    expect(document.messages.join()).not.toContain('Try again');
    const back = join(scene.outside, 'back');
    await scene.run(['restore', '1', '--to', back, '--yes'], { cwd: scene.outside });
    expect(readFileSync(join(back, 'a'), 'utf8')).toBe('1');
  });

  test('removed its folder, what to type is said in the text, too', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    const { stderr } = await scene.run(['run', '--', 'sh', '-c', 'rm -rf "$PWD"; exit 4'], { code: 4 });
    expect(stderr).toMatch(/is gone/);
    expect(stderr).toMatch(/Take it back: +jackin-snap .*restore 1 --to DIR$/m);
    expect(stderr).not.toMatch(/Try again|See what it did/);
  });

  test('removed its worktree, that is so as well', async () => {
    const scene = new Scene();
    scene.repository({ a: '1' });
    const { data } = await scene.json(['run', '--worktree', '--', 'sh', '-c', 'rm -rf "$PWD"'], { instance: 'w' });
    expect(data.commands).toMatchObject({
      diff: null,
      restore: expect.stringMatching(/-i w restore 1 --to DIR$/) as string,
    });
  });

  test('had its instance closed, no save is suggested', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const record = join(scene.dataDir, 'instances/t/instance.json');
    const script = `sed -i 's/"state": *"open"/"state":"closed"/' '${record}'; echo 2 > a`;
    const { data, document } = await scene.json(['run', '--', 'sh', '-c', script]);
    expect(data).toMatchObject({
      after: null,
      commands: { restore: expect.stringMatching(/restore 2 --to DIR$/) as string },
    });
    expect(document.messages.join()).not.toContain('Try again');
  });
});

test('a partial snapshot is one: the command is run, and that it is partial is said', async () => {
  const scene = new Scene({ as: 'ordinary user' });
  scene.write({ a: '1' });
  scene.asUser(() => {
    mkdirSync(scene.at('shut'));
    writeFileSync(join(scene.mount, 'shut/x'), 'x');
    chmodSync(scene.at('shut'), 0);
  });
  const ran = await scene.run(['run', '--', 'sh', '-c', 'exit 3'], { code: 3 });
  expect(ran.stderr).toContain('is partial');
  expect((await scene.list()).length).toBe(2);
});
