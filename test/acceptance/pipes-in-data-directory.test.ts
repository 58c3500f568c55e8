import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { walkTree } from '../support/walk.js';
import { Scene } from './scene.js';

test('a pipe in the place of any file of the data directory is not waited for', async () => {
  const scene = new Scene();
  scene.write({ a: '1', 'd/b': '2' });
  await scene.save();
  scene.write({ a: 'changed' });
  await scene.save();
  await scene.run(['restore', '1', '--yes']);
  await scene.run(['verify', '--full']);
  await scene.run(['gc']);
  const wasSound = join(scene.area, 'sound');
  cpSync(scene.dataDir, wasSound, { recursive: true });
  const files = walkTree(scene.dataDir, { hash: false }).filter(({ type }) => type === 'file');
  // What is there at times.
  const further = [
    'journals/t.journal',
    'instances/t/activity.json',
    'instances/t/worktree.json',
    'instances/t/fetched',
  ];
  const ends: string[] = [];
  for (const path of [...files.map(({ path }) => path), ...further]) {
    const file = join(scene.dataDir, path);
    rmSync(file, { force: true });
    expect(spawnSync('mkfifo', ['-m', '600', file]).status).toBe(0);
    for (const command of [['list'], ['save'], ['verify'], ['restore', '1', '--yes'], ['doctor', '--fix']]) {
      const { code, timedOut } = await scene.start(command, { timeout: 20_000 }).done;
      if (timedOut || code === null || code === 1) ends.push(`${path}: ${command.join(' ')}: ${code}`);
    }
    rmSync(scene.dataDir, { recursive: true });
    cpSync(wasSound, scene.dataDir, { recursive: true });
  }
  expect(ends).toEqual([]);
  expect(files.length).toBeGreaterThan(15);
});
