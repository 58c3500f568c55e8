import { expect, onTestFinished } from 'vitest';

import type { HostPath } from '../../src/core/entry-path.js';
import type { WritableDirectory } from '../../src/core/ports.js';
import { openMount } from '../../src/fs/held-directory.js';
import { tempDir } from '../support/temp.js';

export const code = (value: string): unknown => expect.objectContaining({ code: value });

export function opened(path: string): WritableDirectory {
  const directory = openMount(path as HostPath);
  onTestFinished(() => directory.close());
  return directory;
}

export function area(): { path: string; root: WritableDirectory } {
  const path = tempDir();
  return { path, root: opened(path) };
}

export function writeFile(directory: WritableDirectory, name: string, content: string): void {
  const file = directory.createFile(name);
  file.write(Buffer.from(content, 'latin1'));
  file.finish(true);
}
