import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { failingGit } from './failing-git.js';
import { interrupted } from './killed-restore.js';
import { Scene, said } from './scene.js';

// What fails after something was done hides neither that it was done nor what was not.

describe('what was done is told although something fails after it', () => {
  test('snapshots that are deleted, where their space cannot be freed', async () => {
    const scene = new Scene();
    for (const content of ['1', '2', '3']) {
      scene.write({ a: content });
      await scene.save();
    }
    const env = failingGit(scene, '*pack-objects*', 'exit 1');
    const { data, document } = await scene.json(['delete', '2', '--yes'], { env });
    expect(data.removed).toMatchObject([{ seq: 2 }]);
    expect(data.kept).toMatchObject([{ seq: 1 }, { seq: 3 }]);
    expect(document.messages.join(' ')).toContain(
      'The space was not freed; "gc" does it later. git pack-objects failed',
    );
    expect(await scene.numbers()).toEqual([3, 1]);
    await scene.run(['gc']);
  });

  test('the exit code of a command, where the mark of its run cannot be taken away', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const mark = join(scene.dataDir, 'instances/t/activity.json');
    const script = `rm '${mark}'; mkdir '${mark}'; echo 2 > a; exit 3`;
    const { data } = await scene.json(['run', '--', 'sh', '-c', script], { code: 3 });
    expect(data).toMatchObject({ exit_code: 3, before: { seq: 2 } });
    rmSync(mark, { recursive: true });
  });

  test('a restore that was finished first, where what comes after it is refused', async () => {
    const { scene } = await interrupted();
    for (let n = 0; n < 150; n += 1) scene.write({ [`later/${String(n)}`]: '' });
    const refused = said(await scene.run(['restore', '1', '--yes'], { code: 5 }));
    expect(refused).toMatch(
      /The restore that was interrupted was finished first; the state before it is snapshot 3\. Then: /,
    );
    expect([scene.read('b'), scene.has('later/0')]).toEqual(['1', true]);
  });
});

test('lost snapshots that could not be looked for are looked for the next time', async () => {
  const scene = new Scene();
  for (const content of ['1', '2']) {
    scene.write({ a: content });
    await scene.save();
  }
  await scene.run(['gc']);
  const file = join(scene.store, 'packed-refs');
  const [header] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, `${header ?? ''}\n`);
  for (const act of ['kill -9 $$', 'kill -TERM $PPID; sleep 1']) {
    const env = failingGit(scene, '*--batch-command*', act);
    await scene.run(['doctor', '--fix'], { env, code: [1, 7, 8, 9, 143] });
    expect(await scene.numbers({ code: [0, 7] }), act).toEqual([]);
  }
  await scene.run(['doctor', '--fix'], { code: [0, 6] });
  expect(await scene.numbers()).toEqual([2, 1]);
});

test('a folder that cannot be entered any more is no reason to keep back what the command returned', async () => {
  const scene = new Scene();
  scene.write({ a: '1' });
  await scene.save();
  mkdirSync(join(scene.outside, 'x'));
  const { data } = await scene.json(
    ['run', '--', 'sh', '-c', `cd /; rm -r '${scene.mount}'; ln -s loop '${scene.mount}'; exit 4`],
    {
      code: 4,
    },
  );
  expect(data).toMatchObject({ exit_code: 4, before: { seq: 2 } });
});
