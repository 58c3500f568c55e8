import { openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataFinder } from '../../src/snap/loaded-late.js';
import { tempDir } from '../support/temp.js';
import { writeFiles } from '../support/user-git.js';

test.each(['EACCES', 'EIO', 'ENOENT', 'EMFILE'])(
  'where data lies is not known when tar cannot be looked for (%s): that is no matter of the file',
  async (code) => {
    const area = tempDir('data-finder');
    writeFiles(area, { f: 'content' });
    const find = dataFinder({
      dataDir: area,
      env: process.env,
      forbiddenDirectories: () => {
        throw Object.assign(new Error(code), { code });
      },
    });
    const file = { descriptor: openSync(join(area, 'f'), 'r'), size: 7, keepsAccessTime: false };
    expect(await find(file)).toBeUndefined();
  },
);
