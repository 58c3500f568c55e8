import { parentPort } from 'node:worker_threads';

import { Batch } from './batch.js';

/* What a thread of `deflate-threads` runs. It ends with the process, or when it is told to. */

parentPort?.on('message', (memory: SharedArrayBuffer) => {
  const batch = new Batch(memory);
  if (batch.claim()) batch.encode();
});
