import { expect, test } from 'vitest';
import { directory, file, symlink } from '../../support/tree-plan.js';
import { ApplyScene, asNobody, canBecomeNobody, nobody } from '../apply-scene.js';

// What a restore works with fails as a path might: that is no matter of the path.

const failing = (code: string) => ({
  expect: () => undefined,
  stream: () => Promise.reject(Object.assign(new Error(code), { code })),
  read: () => Promise.reject(Object.assign(new Error(code), { code })),
});

// Of these, the mount's own would be named, and all else done.
const ofOnePath = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EEXIST', 'EBUSY', 'EINVAL'];

test.each(['ENOSPC', 'EIO', 'EDQUOT', 'STORE_DAMAGED', ...ofOnePath])(
  'a failure in the store with %s ends the restore, without a trace of the path',
  async (code) => {
    const ofFiles = await ApplyScene.make([file('a', 'A'), file('d/b', 'B')], [file('a', 'AA')]);
    const ofLinks = await ApplyScene.make([symlink('a', 'A')], [symlink('a', 'AA')]);
    for (const scene of [ofFiles, ofLinks]) {
      await expect(scene.apply({ reader: failing(code) })).rejects.toThrow(expect.objectContaining({ code }));
      expect(scene.unlikeNow()).toEqual([]);
    }
  },
);

test.each(ofOnePath)('a failure in who is told of progress with %s ends the restore', async (code) => {
  const scene = await ApplyScene.make([file('a', 'A')], [file('a', 'AA')]);
  const onFile = (): never => {
    throw Object.assign(new Error(code), { code });
  };
  await expect(scene.apply({ onFile })).rejects.toThrow(expect.objectContaining({ code }));
  expect([(await scene.apply()).skipped, scene.unlikeThen()]).toEqual([[], []]);
});

test.runIf(canBecomeNobody).each(ofOnePath)('a failure in the journal with %s ends the restore', async (code) => {
  const scene = await ApplyScene.make(
    [directory('d', 0o555), file('d/a', 'A')],
    [directory('d', 0o555), file('d/a', 'AA')],
    nobody,
  );
  const onLend = (): never => {
    throw Object.assign(new Error(code), { code });
  };
  await asNobody(() => expect(scene.apply({ onLend })).rejects.toMatchObject({ code }));
  expect(scene.unlikeNow()).toEqual([]);
});
