import { expect, test } from 'vitest';
import type { HostPath } from '../../../src/core/entry-path.js';
import type { WritableDirectory } from '../../../src/core/ports.js';
import { openMount } from '../../../src/fs/held-directory.js';
import { directory, file } from '../../support/tree-plan.js';
import { ApplyScene, asNobody, canBecomeNobody, nobody } from '../apply-scene.js';

// A power cut after a restore takes nothing back. Not every file system writes an inode when its directory is synced.

test('the mode of a file that is not rewritten is synced', async () => {
  const scene = await ApplyScene.make([file('d/f', 'same', 0o640)], [file('d/f', 'same', 0o600)]);
  expect(await syncsOf(scene)).toContain('syncFile f');
  expect(scene.unlikeThen()).toEqual([]);
});

test('the file system is synced where the file may not be opened', async () => {
  const scene = await ApplyScene.make([file('f', 'same', 0o640)], [file('f', 'same', 0o600)]);
  let syncs = 0;
  const syncFileSystem = (): Promise<boolean> => Promise.resolve(++syncs > 0);
  await syncsOf(scene, { syncFileSystem, syncFile: () => false });
  expect(syncs).toBe(1);
  await scene.build(scene.now);
  const failed = syncsOf(scene, { syncFileSystem: () => Promise.resolve(false), syncFile: () => false });
  await expect(failed).rejects.toMatchObject({ code: 'EIO' });
});

test.skipIf(!canBecomeNobody)('a mode that was lent is given back before the last sync of its directory', async () => {
  const locked = directory('d', 0o555);
  const scene = await ApplyScene.make([file('d/f', '1'), locked], [file('d/f', '2'), locked], nobody);
  const calls = await asNobody(() => syncsOf(scene));
  expect(calls.lastIndexOf('sync')).toBeGreaterThan(calls.lastIndexOf('setOwnMode 555'));
  expect(scene.unlikeThen()).toEqual([]);
});

/** Applies; answers the syncs and changes of modes, in their order. */
async function syncsOf(
  scene: ApplyScene,
  {
    syncFileSystem,
    syncFile,
  }: { readonly syncFileSystem?: () => Promise<boolean>; readonly syncFile?: () => boolean } = {},
): Promise<string[]> {
  const calls: string[] = [];
  const root = openMount(scene.mount as HostPath);
  const wrap = (held: WritableDirectory): WritableDirectory =>
    new Proxy(held, {
      get(target, member): unknown {
        const own: unknown = Reflect.get(target, member, target);
        if (typeof own !== 'function') return own;
        return (...args: unknown[]): unknown => {
          if (member === 'sync') calls.push('sync');
          if (member === 'syncFile') calls.push(`syncFile ${String(args[0])}`);
          if (member === 'setOwnMode') calls.push(`setOwnMode ${Number(args[0]).toString(8)}`);
          if (member === 'syncFile' && syncFile !== undefined) return syncFile();
          const result: unknown = Reflect.apply(own, target, args);
          return member === 'enter' ? wrap(result as WritableDirectory) : result;
        };
      },
    });
  try {
    await scene.apply({ root: wrap(root), ...(syncFileSystem === undefined ? {} : { syncFileSystem }) });
  } finally {
    root.close();
  }
  return calls;
}
