import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs `npm ci` if what is installed is not what the lock file names. All output goes to stderr. */
export function installMissing(root) {
  if (isInstalled(root)) return;
  const arguments_ = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  const { error, status } = spawnSync('npm', arguments_, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) throw new Error(`npm cannot be started (${error.code}).`, { cause: error });
  if (status !== 0) throw new Error('npm ci failed.');
}

function isInstalled(root) {
  const locked = packagesIn(join(root, 'package-lock.json'));
  // npm writes this file last, so an interrupted install has none.
  const installed = packagesIn(join(root, 'node_modules/.package-lock.json'));
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (path === '' || (optional && !installed[path])) return true;
    return installed[path]?.version === version;
  });
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}
