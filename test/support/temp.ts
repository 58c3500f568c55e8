import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { removeTree } from './remove-tree.js';

/** A fresh, empty directory (its real path), removed when the running test ends. Only inside a test or beforeEach. */
export function tempDir(name = 'area'): string {
  const path = makeTempDir(name);
  onTestFinished(() => removeTree(path));
  return path;
}

/** A fresh, empty directory for as long as `act` runs. */
export async function withTempDir<T>(act: (path: string) => T | Promise<T>, name = 'area'): Promise<T> {
  const path = makeTempDir(name);
  try {
    return await act(path);
  } finally {
    removeTree(path);
  }
}

/** A fresh, empty directory that the caller removes, with `removeTree`. */
export function makeTempDir(name = 'area'): string {
  return mkdtempSync(join(realpathSync(tmpdir()), `jackin-${name}-`));
}
