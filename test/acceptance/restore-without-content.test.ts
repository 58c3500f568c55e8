import { expect, test } from 'vitest';
import { Scene, expectSame, remember, said } from './scene.js';

test('a restore of a snapshot without content changes nothing, and does not say that nothing differs', async () => {
  const scene = new Scene();
  scene.write({ f: 'one' });
  await scene.save();
  await scene.run(['instance', 'set', 'snapshot=metadata']);
  await scene.save();
  scene.write({ f: 'two', new: 'new' });
  const before = remember(scene.mount);
  const { data, document } = await scene.restore(2);
  expect([data.plan, data.post_rollback_state]).toEqual([[], { active_snapshot: null, verified: false }]);
  expect(JSON.stringify(document.messages)).toContain('holds no content of files');
  const told = said(await scene.run(['restore', '2', '--yes']));
  expect(told).toContain('Nothing is restored from snapshot 2');
  expect(told).not.toMatch(/Nothing differs|as it was/);
  expectSame(before);
  // Emergency snapshots hold content, whatever the level.
  await scene.restore(1);
  await scene.undo();
  expectSame(before);
});
