import { expect, test } from 'vitest';
import { displayPath, type HostPath } from '../../src/core/entry-path.js';
import { inPrivateFolder } from '../../src/operations/check/drill-folder.js';
import { MemoryContext } from './memory-context.js';

test.each(['EACCES', 'EIO', 'EBUSY'])('what a drill found is told although its folder stays (%s)', async (code) => {
  const memory = new MemoryContext();
  const openMount = (): never => {
    throw Object.assign(new Error(code), { code });
  };
  const context = { ...memory.context, host: { ...memory.context.host, openMount } };
  let folder = '';
  const found = await inPrivateFolder(context, memory.area as HostPath, (path) => {
    folder = displayPath(path);
    return Promise.resolve({ ok: false, messages: ['first'] });
  });
  expect(found).toMatchObject({
    ok: false,
    messages: ['first', expect.stringContaining(`${folder} could not be removed`)],
  });
  const failing = inPrivateFolder(context, memory.area as HostPath, () => Promise.reject(new Error('of the drill')));
  await expect(failing).rejects.toThrow('of the drill');
});
