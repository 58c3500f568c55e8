import { expect, test } from 'vitest';
import { fetchedElsewhere } from './remote-scene.js';

test('fetched snapshots are neither counted by retention nor removed by it', async () => {
  const { scene, remote, to } = await fetchedElsewhere();
  to.write({ a: 'mine\n' });
  await to.json(['save', to.mount]);
  await to.run(['instance', 'set', 'keep_last=2', 'keep_emergency=0']);
  for (const text of ['3', '4', '5', '6', '7', '8']) {
    scene.write({ a: `${text}\n` });
    await scene.save();
  }
  await scene.run(['delete', '3', '--yes']);
  await scene.run(['push', remote]);
  await to.run(['fetch', remote]);
  to.write({ a: 'more\n' });
  const saved = await to.json(['save']);
  expect([saved.data.snapshot.seq, saved.document.messages]).toEqual([9, []]);
  expect(await to.numbers()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  for (const text of ['a', 'b']) {
    to.write({ a: `${text}\n` });
    await to.json(['save']);
  }
  expect(await to.numbers()).toEqual([11, 10, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect((await to.json(['prune', '--yes'])).data.removed).toEqual([]);
  await to.run(['delete', '1', '2', '--yes']);
  await to.run(['fetch', remote]);
  expect((await to.json(['prune', '--yes'])).data.removed).toEqual([]);
});
