import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runSnap } from '../support/cli.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

test('gc mends a history whose graft a killed git left out', async () => {
  const folder = tempDir('mount');
  const dataDir = join(tempDir('data'), 'snapshots');
  for (const [at, content] of ['one', 'two', 'three'].entries()) {
    writeFileSync(join(folder, 'file'), content);
    const { code, stderr } = await runSnap(['-i', 't', 'save', ...(at === 0 ? [folder] : [])], {
      dataDir,
      cwd: folder,
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
  }
  const commit = storeGit(dataDir, ['rev-parse', 'refs/jackin/t/2']).stdout.trim();
  storeGit(dataDir, ['update-ref', '-d', `refs/replace/${commit}`]);
  const history = (): number =>
    storeGit(dataDir, ['log', '--format=%H', 'refs/jackin/t/3']).stdout.trim().split('\n').length;
  expect(history()).toBe(2);

  expect((await runSnap(['gc'], { dataDir, cwd: folder })).code).toBe(0);

  expect(history()).toBe(3);
});
