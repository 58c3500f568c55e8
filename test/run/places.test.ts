import { expect, test } from 'vitest';
import type { HostPath } from '../../src/core/entry-path.js';
import { placesOf } from '../../src/operations/run/places.js';
import { MemoryContext } from '../operations/memory-context.js';

test.each(['EIO', 'ESTALE', 'ENOTCONN'])('a folder that cannot be looked at (%s) is nowhere', (code) => {
  const { context } = new MemoryContext();
  const identity = (): never => {
    throw Object.assign(new Error(code), { code });
  };
  const path = '/somewhere' as HostPath;
  expect(placesOf({ ...context, host: { ...context.host, identity } }, [{ path }])).toEqual(new Map([[path, null]]));
});
