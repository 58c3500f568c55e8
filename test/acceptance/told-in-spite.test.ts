import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    const told = said(await scene.run(['delete', '2', '--yes'], { env, code: 1 }));
    expect(told).toContain('Removed from t: 2. Then: git pack-objects failed');
    expect(await scene.numbers()).toEqual([3, 1]);
    await scene.run(['gc']);
  });

  test('snapshots that went by the policy, where those that the ceiling takes cannot go', async () => {
    const scene = new Scene();
    for (const byte of [1, 2, 3, 4, 5, 6]) {
      writeFileSync(scene.at('a'), Buffer.concat([randomBytes(300_000), Buffer.from([byte])]));
      await scene.save();
    }
    await scene.run(['instance', 'set', 'keep_last=4', 'max_store_bytes=800000', 'auto_prune=false']);
    const count = join(scene.outside, 'count');
    // The second transaction of refs, and all after it.
    const act = `echo x >> '${count}'; [ "$(wc -l < '${count}')" -lt 2 ] || exit 1`;
    const env = failingGit(scene, '*update-ref*', act);
    const told = said(await scene.run(['prune', '--yes'], { env, code: 1 }));
    expect(told).toContain('Removed from t: 2. Then: git update-ref failed');
    expect(await scene.numbers()).toEqual([6, 5, 4, 3, 1]);
  });

  test('the exit code of a command, where the mark of its run cannot be taken away', async () => {
    const scene = new Scene();
    scene.write({ a: '1' });
    await scene.save();
    const mark = join(scene.dataDir, 'instances/t/activity.json');
    const script = `rm '${mark}'; mkdir '${mark}'; echo 2 > a; exit 3`;
    const { data, document } = await scene.json(['run', '--', 'sh', '-c', script], { code: 3 });
    expect(data).toMatchObject({ exit_code: 3, before: { seq: 2 } });
    expect(document.messages.join(' ')).toContain('its mark cannot be removed');
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
  for (const { act, code } of [
    { act: 'kill -9 $$', code: 1 },
    { act: 'kill -TERM $PPID; sleep 1', code: 143 },
  ]) {
    await scene.run(['doctor', '--fix'], { env: failingGit(scene, '*--batch-command*', act), code });
    expect(await scene.numbers({ code: [0, 7] }), act).toEqual([]);
  }
  await scene.run(['doctor', '--fix'], { code: [0, 6] });
  expect(await scene.numbers()).toEqual([2, 1]);
});
