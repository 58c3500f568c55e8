import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnapJson } from '../support/cli.js';
import { treeFingerprint } from '../support/compare.js';
import { tempDir } from '../support/temp.js';
import { commitFiles, createRepository, writeFiles } from '../support/user-git.js';

// A submodule whose .git is a file is saved; since then it has become a repository of its own.
test.each([
  { args: [], code: 6, stays: true },
  { args: ['--delete-new-repos'], code: 0, stays: false },
])('a repository in the place of a .git file, with options $args', async ({ args, code, stays }) => {
  const area = tempDir();
  const mount = join(area, 'mount');
  const options = { dataDir: join(area, 'data'), cwd: mount };
  writeFiles(mount, { 'module/.git': 'gitdir: ../nowhere\n', 'module/file': 'saved\n' });
  await runSnapJson(['save'], options);
  rmSync(join(mount, 'module/.git'));
  createRepository(join(mount, 'module'));
  commitFiles(join(mount, 'module'), { file: 'committed since\n' });
  const before = treeFingerprint(join(mount, 'module/.git'));

  const restored = await runSnapJson(['restore', '1', '--yes', ...args], options);
  expect(restored.code).toBe(code);
  expect(existsSync(join(mount, 'module/.git/HEAD'))).toBe(stays);
  if (stays) {
    expect(treeFingerprint(join(mount, 'module/.git'))).toBe(before);
    expect(restored.document.data.kept).toContainEqual(expect.objectContaining({ path: 'module/.git' }));
  }
});
