import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HostPath } from '../../src/index.js';
import { bytesOfText, createSnap } from '../../src/index.js';
import { fsckStrict } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

test('a clock before 1970 counts as its beginning: the snapshot is sound', async () => {
  const mount = tempDir('mount');
  const dataDir = join(tempDir('data'), 'snapshots');
  writeFileSync(join(mount, 'file'), 'content');
  const { PATH, HOME } = process.env;
  const now = (): Date => new Date(Date.UTC(1969, 5, 1));
  const snap = createSnap({ dataDir, instance: 't', cwd: mount, env: { PATH, HOME }, now });
  const { snapshot } = await snap.save({ folders: [{ name: null, path: bytesOfText(mount) as HostPath }] });
  expect(snapshot.createdAt).toBe('1970-01-01T00:00:00.000Z');
  expect((await snap.verify({ full: true })).ok).toBe(true);
  expect(fsckStrict(dataDir)).toEqual([]);
});
