import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { ObjectWriter } from '../core/ports.js';
import { makeScratchDirectory, orNoSpace } from '../fs/durable.js';
import type { KnownObjects } from './pack/known-objects.js';
import { PackWriter } from './pack/pack-writer.js';

export interface ScratchObjects {
  readonly writer: ObjectWriter;
  /** An objects directory, to be read besides the store's own. */
  readonly directory: string;
  remove(): Promise<void>;
}

/** Objects for one comparison: beside the store's, never durable, swept like everything unfinished after a crash. */
export function makeScratchObjects(parent: string, known: KnownObjects): ScratchObjects {
  const directory = makeScratchDirectory(parent);
  const packDirectory = join(directory, 'pack');
  orNoSpace(directory, () => {
    mkdirSync(packDirectory, { mode: 0o700 });
  });
  const writer = new PackWriter(known, { scratchParent: directory, packDirectory, durable: false });
  const remove = async (): Promise<void> => {
    await writer.abandon();
    rmSync(directory, { recursive: true, force: true });
  };
  return { writer, directory, remove };
}
