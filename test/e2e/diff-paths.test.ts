import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSnap } from '../support/cli.js';
import { tempDir } from '../support/temp.js';

// Whether these names are escaped in the tree depends on what they are.
const made: readonly { readonly path: string; readonly what: string; readonly make: (path: string) => void }[] = [
  { path: 'a/.gitignore', what: 'a file', make: (path) => writeFileSync(path, '#\n') },
  { path: 'a/.gitignore', what: 'a link', make: (path) => symlinkSync('nowhere', path) },
  { path: '.gitattributes', what: 'a short file', make: (path) => writeFileSync(path, '#\n') },
  { path: '.gitattributes', what: 'a long file', make: (path) => writeFileSync(path, `#${'x'.repeat(3000)}\n`) },
  { path: '.gitattributes/b', what: 'in a directory', make: (path) => writeFileSync(path, 'b\n') },
  { path: 'lib/.git', what: 'a file', make: (path) => writeFileSync(path, 'gitdir: /nowhere\n') },
];

test.each(made)('a path limits a diff whatever is stored there: $path, $what', async ({ path, make }) => {
  const area = tempDir();
  const mount = join(area, 'mount');
  const options = { cwd: mount, dataDir: join(area, 'data') };
  mkdirSync(join(mount, path, '..'), { recursive: true });
  make(join(mount, path));
  writeFileSync(join(mount, 'other'), 'x');
  expect((await runSnap(['save'], options)).code).toBe(0);
  rmSync(join(mount, path));
  rmSync(join(mount, 'other'));

  const { stdout } = await runSnap(['diff', 'latest', '--name-status', '--', path], options);

  expect(stdout.split('\n').filter((line) => line !== '')).toHaveLength(1);
  expect(stdout).toMatch(/^D\tmount\/.*git/);
});
