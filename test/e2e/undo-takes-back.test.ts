import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap, runSnapJson } from '../support/cli.js';
import { treeFingerprint } from '../support/compare.js';
import { tempDir } from '../support/temp.js';
import { commitFiles, createRepository, writeFiles } from '../support/user-git.js';
import { walkTree } from '../support/walk.js';

function scene(): { options: { dataDir: string; cwd: string }; at: (path: string) => string; paths: () => string[] } {
  const area = tempDir();
  const mount = join(area, 'mount');
  createRepository(mount);
  commitFiles(mount, { '.gitignore': '*.log\nbuilt/\n', 'tracked.log': 'tracked though ignored\n', 'a.txt': 'a\n' });
  return {
    options: { dataDir: join(area, 'data'), cwd: mount },
    at: (path) => join(mount, path),
    paths: () => walkTree(mount, { skipGitDirs: true }).map(({ path }) => path),
  };
}

// What a rule protects from deletion is not protected from being taken back when it was put there by the restore.
test.each([
  { what: 'a submodule, whose .git is a file', path: 'module/.git', content: 'gitdir: ../.git/modules/m\n', args: [] },
  { what: 'a tracked file that is ignored', path: 'tracked.log', content: 'tracked though ignored\n', args: [] },
  { what: 'an ignored file that was saved', path: 'built/out.js', content: 'built\n', args: ['--no-gitignore'] },
  { what: 'a secret that was saved', path: '.env', content: 'A=1\n', args: ['--include-secrets'] },
])('undo takes $what away again when the restore had put it there', async ({ path, content, args }) => {
  const { options, at, paths } = scene();
  writeFiles(at('.'), { [path]: content, 'module/file': 'x\n' });
  expect((await runSnap(['save', ...args], options)).code).toBe(0);
  const saved = paths();

  rmSync(at('module'), { recursive: true });
  rmSync(at(path), { force: true });
  if (path.startsWith('built')) rmSync(at('built'), { recursive: true });
  const damaged = paths();
  expect((await runSnap(['restore', '1', '--yes'], options)).code).toBe(0);
  expect(paths()).toEqual(saved);

  const undone = await runSnapJson(['undo', '--yes'], options);
  expect(undone.document.data.kept).toEqual([]);
  expect(paths()).toEqual(damaged);
});

test('undo leaves what was changed since the restore, where a rule protects its name', async () => {
  const { options, at, paths } = scene();
  await runSnap(['save'], options);
  rmSync(at('tracked.log'));
  await runSnap(['restore', '1', '--yes'], options);
  writeFiles(at('.'), { 'tracked.log': 'worked on since\n', 'other.log': 'new and ignored\n' });
  rmSync(at('a.txt'));
  const before = treeFingerprint(at('.git'));

  const undone = await runSnapJson(['undo', '--yes'], options);
  expect(undone.document.data.kept).toContainEqual({ mount: 'mount', path: 'tracked.log', reason: 'ignored' });
  expect(paths()).toEqual(['.gitignore', 'a.txt', 'other.log', 'tracked.log']);
  expect(treeFingerprint(at('.git'))).toBe(before);
});
