import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { createSnap } from '../../src/index.js';
import { storeGit } from '../support/store-git.js';
import { tempDir } from '../support/temp.js';

test('what lies beside a subfolder that changes is in every later snapshot', async () => {
  const area = tempDir();
  const [mount, dataDir] = [join(area, 'm'), join(area, 'data')];
  for (const name of ['d0', 'd1']) {
    mkdirSync(join(mount, name, 'deep'), { recursive: true });
    writeFileSync(join(mount, name, 'own'), name);
  }
  symlinkSync('d1/own', join(mount, 'link'));
  writeFileSync(join(mount, 'top'), 'top');
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const snap = createSnap({ dataDir, cwd: mount, instance: 't', env });
  const listed = [];
  for (let seq = 1; seq <= 6; seq++) {
    writeFileSync(join(mount, `d${seq % 2}`, 'deep', 'changing'), `${seq}`);
    const { snapshot } = await snap.save({});
    listed.push(storeGit(dataDir, ['ls-tree', '-r', '--name-only', `${snapshot.commit}:mounts/m`]).stdout.split('\n'));
  }
  const unchanging = ['d0/own', 'd1/own', 'link', 'top'];
  for (const names of listed) expect(names).toEqual(expect.arrayContaining(unchanging));
});
