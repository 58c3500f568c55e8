import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { snapBin } from '../support/cli.js';
import { Scene, expectSame, rememberUntouched } from './scene.js';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
}

describe('run', () => {
  test('passes on exit code, output, input and arguments, between two snapshots', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const ran = await scene.run(['run', '--', 'sh', '-c', 'echo out; echo err >&2; cat; printf 2 > a; exit 9'], {
      code: 9,
      stdin: 'typed\n',
    });
    expect(ran.stdout).toBe('out\ntyped\n');
    expect(ran.stderr).toMatch(/^err$/m);
    expect(ran.stderr).toMatch(/diff 2 3/);
    expect((await scene.list()).map(({ trigger }) => trigger as string)).toEqual(['post_step', 'run_start', 'manual']);
    expect([await scene.content(2, 'a'), await scene.content(3, 'a')]).toEqual(['1', '2']);
    await scene.restore(2);
    expect(scene.read('a')).toBe('1');
    const words = ['--yes', '-i', 'a b', '', '$(x)', '--', '--json'];
    const printed = await scene.run(['run', '--', 'printf', '%s|', ...words]);
    expect(printed.stdout).toBe(words.map((word) => `${word}|`).join(''));
    const document = await scene.json(['run', '--', 'sh', '-c', 'echo said; printf n > new; rm a']);
    expect(document.data).toMatchObject({ exit_code: 0, changes: { added: 1, modified: 0, deleted: 1 } });
    expect(document.stderr).toContain('said');
  });

  test('of what cannot be started, or dies, says so and leaves nobody active', async () => {
    const scene = new Scene();
    scene.write({ a: '1', 'no-program': 'text' });
    await scene.save();
    await scene.run(['run', '--', 'no-such-program-here'], { code: 127 });
    const unnamed = await scene.run(['run', '--', ''], { code: 127 });
    expect(unnamed.stderr).toContain('"" was not run: there is no such program.');
    expect(unnamed.stderr).not.toMatch(/bug|^ +at /m);
    await scene.run(['run', '--', scene.at('no-program')], { code: 126 });
    await scene.run(['run', '--', scene.mount], { code: 126 });
    await scene.run(['run', '--', 'sh', '-c', 'kill -TERM $$'], { code: 143 });
    await scene.run(['run', '--', 'sh', '-c', 'kill -KILL $$'], { code: 137 });
    for (const code of [1, 2, 6, 126, 127, 200]) await scene.run(['run', '--', 'sh', '-c', `exit ${code}`], { code });
    expect((await scene.json(['instance', 'show'])).data.instance.active).toBe(false);
    await scene.restore(1);
  });

  test('keeps restores out while it runs, and no longer when it ended or was killed', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const restore = `"$1" "$2" --data-dir "$3" -i t restore 1 --yes </dev/null >/dev/null 2>&1; echo $? > "$4/rc"`;
    const command = ['sh', '-c', `printf 5 > a; ${restore}; exit 7`, '_', process.execPath, snapBin, scene.dataDir];
    await scene.run(['run', '--', ...command, scene.outside], { code: 7 });
    expect([scene.read('a'), existsSync(join(scene.outside, 'rc'))]).toEqual(['5', true]);
    await scene.restore(1);

    const started = scene.start(['run', '--', 'sh', '-c', `: > '${scene.outside}/started'; exec sleep 300`]);
    await until(() => existsSync(join(scene.outside, 'started')));
    scene.write({ a: '6' });
    const untouched = rememberUntouched(scene.mount);
    const refused = await scene.json(['restore', '1', '--yes'], { code: 4 });
    expect(refused.document.error?.code).toBe('INSTANCE_ACTIVE');
    await scene.run(['run', '--', 'touch', 'ran'], { code: 4 });
    expectSame(untouched);
    expect((await scene.json(['instance', 'show'])).data.instance).toMatchObject({ active: true });
    process.kill(-started.child.pid!, 'SIGKILL');
    await started.done;
    await scene.restore(1);
    expect(scene.read('a')).toBe('1');
  });

  test('lets its command answer signals, and saves what it did', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const script = `trap 'printf caught > a; exit 5' TERM INT; : > '${scene.outside}/started'; while :; do sleep 0.05; done`;
    const started = scene.start(['run', '--', 'sh', '-c', script]);
    await until(() => existsSync(join(scene.outside, 'started')));
    process.kill(-started.child.pid!, 'SIGINT');
    const { code } = await started.done;
    expect(code).toBe(5);
    expect(await scene.content('latest', 'a')).toBe('caught');
    expect((await scene.list())[0].trigger).toBe('post_step');
  });
});

describe('an active instance', () => {
  test('is that of a living process, and of no other that has its number', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const owner = scene.start(['run', '--', 'sleep', '0'], { instance: 'other' });
    const pid = owner.child.pid!;
    await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
    await scene.restore(1, [], { code: 4 });
    await scene.run(['instance', 'deactivate']);
    await scene.run(['instance', 'deactivate']);
    await scene.restore(1);
    await owner.done;
    await scene.run(['instance', 'activate', '--pid', String(pid)], { code: 2 });
    await scene.run(['instance', 'activate', '--pid', '999999999'], { code: 2 });
    expect((await scene.json(['instance', 'show'])).data.instance).toMatchObject({ active: false, owner: null });
  });
});
