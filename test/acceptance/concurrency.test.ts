import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fsckStrict } from '../support/store-git.js';
import { Scene, expectSame, leftovers, remember } from './scene.js';

const busy = 8;

describe('commands at once', () => {
  test('saves of one instance each get their own number or say busy: no gap, nothing torn', async () => {
    const scene = new Scene();
    scene.write(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, `${at}\n`])));
    const starts = [1, 2, 3, 4].map((number) => scene.start(['save', '-m', `number ${number}`, scene.mount]).done);
    const codes = (await Promise.all(starts)).map(({ code }) => code);
    const good = codes.filter((code) => code === 0).length;
    expect(good).toBeGreaterThan(0);
    expect(codes.filter((code) => code !== 0 && code !== busy)).toEqual([]);
    const listed = await scene.list();
    expect(listed.map(({ seq }) => seq)).toEqual(Array.from({ length: good }, (_, at) => good - at));
    expect(new Set(listed.map(({ message }) => message)).size).toBe(good);
    await scene.run(['verify']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    expect(leftovers(scene.dataDir)).toEqual([]);
  });

  test('first saves of several instances make one store', async () => {
    const scene = new Scene();
    const folders = ['a', 'b', 'c', 'd'].map((name) => scene.folder(name, { f: `${name}\n` }));
    const starts = folders.map((folder, at) => scene.start(['save', folder], { instance: `i${at}` }).done);
    const runs = await Promise.all(starts);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(
      folders.map(() => [0, expect.any(String) as string]),
    );
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries())
      expect(await scene.content(1, 'f', { instance: `i${at}` })).toBe(`${name}\n`);
    await scene.run(['verify', '--full']);
  });

  test('saves, restores, prunes and readers lose nothing and tear nothing', async () => {
    const scene = new Scene();
    scene.write(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`d${at % 5}/f${at}`, `${at}\n`])));
    const before = remember(scene.mount);
    await scene.save();
    const other = scene.folder('other', { f: '1\n' });
    await scene.save([], { instance: 'other', dirs: [other] });
    scene.write({ 'd1/f1': 'changed\n', new: 'n\n' });
    const commands: (readonly [readonly string[], string])[] = [
      [['save', '-m', 'beside'], 't'],
      [['restore', '1', '--yes'], 't'],
      [['save'], 'other'],
      [['prune', '--yes'], 't'],
      [['gc'], 'other'],
      [['list'], 't'],
      [['restore', 'first', '--yes'], 't'],
    ];
    const runs = await Promise.all(commands.map(([args, instance]) => scene.start(args, { instance }).done));
    for (const [at, { code, stderr }] of runs.entries())
      expect([0, busy, 6], `${commands[at]?.[0].join(' ')}: ${stderr}`).toContain(code);
    await scene.run(['verify', '--full']);
    expect(fsckStrict(scene.dataDir)).toEqual([]);
    await scene.restore(1);
    expectSame(before);
    const numbers = await scene.numbers();
    expect(numbers.at(-1)).toBe(1);
    expect(numbers[0]).toBe(numbers.length);
  });

  test('a file that is written all the time is named as such or stored as it was at one moment', async () => {
    const scene = new Scene();
    scene.write({ log: 'line\n'.repeat(100_000), steady: 's\n' });
    const program = `const fs=require('fs');for(;;)fs.appendFileSync('log','line\\n')`;
    const writer = spawn(process.execPath, ['-e', program], { cwd: scene.mount });
    onTestFinished(() => void writer.kill('SIGKILL'));
    await until(() => lstatSync(scene.at('log')).size > 500_100);
    const saved = await scene.save([], { code: [0, 6] });
    writer.kill('SIGKILL');
    expect(await scene.content(1, 'steady')).toBe('s\n');
    if (saved.code === 6) {
      expect(saved.data.observed_only).toEqual([expect.objectContaining({ path: 'log', reason: 'unstable' })]);
    } else {
      expect(await scene.content(1, 'log')).toMatch(/^(line\n)+$/);
    }
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}
