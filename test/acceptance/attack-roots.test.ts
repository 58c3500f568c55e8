import { chmodSync, linkSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSnap } from '../../src/index.js';
import type { JackinSnap } from '../../src/index.js';
import { Scene, expectSame, remember } from './scene.js';

// A mount is known by its folder, not by its path: whoever may write beside it can put another folder in its place.

test('a folder that is swapped while the question waits is not written in', async () => {
  const scene = new Scene();
  const mount = scene.folder('parent/mount', { a: 'then\n' });
  scene.folder('victim/mount', { a: 'now\n' });
  const snap = library(scene, mount);
  await snap.save();
  scene.folder('parent/mount', { a: 'now\n' });
  const victim = remember(join(scene.area, 'victim'));
  const restored = snap.restore({
    snapshot: '1',
    confirm: () => {
      renameSync(join(scene.area, 'parent'), join(scene.area, 'elsewhere'));
      symlinkSync('victim', join(scene.area, 'parent'));
      return Promise.resolve(true);
    },
  });
  await expect(restored).rejects.toMatchObject({ code: 'MOUNT_REPLACED' });
  expectSame(victim, 'the folder that is no mount');
  expect(await snap.pendingRestores()).toEqual([]);
});

test('a pending restore goes on in its own folder only', async () => {
  const scene = new Scene();
  const snap = await interrupted(scene);
  renameSync(scene.mount, `${scene.mount}-moved`);
  scene.folder('m', { mine: 'mine\n' });
  const other = remember(scene.mount);
  await scene.run(['recover', '--continue', '--yes'], { code: 4 });
  await scene.run(['recover', '--abort', '--yes'], { code: 4 });
  expectSame(other, 'the folder in its place');
  renameSync(scene.mount, `${scene.mount}-other`);
  renameSync(`${scene.mount}-moved`, scene.mount);
  await scene.run(['recover', '--continue', '--yes']);
  expect([scene.read('a'), scene.read('b'), scene.read('c')]).toEqual(['a\n', 'b\n', 'c\n']);
  expect(await snap.pendingRestores()).toEqual([]);
});

test('a pending restore asks, and respects who is active, before it goes on', async () => {
  const scene = new Scene();
  await interrupted(scene);
  const halfway = remember(scene.mount);
  await scene.run(['restore', '1'], { code: 5 });
  await scene.run(['instance', 'activate', '--pid', String(process.pid)]);
  for (const command of [
    ['recover', '--continue'],
    ['recover', '--abort'],
    ['restore', '1'],
  ])
    await scene.run([...command, '--yes'], { code: 4 });
  expectSame(halfway);
  await scene.run(['recover', '--continue', '--yes', '--force']);
  expect(scene.read('c')).toBe('c\n');
});

test('a snapshot is of the folder that it was taken of', async () => {
  const scene = new Scene();
  scene.write({ a: 'first folder\n' });
  await scene.save();
  renameSync(scene.mount, `${scene.mount}-first`);
  scene.folder('m', { a: 'second folder\n' });
  await scene.save();
  scene.write({ a: 'changed\n' });
  await scene.restore(2);
  expect(scene.read('a')).toBe('second folder\n');
  renameSync(scene.mount, `${scene.mount}-second`);
  renameSync(`${scene.mount}-first`, scene.mount);
  await scene.restore(2, [], { code: 4 });
  expect(scene.read('a')).toBe('first folder\n');
});

/** A restore that was stopped after its first file. */
async function interrupted(scene: Scene, meanwhile?: () => void): Promise<JackinSnap> {
  const stop = new AbortController();
  const onProgress = ({ phase }: { phase: string }): void => {
    if (phase === 'restore') stop.abort('SIGINT');
  };
  scene.write({ a: 'a\n', b: 'b\n', c: 'c\n' });
  await scene.save();
  scene.remove('a', 'b', 'c');
  meanwhile?.();
  const stopped = library(scene, scene.mount, { signal: stop.signal, onProgress });
  await expect(stopped.restore({ snapshot: '1', confirm: () => Promise.resolve(true) })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  });
  expect(scene.has('c')).toBe(false);
  return library(scene, scene.mount);
}

function library(scene: Scene, cwd: string, options: Parameters<typeof createSnap>[0] = {}): JackinSnap {
  return createSnap({
    dataDir: scene.dataDir,
    instance: 't',
    cwd,
    env: { HOME: scene.home, PATH: process.env['PATH'] },
    ...options,
  });
}

test('a file with a name outside the mount is as it was after an abort, and nobody says otherwise', async () => {
  const scene = new Scene();
  scene.write({ shared: 'shared\n' });
  linkSync(scene.at('shared'), join(scene.outside, 'shared'));
  chmodSync(scene.at('shared'), 0o755);
  await interrupted(scene, () => {
    chmodSync(scene.at('shared'), 0o700);
  });
  await scene.run(['recover', '--abort', '--yes']);
  expect(statSync(join(scene.outside, 'shared')).mode & 0o777).toBe(0o700);
});
