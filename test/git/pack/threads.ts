import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

import { tempDir } from '../../support/temp.js';

/** `deflate-worker` as a built package has it. */
export async function builtThread(): Promise<URL> {
  const script = join(tempDir('thread'), 'deflate-worker.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, '../../../src/git/pack/deflate-worker.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  return pathToFileURL(script);
}

/** A thread that does this with the memory of each batch. */
export function threadThat(does: string): URL {
  const script = join(tempDir('thread'), 'thread.mjs');
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads';
    const claim = (memory) => Atomics.compareExchange(new Int32Array(memory, 0, 1), 0, 0, 1);
    parentPort.on('message', (memory) => { ${does} });`,
  );
  return pathToFileURL(script);
}
