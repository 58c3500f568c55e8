import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as user from '../support/user-git.js';
import { expectSound, protectedSave, scene } from './protect-scene.js';

test('what cannot be read is said, and the files are saved all the same', async () => {
  const place = scene();
  const commit = user.commitFiles(place.mount, { 'a.txt': 'a\n' }, 'unpushed');
  const tree = user.userGitText(place.mount, ['rev-parse', `${commit}^{tree}`]);
  user.commitFiles(place.mount, { 'b.txt': 'b\n' }, 'after that');
  rmSync(join(place.mount, '.git/objects', tree.slice(0, 2), tree.slice(2)));
  const saved = await protectedSave(place);
  expect(saved.code).toBe(6);
  expect(saved.missing).toContainEqual({ object: tree, path: '', reason: 'absent' });
  expectSound(place);
});
