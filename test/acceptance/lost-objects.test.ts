import { readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeGit } from '../support/store-git.js';
import { Scene } from './scene.js';

test('a store that lost an object says which snapshots cannot be restored, also when it was sound before', async () => {
  const scene = new Scene();
  scene.write({ a: 'first' });
  await scene.save();
  scene.write({ a: 'second' });
  await scene.save();
  expect((await scene.list()).map(({ restorable }) => restorable as boolean)).toEqual([true, true]);
  const blob = storeGit(scene.dataDir, ['rev-parse', 'refs/jackin/t/1:mounts/m/a']).stdout.trim();
  // All objects loose, but for one.
  const packs = storeGit(scene.dataDir, ['count-objects', '-v']).stdout;
  expect(packs).toContain('packs: ');
  const directory = join(scene.store, 'objects/pack');
  for (const name of readdirSync(directory)) {
    if (!name.endsWith('.pack')) continue;
    const bytes = readFileSync(join(directory, name));
    renameSync(join(directory, name), join(scene.area, name));
    for (const ending of ['.idx', '.rev']) rmSync(join(directory, name.replace(/\.pack$/, ending)), { force: true });
    storeGit(scene.dataDir, ['unpack-objects', '-q'], { stdin: bytes });
  }
  rmSync(join(scene.store, 'objects', blob.slice(0, 2), blob.slice(2)));
  const listed = await scene.list();
  expect(listed.map(({ seq, restorable }) => [seq, restorable])).toEqual([
    [2, true],
    [1, false],
  ]);
  const before = scene.read('a');
  expect((await scene.restore(1, [], { code: 7 })).document.error?.code).toBe('SNAPSHOT_DAMAGED');
  expect(scene.read('a')).toBe(before);
  const verified = await scene.json(['verify'], { code: 7 });
  expect(verified.data.damaged.map(({ snapshot }: { snapshot: { seq: number } }) => snapshot.seq)).toEqual([1]);
});
