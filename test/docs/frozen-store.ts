import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { storeGit } from '../support/store-git.js';

const frozen = resolve(import.meta.dirname, '../../fixtures/repos');

/**
 * Makes the data directory of a frozen format from its plain files, with every object as it was. Nobody's code but
 * git's has a part in it.
 */
export function thaw(format: 'v1', dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const store = join(dataDir, 'store.git');
  const made = spawnSync('git', ['init', '--quiet', '--bare', '--template=', store], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`git init failed: ${made.stderr}`);
  const bundle = join(frozen, format, 'store.bundle');
  storeGit(dataDir, ['-c', 'fetch.fsckObjects=true', 'fetch', '--quiet', bundle, '+refs/*:refs/*'], {
    env: { GIT_NO_REPLACE_OBJECTS: '1' },
  });
  cpSync(join(frozen, format, 'instances'), join(dataDir, 'instances'), { recursive: true });
}
