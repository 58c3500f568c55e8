import { appendFileSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { Scene, expectSame, leftovers, rememberUntouched } from './scene.js';

const folders = 40;
const filesEach = 150;
const files = folders * filesEach;

test('a huge tree: saved in full, cheap the second time, nothing left by a cancelled save', async () => {
  const scene = new Scene();
  for (let folder = 0; folder < folders; folder++) {
    const all = Array.from({ length: filesEach }, (_, at) => [`${folder}/${at}`, `${folder} ${at}\n`]);
    scene.write(Object.fromEntries(all));
  }
  await new Promise((resolve) => setTimeout(resolve, 1100)); // Younger files are not trusted to be unchanged.
  const mount = rememberUntouched(scene.mount);
  const first = await scene.save();
  expect(first.data.complete).toBe(true);
  expect(first.data.stats).toMatchObject({ files_observed: files, files_stored: files, files_read: files });
  const listed = storeGit(scene.dataDir, ['ls-tree', '-r', '--name-only', 'refs/jackin/t/1:mounts/m']).stdout;
  expect(listed.trim().split('\n')).toHaveLength(files);

  scene.write({ '1/1': 'changed\n' });
  appendFileSync(scene.at('2/2'), 'longer\n');
  utimesSync(scene.at('3/3'), 1000, 1000);
  const second = await scene.save();
  expect(second.data.stats.files_reused).toBeGreaterThanOrEqual(files - 10);
  expect(second.data.stats.files_read).toBeLessThanOrEqual(10);
  expect(second.data.stats.files_stored).toBe(files);
  expect([await scene.content(2, '1/1'), await scene.content(2, '2/2')]).toEqual(['changed\n', '2 2\nlonger\n']);
  expect(mount.differences().length).toBeGreaterThan(0);

  const still = rememberUntouched(scene.mount);
  let made = 2;
  for (const [signal, code, delay] of [
    ['SIGTERM', 143, 500],
    ['SIGINT', 130, 900],
    ['SIGTERM', 143, 1500],
  ] as const) {
    const { child, done } = scene.start(['save', '--full']);
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill(signal);
    const run = await done;
    expect([0, code, null], run.stderr).toContain(run.code);
    // A signal may still end a process whose work is done: then its snapshot is whole.
    const found = (await scene.numbers()).length;
    const added = run.code === null ? [0, 1] : [run.code === 0 ? 1 : 0];
    expect(added, `exit ${run.code} ${run.stderr}`).toContain(found - made);
    made = found;
    expect(leftovers(scene.dataDir)).toEqual([]);
  }
  expectSame(still);
  const last = await scene.save();
  expect(last.data.stats.files_read).toBeLessThanOrEqual(10);
  expect(last.data.snapshot.seq).toBe(made + 1);
});
