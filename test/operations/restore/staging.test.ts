import { expect, test } from 'vitest';
import type { WritableDirectory } from '../../../src/core/ports.js';
import type { Change } from '../../../src/core/restore-plan.js';
import { Staging } from '../../../src/operations/restore/staging.js';

const changes = [{ path: 'new', before: null, after: { kind: 'directory', mode: 0o755 } }] as unknown as Change[];

test.each([
  { code: 'ENOTEMPTY', fails: false, reason: 'what waits in it is for a recovery' },
  { code: 'EROFS', fails: true, reason: 'it would be left, and nothing would say so' },
  { code: 'EIO', fails: true, reason: 'it would be left, and nothing would say so' },
])('a staging directory that cannot go ($code) ends a restore: $fails, since $reason', ({ code, fails }) => {
  const root = {
    makeDirectory: () => undefined,
    enter: () => ({ close: () => undefined }),
    removeDirectory: () => {
      throw Object.assign(new Error(code), { code });
    },
  } as unknown as WritableDirectory;
  const staging = Staging.make(root, '.jackin-x-', changes);
  const remove = expect(() => staging?.remove());
  if (fails) remove.toThrow(code);
  else remove.not.toThrow();
});
