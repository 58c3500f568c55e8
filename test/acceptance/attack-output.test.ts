import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { snapBin, snapEnvironment } from '../support/cli.js';
import { Scene, expectSame, remember } from './scene.js';

test('a restore whose plan nobody reads is done all the same, or does not end well', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n' });
  await scene.save();
  scene.write({ a: 'now\n' });
  const command = `'${process.execPath}' '${snapBin}' --data-dir '${scene.dataDir}' -i t restore 1 --yes | true; exit \${PIPESTATUS[0]}`;
  const run = spawnSync('bash', ['-c', command], { cwd: scene.mount, env: snapEnvironment(scene.home) });
  expect(run.status).toBe(0);
  expect(scene.read('a')).toBe('then\n');
});

test('nothing is written into the data directory from a snapshot', async () => {
  const scene = new Scene();
  scene.write({ a: 'then\n' });
  await scene.save();
  mkdirSync(join(scene.dataDir, 'empty'));
  symlinkSync(scene.store, join(scene.area, 'link'));
  const before = remember(scene.dataDir);
  const destinations = [
    join(scene.store, 'refs/jackin/other'),
    join(scene.dataDir, 'empty'),
    `${scene.dataDir}/empty/`,
    join(scene.area, 'link/refs/heads'),
  ];
  for (const destination of destinations) {
    await scene.run(['restore', '1', '--yes', '--to', destination], { code: 2 });
    await scene.run(['export', '1', destination], { code: 2 });
  }
  await scene.run(['export', '1', join(scene.dataDir, 'instances/x.tar')], { code: 2 });
  expectSame(before, 'the data directory');
});
