import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fetchedElsewhere } from './remote-scene.js';
import { Scene } from './scene.js';

// An instance of which there are snapshots alone: a fetch brought them, its folders are elsewhere.

test('a fetched instance goes on with another folder only where that is named', async () => {
  const { scene, to } = await fetchedElsewhere();
  const refused = await to.json(['save'], { code: 4 });
  expect(refused.document.error).toMatchObject({
    code: 'MOUNTS_DIFFER',
    hint: expect.stringContaining('save DIR') as string,
  });
  expect(refused.document.error?.message).toContain(scene.mount);
  expect(await to.numbers()).toEqual([2, 1]);
  expect((await to.json(['plan'], { code: 4 })).data.snapshot.refusal).toMatchObject({ code: 'MOUNTS_DIFFER' });
  await to.json(['save', to.mount]);
  await to.json(['save']);
  expect(await to.numbers()).toEqual([4, 3, 2, 1]);
});

test('an instance whose record is lost goes on in its own folder', async () => {
  const scene = new Scene();
  scene.write({ a: 'a\n' });
  await scene.save();
  rmSync(join(scene.dataDir, 'instances/t/instance.json'));
  await scene.json(['save']);
  expect(await scene.numbers()).toEqual([2, 1]);
});
