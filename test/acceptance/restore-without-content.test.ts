import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Scene, expectSame, remember, said } from './scene.js';

/** Snapshot 1 holds the content of a file, 2 none. */
async function withAndWithoutContent(): Promise<Scene> {
  const scene = new Scene();
  scene.write({ f: 'one' });
  await scene.save();
  await scene.run(['instance', 'set', 'snapshot=metadata']);
  await scene.save();
  return scene;
}

test('a restore of a snapshot without content changes nothing, and does not say that nothing differs', async () => {
  const scene = await withAndWithoutContent();
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

test('whatever shows a snapshot without content says so, and of one with content nobody does', async () => {
  const scene = await withAndWithoutContent();
  const commands = (seq: string): string[][] => [
    ['show', seq],
    ['diff', seq],
    ['drill', seq, '--in', scene.outside],
    ['restore', seq, '--to', join(scene.outside, 'elsewhere'), '--dry-run'],
    ['restore', seq, '--to', join(scene.outside, `elsewhere-${seq}`), '--yes'],
  ];
  for (const words of commands('2')) {
    const { document } = await scene.json(words, { code: [0, 1] });
    expect(document.messages).toContain('Snapshot 2 holds no content of files (snapshot=metadata).');
    expect(said(await scene.run(words[4] === '--yes' ? ['show', '2'] : words, { code: [0, 1] }))).toContain(
      'Snapshot 2 holds no content',
    );
  }
  for (const words of commands('1')) {
    const { document } = await scene.json(words, { code: [0, 1] });
    expect(JSON.stringify(document.messages)).not.toContain('no content');
  }
});
