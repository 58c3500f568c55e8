import { chmodSync, lstatSync } from 'node:fs';
import { parentOf } from './bytes.js';
import { reach } from './reach.js';

/**
 * Runs `act` while the owner may read, write and enter all directories that lead to `path`, and the modes that these
 * had are given back afterwards. With `itself`, the entry at `path` too.
 */
export function withLentModes<T>(root: string, path: string, act: () => T, itself = false): T {
  const lent: { path: string; mode: number }[] = [];
  for (const step of stepsTo(itself ? path : parentOf(path))) {
    const mode = reach(root, step, (hostPath) => lstatSync(hostPath).mode & 0o7777);
    if ((mode & 0o700) === 0o700) continue;
    reach(root, step, (hostPath) => chmodSync(hostPath, mode | 0o700));
    lent.push({ path: step, mode });
  }
  try {
    return act();
  } finally {
    for (const step of lent.reverse()) giveBack(root, step.path, step.mode);
  }
}

function stepsTo(path: string): string[] {
  return path === '' ? [''] : [...stepsTo(parentOf(path)), path];
}

// What was lent may have been removed or moved in between.
function giveBack(root: string, path: string, mode: number): void {
  reach(root, path, (hostPath) => {
    if (lstatSync(hostPath, { throwIfNoEntry: false }) !== undefined) chmodSync(hostPath, mode);
  });
}
