import { parentPort } from 'node:worker_threads';

import { confirmFiles } from './confirm-files.js';
import type { Batch, Outcomes } from './jobs.js';
import { FileMaker } from './make-files.js';

/* What a thread of `restore-threads` runs: one batch after the other. It ends when it is told to. */

const maker = new FileMaker();
let turn: Promise<unknown> = Promise.resolve();

parentPort?.on('message', (batch: Batch) => {
  turn = turn.then(async () => {
    const outcomes: Outcomes = batch.kind === 'make' ? maker.make(batch) : await confirmFiles(batch);
    parentPort?.postMessage(outcomes);
  });
});
